package command

import (
	"math"
	"runtime/debug"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// limitGarbage has garbage collected before it fills the memory there is: what a
// training takes by its estimate leaves no room for as much garbage again, which the
// collector would otherwise wait for. GOMEMLIMIT goes before it.
func limitGarbage() {
	if debug.SetMemoryLimit(-1) < math.MaxInt64 {
		return
	}
	if available, _ := memory.Available(); available > 0 {
		debug.SetMemoryLimit(available / 10 * 9)
	}
}

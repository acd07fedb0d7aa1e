package hm

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// checkRoom returns an error if n things of the given number of bytes each do not fit into memory, or
// if n is below 1 or too large for each to have its own random numbers. The error calls them by the name things.
func checkRoom(n float64, things string, bytes float64) error {
	switch {
	case n < 1:
		return fmt.Errorf("%.0f %s: use at least 1", n, things)
	case n > math.MaxUint32:
		return fmt.Errorf("%.0f %s: use fewer than 2³²", n, things)
	}
	return memory.Check(fmt.Sprintf("%.0f %s", n, things), n*bytes, "use fewer")
}

func (m *Model) room(n float64, things string, bytes float64) (engine.Model, error) {
	if err := checkRoom(n, things, bytes); err != nil {
		return nil, err
	}
	return m.engine.model()
}

// drawBytes returns the memory of one draw in bytes: the states of all layers, the means of their units,
// and one image.
func drawBytes(a engine.Architecture) float64 {
	bytes := 2*8 + 24 + 8*float64(a.Visible())
	for i, units := range a.Units {
		width := 1.0
		if !a.Binary(i) {
			width = 4
		}
		bytes += (width + 4) * float64(units)
	}
	return bytes
}

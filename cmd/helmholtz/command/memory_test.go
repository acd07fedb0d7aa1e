package command

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

func TestGarbageStaysWithinTheMemory(t *testing.T) {
	before := debug.SetMemoryLimit(math.MaxInt64)
	defer debug.SetMemoryLimit(before)
	limitGarbage()
	available, _ := memory.Available()
	if limit := debug.SetMemoryLimit(1 << 40); available > 0 && limit > available || limit <= 0 {
		t.Errorf("%d bytes of %d", limit, available)
	}
	if limitGarbage(); debug.SetMemoryLimit(-1) != 1<<40 {
		t.Error("a limit that was given is not kept")
	}
}

package command

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"weak"

	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// Commands leave memory after they have run, unless the shell asks for their words: cobra keeps every flag that it completes.
func TestCommandsAreNotKept(t *testing.T) {
	root := weak.Make(newRoot())
	if runtime.GC(); root.Value() != nil {
		t.Error("the commands are still in memory")
	}
}

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

// Package cpu provides the engine "cpu", which computes on the processor. Importing the package
// registers the engine.
package cpu

import (
	"fmt"
	"runtime"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

func init() {
	engine.Register("cpu", func() (engine.Engine, error) { return cpu{}, kernels.EnvironmentError() })
}

type cpu struct{}

func (cpu) Describe() string {
	return fmt.Sprintf("CPU, %s/%s, %s, %d threads", runtime.GOOS, runtime.GOARCH, kernels.InstructionSet(), runtime.GOMAXPROCS(0))
}

func (cpu) Lacks() []engine.Feature { return nil }

type network = engine.Network

const (
	generative  = engine.Generative
	recognition = engine.Recognition
)

var parallel = work.Parallel

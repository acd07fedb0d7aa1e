// Package cpu is the engine that computes on the processor. Importing it
// registers the engine "cpu".
package cpu

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

func init() {
	engine.Register("cpu", func() (engine.Engine, error) { return cpu{}, kernels.EnvironmentError() })
}

type cpu struct{}

func (cpu) Describe() string {
	return fmt.Sprintf("CPU, %s/%s, %s, %d threads", runtime.GOOS, runtime.GOARCH, kernels.InstructionSet(), runtime.GOMAXPROCS(0))
}

func (cpu) Lacks() []engine.Feature { return nil }

// parallel calls task(0) … task(n−1) on all processors and returns when all
// are done. What a task computes must not depend on the others, so that results
// are the same whatever the number of processors.
func parallel(n int, task func(i int)) {
	workers := min(n, runtime.GOMAXPROCS(0))
	if workers <= 1 {
		for i := range n {
			task(i)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				task(i)
			}
		})
	}
	group.Wait()
}

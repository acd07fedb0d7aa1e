//go:build cuda

package gpu

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/oracle"
)

// What an operation reads, none of the same phase writes: steps come out alike
// to the last bit where the operations of each phase stand in reverse.
func TestOperationsOfAPhaseAreIndependent(t *testing.T) {
	e := opened(t)
	data, p := stripes(40, 40), oracle.Random(engine.Architecture{Units: []int{40, 35, 9, 3}}, 3)
	for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
		for _, phases := range []int{1, 2} {
			a := nrws
			a.Metric, a.RefreshEvery, a.SleepSteps = metric, 100, phases
			a.Optimizer, a.Momentum, a.Entropy, a.L1 = engine.Nesterov, 0.9, 0.1, 0.01
			t.Run(fmt.Sprintf("%v, %d sleep phases", metric, phases), func(t *testing.T) {
				var parameters [2][]float32
				for k := range parameters {
					made, err := e.NewTrainer(minibatches(a, data), engine.NewState(a, p))
					if err != nil {
						t.Fatal(err)
					}
					defer made.Close()
					if _, err := made.Step(0.01); err != nil { // which computes the Fisher blocks
						t.Fatal(err)
					}
					trainer := made.(*trainer)
					programs := trainer.stepPrograms(trainer.shape(trainer.moment(0, 0.01)))
					whole := programs.get(trainer, &programs.whole)
					if k == 1 {
						for _, operations := range whole.phases {
							slices.Reverse(operations)
						}
						programs.whole = programs.memory.load(whole.program, trainer.job.Seed)
					}
					for range 3 {
						if _, err := made.Step(0.01); err != nil {
							t.Fatal(err)
						}
					}
					s, err := made.State()
					if err != nil {
						t.Fatal(err)
					}
					parameters[k] = s.Parameters.Flat
				}
				if slices.Equal(parameters[0], p.Flat) {
					t.Error("nothing was learnt")
				}
				if !slices.Equal(parameters[0], parameters[1]) {
					t.Error("another order of the operations gives other parameters")
				}
			})
		}
	}
}

package enginetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// stepsAtOnce tests that several steps in one call give the same bits as the same steps one by one,
// with and without refreshes of Fisher blocks among them, and with changing rates.
func stepsAtOnce(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		for _, a.Optimizer = range []engine.Optimizer{engine.GradientDescent, engine.Adam, engine.Momentum, engine.Nesterov} {
			t.Run(a.Optimizer.String(), func(t *testing.T) {
				a.RefreshEvery = 3
				p := machine(engine.PlusMinusOne, 20, 12, 7, 5, 3)
				j := job(a, randomRows(8, 20))
				together, single := newTrainer(t, e, j, engine.NewState(a, p)), newTrainer(t, e, j, engine.NewState(a, p))
				done := 0
				for _, n := range []int{1, 2, 7, 1, 5} {
					rates := make([]float64, n)
					var want []engine.Report
					for i := range rates {
						rates[i] = learningRate / float64(1+done)
						want = append(want, step(t, single, rates[i]))
						done++
					}
					var reports []engine.Report
					for len(reports) < n {
						some := must(together.Steps(t.Context(), rates[len(reports):]))(t)
						reports = append(reports, some...)
					}
					for i := range reports {
						reports[i].Refresh = 0
					}
					if !slices.Equal(reports, want) {
						t.Errorf("the reports of %d steps are %v, want %v", n, reports, want)
					}
					wantSameState(t, state(t, together), state(t, single))
				}
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if reports, err := together.Steps(ctx, []float64{0, 0}); !errors.Is(err, context.Canceled) || state(t, together).Step != done+len(reports) {
					t.Errorf("in a cancelled context %d steps are reported, with the error %v, and the state is after %d", len(reports), err, state(t, together).Step-done)
				}
			})
		}
	})
}

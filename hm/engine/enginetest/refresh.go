package enginetest

import (
	"fmt"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

const learningRate = 0.05

// refresh tests that the Fisher blocks are computed in steps 0, K, 2K … and frozen in between
// (Várady 2025, 5.3.4). With K = 1 they are computed in each step.
func refresh(t *testing.T, e engine.Engine) {
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		if a.Metric == engine.Euclidean {
			return
		}
		for _, a.RefreshEvery = range []int{1, 7} {
			t.Run(fmt.Sprintf("K=%d", a.RefreshEvery), func(t *testing.T) {
				everyCoding(t, func(t *testing.T, p *engine.Parameters) {
					trainer := newTrainer(t, e, job(a, randomRows(5, p.Architecture.Visible())), engine.NewState(a, p))
					var blocks []oracle.Block
					var refreshed *engine.Parameters
					for s := range 16 {
						g := gradients(t, trainer)
						if s%a.RefreshEvery == 0 {
							refreshed = state(t, trainer).Parameters
							blocks = fisherBlocks(a, refreshed, g)
						}
						wantGradient(t, fmt.Sprintf("natural gradient of step %d", s),
							g.Natural, natural(t, a, g.Plain, blocks), 1e-5)
						step(t, trainer, learningRate)
						now := state(t, trainer)
						if want := s / a.RefreshEvery * a.RefreshEvery; now.Step != s+1 || now.RefreshStep != want {
							t.Errorf("after %d steps the state is at step %d, refreshed at %d: want %d", s+1, now.Step, now.RefreshStep, want)
						}
						wantSame(t, "parameters of the last refresh", now.RefreshParameters.Flat, refreshed.Flat)
					}
				}, []int{4, 3, 2})
			})
		}
	})
}

// refreshTime tests that a step reports how long it refreshed the blocks, and 0 if it did not.
func refreshTime(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 3
		trainer := newTrainer(t, e, job(a, randomRows(5, 20)), engine.NewState(a, machine(engine.ZeroOne, 20, 12, 7, 5, 3)))
		for s := range 7 {
			reports, err := trainer.Steps(t.Context(), []float64{learningRate})
			if err != nil {
				t.Fatal(err)
			}
			if due := a.Metric != engine.Euclidean && s%3 == 0; (reports[0].Refresh > 0) != due {
				t.Errorf("step %d reports a refresh of %v", s, reports[0].Refresh)
			}
		}
	})
}

// gradientsLeaveNoTrace tests that reading the gradients does not change the next steps.
func gradientsLeaveNoTrace(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 3
		p := machine(engine.PlusMinusOne, 4, 3, 2)
		j := job(a, randomRows(5, 4))
		watched, unwatched := newTrainer(t, e, j, engine.NewState(a, p)), newTrainer(t, e, j, engine.NewState(a, p))
		for range 8 {
			gradients(t, watched)
			if got, want := step(t, watched, learningRate), step(t, unwatched, learningRate); got != want {
				t.Errorf("report %v, want %v", got, want)
			}
			wantSameState(t, state(t, watched), state(t, unwatched))
		}
	})
}

// resumption tests that a trainer built from a copy of the state continues bit for bit, also
// between two refreshes, with drawn data and a smaller last minibatch.
func resumption(t *testing.T, e engine.Engine) {
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		for _, a.Optimizer = range everyOptimizer {
			t.Run(a.Optimizer.String(), func(t *testing.T) {
				a.RefreshEvery = 7
				a.L1, a.L2, a.Entropy, a.EntropyEstimator, a.WarmUp = 0.01, 0.02, 0.1, 0.05, 15
				wantResumption(t, e, a)
			})
		}
	})
}

func wantResumption(t *testing.T, e engine.Engine, a engine.Algorithm) {
	t.Helper()
	p := machine(engine.PlusMinusOne, 20, 12, 7, 5, 3)
	data := constantRows(8, 20, 100)
	data.Stochastic = true
	wantResumptionAt(t, e, job(a, data), engine.NewState(a, p), 10, 24)
}

// wantResumptionAt trains for a number of steps, and checks that training from a copy of the state at an earlier
// step ends in the same state.
func wantResumptionAt(t *testing.T, e engine.Engine, j engine.Job, begin *engine.State, at, steps int) {
	t.Helper()
	trainer := newTrainer(t, e, j, begin)
	var half *engine.State
	for s := range steps {
		if s == at {
			half = state(t, trainer)
		}
		step(t, trainer, learningRate)
	}
	resumed := newTrainer(t, e, j, half)
	for range steps - at {
		step(t, resumed, learningRate)
	}
	wantSameState(t, state(t, resumed), state(t, trainer))
}

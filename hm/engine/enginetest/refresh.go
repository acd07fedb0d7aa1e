package enginetest

import (
	"errors"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

const learningRate = 0.05

// refreshTime tests that a step reports how long it took to refresh the blocks, or 0 if it did not refresh
// them.
func refreshTime(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 3
		trainer := newTrainer(t, e, job(a, randomRows(5, 20)), engine.NewState(a, machine(engine.ZeroOne, 20, 12, 7, 5, 3)))
		for s := range 7 {
			reports := must(trainer.Steps(t.Context(), []float64{learningRate}))(t)
			if due := a.Metric != engine.Euclidean && s%3 == 0; (reports[0].Refresh > 0) != due {
				t.Errorf("step %d reports a refresh of %v", s, reports[0].Refresh)
			}
		}
	})
}

// singularBlocks tests that a step whose blocks cannot be inverted leaves the state unchanged and
// fails again.
func singularBlocks(t *testing.T, e engine.Engine) {
	a := preset{rule: engine.ReweightedWakeSleep, metric: engine.Block}.algorithm()
	a.BatchSize, a.Samples, a.Damping = 9, 5, 1e-30
	trainer := newTrainer(t, e, job(a, randomRows(18, 7)), engine.NewState(a, machine(engine.ZeroOne, 7, 5)))
	before := state(t, trainer)
	for range 2 {
		_, err := trainer.Steps(t.Context(), []float64{learningRate})
		if singular := new(engine.Singular); !errors.As(err, &singular) || singular.Step != 0 {
			t.Errorf("the error is %v", err)
		}
	}
	wantSameState(t, state(t, trainer), before)
}

// wantResumption trains for a number of steps, and checks that training from a copy of the state at an earlier
// step ends in the same state.
func wantResumption(t *testing.T, e engine.Engine, j engine.Job, begin *engine.State, rate float64, at, steps int) {
	t.Helper()
	trainer := newTrainer(t, e, j, begin)
	var half *engine.State
	for s := range steps {
		if s == at {
			half = state(t, trainer)
		}
		step(t, trainer, rate)
	}
	resumed := newTrainer(t, e, j, half)
	for range steps - at {
		step(t, resumed, rate)
	}
	wantSameState(t, state(t, resumed), state(t, trainer))
}

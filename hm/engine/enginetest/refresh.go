package enginetest

import (
	"errors"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

const learningRate = 0.05

// refreshTime tests that a step reports how long it took to refresh the blocks, or 0 if it did not refresh
// them.
func refreshTime(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 3
		trainer := newTrainer(t, e, job(a, randomRows(5, 20)), engine.NewState(a, machine(engine.ZeroOne, large.units...)))
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

// resumption tests that training of machines of every kind continues bit for bit from a copy of the
// state, and does not depend on how often the state is read.
func resumption(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.RefreshEvery = 7
		a.Optimizer = engine.Nesterov
		test := func(t *testing.T, p *engine.Parameters) {
			wantResumption(t, e, job(a, rowsOf(p.Architecture, 8)), engine.NewState(a, p), 1e-4)
		}
		everyMixture(t, test)
		t.Run("tanh", func(t *testing.T) { test(t, oracle.Random(wideTanh, seed)) })
		t.Run("categorical", func(t *testing.T) { test(t, oracle.Random(wideCategorical, seed)) })
	})
	everyLabeled(t, func(t *testing.T, p *engine.Parameters, a engine.Algorithm, data engine.Data) {
		a.Optimizer, a.L2 = engine.Adam, 1e-3
		wantResumption(t, e, job(a, data), engine.NewState(a, p), 1e-2)
	})
}

// wantResumption trains for 16 steps, and checks that training from a copy of the state after 9 of them
// ends in the same state.
func wantResumption(t *testing.T, e engine.Engine, j engine.Job, begin *engine.State, rate float64) {
	t.Helper()
	const at, steps = 9, 16
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

package hm

import (
	"context"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Inverses of Fisher blocks in sixteen bits must change the natural gradient, after an epoch of training, by
// less than a hundredth (relative 2-norm) for α ≥ 0.001.
func TestSixteenBitsChangeTheNaturalGradientLittle(t *testing.T) {
	set, err := dataset.Spec{Name: "glyphs", Subset: 500}.Open()
	if err != nil {
		t.Fatal(err)
	}
	machine := New(set.Shape()).Dense(30, 10)
	for _, damping := range []float64{0.001, 0.01, 0.05, 0.2} {
		method := NRWS().LearningRate(0.01).Damping(damping).RefreshEvery(50)
		e := method.Experiment(machine, set)
		state := starting(t, e, set)
		trainer := newTestTrainer(t, e, set, state)
		for range e.stepsPerEpoch(set) {
			if _, err := trainer.Steps(context.Background(), []float64{e.Method.LearningRate}); err != nil {
				t.Fatal(err)
			}
		}
		e.Method.FisherPrecision = SinglePrecision
		exact := naturalGradient(t, e, set, state)
		e.Method.FisherPrecision = SixteenBits
		short := naturalGradient(t, e, set, state)
		var difference, length float64
		for k, g := range exact {
			difference += (float64(g) - float64(short[k])) * (float64(g) - float64(short[k]))
			length += float64(g) * float64(g)
		}
		relative := math.Sqrt(difference / length)
		t.Logf("α = %g: the natural gradients differ by %.2g", damping, relative)
		if !(relative > 0 && relative < 1e-2) {
			t.Errorf("α = %g: the natural gradients differ by %g of their length, want less than 0.01", damping, relative)
		}
	}
}

// Products in fixed point must change estimates of log p by less than a thousandth of a nat.
func TestFixedPointMovesEstimatesLittle(t *testing.T) {
	set, err := dataset.Spec{Name: "glyphs", Subset: 500}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := RWS().LearningRate(0.02).Experiment(New(set.Shape()).Dense(100, 50, 20), set)
	trainer := newTestTrainer(t, e, set, starting(t, e, set))
	for range 2 * e.stepsPerEpoch(set) {
		if _, err := trainer.Steps(context.Background(), []float64{e.Method.LearningRate}); err != nil {
			t.Fatal(err)
		}
	}
	state, err := trainer.State()
	if err != nil {
		t.Fatal(err)
	}
	estimate := func(a Arithmetic) float64 {
		m := &Model{experiment: e, shape: set.Shape(), parameters: state.Parameters, engine: &evaluator{parameters: state.Parameters, arithmetic: a}, seed: 1}
		evaluation, err := m.Evaluate(t.Context(), m.Subset(set.Test(), 100), 50, nil)
		if err != nil {
			t.Fatal(err)
		}
		return evaluation.LogP
	}
	floating, fixed := estimate(FloatingPoint), estimate(FixedPoint)
	t.Logf("log p(x) = %.3f nats, %.2g more in fixed point", floating, fixed-floating)
	if !(math.Abs(fixed-floating) < 1e-3) {
		t.Errorf("log p(x) = %v nats in fixed point, %v in floating point", fixed, floating)
	}
}

// planned returns the plan of an experiment.
func planned(t *testing.T, e Experiment, set *dataset.Set) *plan {
	t.Helper()
	p, err := e.plan(set)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// starting returns the state before the first step of an experiment.
func starting(t *testing.T, e Experiment, set *dataset.Set) *engine.State {
	t.Helper()
	state, err := planned(t, e, set).start()
	if err != nil {
		t.Fatal(err)
	}
	return state
}

func newTestTrainer(t *testing.T, e Experiment, set *dataset.Set, state *engine.State) engine.Trainer {
	t.Helper()
	trainer, err := planned(t, e, set).trainer(state)
	if err != nil {
		t.Fatal(err)
	}
	return trainer
}

// naturalGradient returns the natural gradient of the step after state.
func naturalGradient(t *testing.T, e Experiment, set *dataset.Set, state *engine.State) []float32 {
	t.Helper()
	g, err := newTestTrainer(t, e, set, &engine.State{Step: state.Step, Parameters: state.Parameters.Clone()}).Gradients(e.Method.LearningRate)
	if err != nil {
		t.Fatal(err)
	}
	return g.Natural.Flat
}

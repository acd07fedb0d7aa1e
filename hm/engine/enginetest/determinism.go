package enginetest

import (
	"runtime"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

type outcome struct {
	state   *engine.State
	reports []engine.Report
	weights []float64
	logZ2   []float64
	on      []uint8
}

// determinism tests that a seed gives the same numbers for any number of processors, and that
// another seed gives other numbers.
func determinism(t *testing.T, e engine.Engine) {
	processors := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(processors)
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.BatchSize, a.Samples, a.RefreshEvery = 20, 8, 2
		run := func(processors int, seed uint64) outcome {
			runtime.GOMAXPROCS(processors)
			return train(t, e, a, seed)
		}
		one := run(1, seed)
		for n := 2; n <= 3; n++ {
			many := run(n, seed)
			wantSameState(t, many.state, one.state)
			wantSame(t, "log-weights", many.weights, one.weights)
			wantSame(t, "log Z²", many.logZ2, one.logZ2)
			if !slices.Equal(many.reports, one.reports) {
				t.Errorf("reports %v with %d processors, %v with one", many.reports, n, one.reports)
			}
			if !slices.Equal(many.on, one.on) {
				t.Errorf("other draws with %d processors than with one", n)
			}
		}
		other := run(1, seed+1)
		if slices.Equal(other.state.Parameters.Flat, one.state.Parameters.Flat) {
			t.Error("two seeds lead to the same parameters")
		}
		if slices.Equal(other.weights, one.weights) || slices.Equal(other.logZ2, one.logZ2) || slices.Equal(other.on, one.on) {
			t.Error("two seeds give the same evaluation")
		}
	})
}

// train trains a machine that is large enough to be cut into pieces.
func train(t *testing.T, e engine.Engine, a engine.Algorithm, seed uint64) (o outcome) {
	p := machine(engine.PlusMinusOne, 100, 70, 9)
	data := randomRows(30, 100)
	j := job(a, data)
	j.Seed = seed
	j.Repeats = a.Metric == engine.Euclidean // so that draws are numbered by positions in some presets, by rows in others
	trainer := newTrainer(t, e, j, engine.NewState(a, p))
	for range 4 {
		o.reports = append(o.reports, step(t, trainer, 0.01))
	}
	o.state = state(t, trainer)
	model := newModel(t, e, p)
	o.weights = must(model.LogWeights(t.Context(), data, 40, seed))(t)
	o.logZ2 = must(model.LogZ2(t.Context(), 0, 600, 3, seed))(t)
	generated := must(model.Generate(t.Context(), 50, seed))(t)
	inferred := must(model.Infer(t.Context(), data, 3, seed))(t)
	o.on = append(slices.Clone(generated.States[0]), inferred.States[2]...)
	return o
}

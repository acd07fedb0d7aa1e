package enginetest

import (
	"reflect"
	"runtime"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// determinism tests that a seed gives the same numbers for any number of processors, and that
// another seed gives other numbers.
func determinism(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.BatchSize, a.Samples, a.RefreshEvery = 20, 8, 2
		wantDeterminism(t, func(seed uint64) map[string]any { return train(t, e, a, seed) })
	})
}

// wantDeterminism compares what run returns with one, two and three processors and with another seed, and returns
// the first.
func wantDeterminism(t *testing.T, run func(seed uint64) map[string]any) map[string]any {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	first := run(seed)
	for what, other := range run(seed + 1) {
		if reflect.DeepEqual(other, first[what]) {
			t.Errorf("%s: two seeds give the same", what)
		}
	}
	for n := 2; n <= 3; n++ {
		runtime.GOMAXPROCS(n)
		for what, many := range run(seed) {
			if !reflect.DeepEqual(many, first[what]) {
				t.Errorf("%s: %d processors give another result than one", what, n)
			}
		}
	}
	return first
}

// train trains a machine that is large enough to be cut into pieces, and evaluates it.
func train(t *testing.T, e engine.Engine, a engine.Algorithm, seed uint64) map[string]any {
	p := machine(engine.PlusMinusOne, 100, 70, 9)
	data := randomRows(30, 100)
	j := job(a, data)
	j.Seed = seed
	j.Repeats = a.Metric == engine.Euclidean // so that draws are numbered by positions in some presets, by rows in others
	trainer := newTrainer(t, e, j, engine.NewState(a, p))
	var reports []engine.Report
	for range 4 {
		reports = append(reports, step(t, trainer, 0.01))
	}
	model := newModel(t, e, p)
	return map[string]any{
		"state":       state(t, trainer),
		"reports":     reports,
		"log weights": must(model.LogWeights(t.Context(), data, 40, seed))(t),
		"log Z²":      must(model.LogZ2(t.Context(), 0, 600, 3, seed))(t),
		"generated":   must(model.Generate(t.Context(), 50, seed))(t),
		"inferred":    must(model.Infer(t.Context(), data, 3, seed))(t),
	}
}

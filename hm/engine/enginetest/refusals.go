package enginetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// missingUnits tests that an engine evaluates and trains on rows with missing units, or refuses to.
func missingUnits(t *testing.T, e engine.Engine) {
	a, p, data := preset{rule: engine.ReweightedWakeSleep}.algorithm(), machine(engine.PlusMinusOne, 4, 3, 2), randomRows(5, 4)
	complete := must(newModel(t, e, p).Evaluate(t.Context(), data, 10, seed, nil))(t)
	data.Missing, data.Means = slices.Repeat([]bool{true, false}, 10), make([]float32, 4)
	part, err := newModel(t, e, p).Evaluate(t.Context(), data, 10, seed, nil)
	mayLack(t, e, []engine.Feature{engine.MissingUnits}, err)
	if slices.Equal(part, complete) {
		t.Errorf("the engine ignores that units are missing: %v", part)
	}
	step(t, newTrainer(t, e, job(a, data), engine.NewState(a, p)), learningRate)
}

// impossibleDamping tests that an engine trains in no metric at a damping that single precision cannot hold.
func impossibleDamping(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		if a.Metric == engine.Euclidean {
			t.Skip("the metric has no damping")
		}
		for _, a.Damping = range []float64{1e-40, 1e39, 1e60} {
			trainer := newTrainer(t, e, job(a, randomRows(5, 4)), engine.NewState(a, machine(engine.PlusMinusOne, 4, 3, 2)))
			_, err := trainer.Steps(t.Context(), []float64{learningRate})
			if singular := new(engine.Singular); !errors.As(err, &singular) {
				t.Errorf("damping %g: the error is %v", a.Damping, err)
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

// refused reports whether an engine has refused a feature that it lacks, given the error it
// returned when asked for features. It returns an error if the engine has failed, refused anything
// else, or accepted a feature that it lacks.
func refused(e engine.Engine, asked []engine.Feature, err error) (bool, error) {
	lacks := func(f engine.Feature) bool { return f.In(e.Lacks()) }
	var u *engine.Unsupported
	switch {
	case err == nil && slices.ContainsFunc(asked, lacks):
		return false, fmt.Errorf("asked for %q, the engine computes, but reports that it lacks %q", asked, e.Lacks())
	case err == nil:
		return false, nil
	case errors.As(err, &u) && errors.Is(err, engine.ErrUnsupported) && slices.Contains(asked, u.Feature) && lacks(u.Feature):
		return true, nil
	}
	return false, fmt.Errorf("asked for %q, the engine, which reports that it lacks %q, returns the error %w", asked, e.Lacks(), err)
}

// mayLack skips a test if the engine refuses a feature that it lacks, and fails the test on any
// other error.
func mayLack(t *testing.T, e engine.Engine, asked []engine.Feature, err error) {
	t.Helper()
	skip, failure := refused(e, asked, err)
	if failure != nil {
		t.Fatal(failure)
	}
	if skip {
		t.Skip(err)
	}
}

// ofChains skips a test of Gibbs chains if the engine lacks them, and then has no models with chains.
func ofChains(test func(*testing.T, engine.Engine)) func(*testing.T, engine.Engine) {
	return func(t *testing.T, e engine.Engine) {
		if !slices.Contains(e.Lacks(), engine.GibbsChains) {
			test(t, e)
		} else if _, has := newModel(t, e, machine(engine.ZeroOne, 3, 2)).(engine.Chains); has {
			t.Errorf("the engine reports that it lacks %s, but its models have them", engine.GibbsChains)
		} else {
			t.Skipf("the engine lacks %s", engine.GibbsChains)
		}
	}
}

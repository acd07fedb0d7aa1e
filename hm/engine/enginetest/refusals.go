package enginetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// refusals tests that an engine refuses exactly the features that it reports to lack, by name and
// wherever a caller can ask for them.
func refusals(t *testing.T, e engine.Engine) {
	dense := machine(engine.PlusMinusOne, 4, 3, 2)
	kinds := func(kinds ...engine.Kind) *engine.Parameters {
		return oracle.Random(engine.Architecture{Units: []int{4, 3, 2}, Kinds: kinds}, seed)
	}
	grouped := oracle.Random(engine.Architecture{
		Units: []int{4, 3, 2}, Kinds: []engine.Kind{engine.Categorical}, Groups: [][]engine.Group{{{Units: 4, Rest: true}}},
	}, seed)
	deep := oracle.Random(engine.Architecture{Units: []int{4, 3, 2}, Tanh: []int{3}}, seed)
	classifier := oracle.Random(engine.Architecture{Units: []int{4, 3, 2}, Classes: 3}, seed)
	method := func(rule engine.Rule, metric engine.Metric) engine.Algorithm {
		return preset{rule: rule, metric: metric}.algorithm()
	}
	rws, bihm := method(engine.ReweightedWakeSleep, engine.Euclidean), method(engine.Bidirectional, engine.Euclidean)
	trainer := func(a engine.Algorithm, p *engine.Parameters, labels []uint8) func() error {
		return func() error {
			data := randomRows(5, 4)
			data.Labels = labels
			trainer, err := e.NewTrainer(job(a, data), engine.NewState(a, p))
			if err != nil {
				return err
			}
			_, err = trainer.Steps(context.Background(), []float64{learningRate})
			return errors.Join(err, trainer.Close())
		}
	}
	model := func(p *engine.Parameters, use func(engine.Model) error) func() error {
		return func() error {
			m, err := e.NewModel(p, engine.FloatingPoint)
			if err != nil {
				return err
			}
			return use(m)
		}
	}
	generate := func(m engine.Model) error {
		_, err := m.Generate(t.Context(), 3, seed)
		return err
	}
	labels := []uint8{0, 1, engine.NoLabel, 0, 1}
	for _, c := range []struct {
		what    string
		feature engine.Feature // "" for something that every engine has
		try     func() error
	}{
		{"training", "", trainer(rws, dense, nil)},
		{"sampling", "", model(dense, generate)},
		{"training", engine.ReinforcePhases, trainer(method(engine.Reinforce, engine.Euclidean), dense, nil)},
		{"training", engine.Estimators + " vimco", trainer(method(engine.Rule{Exponent: 1, QWake: 1, Estimator: engine.VIMCO(false)}, engine.Euclidean), dense, nil)},
		{"training", engine.ChainedSamples, trainer(method(engine.JointStochastic, engine.Euclidean), dense, nil)},
		{"training", engine.KroneckerMetric, trainer(method(engine.ReweightedWakeSleep, engine.Kronecker), dense, nil)},
		{"training", engine.GaussianUnits, trainer(rws, kinds(engine.Gaussian), nil)},
		{"sampling", engine.GaussianUnits, model(kinds(engine.Gaussian), generate)},
		{"training", engine.GroupedUnits, trainer(rws, grouped, nil)},
		{"sampling", engine.GroupedUnits, model(grouped, generate)},
		{"training", engine.TanhLayers, trainer(rws, deep, nil)},
		{"sampling", engine.TanhLayers, model(deep, generate)},
		{"training", engine.ConvolvedLayers, trainer(rws, small.convolved(0), nil)},
		{"sampling", engine.ConvolvedLayers, model(small.convolved(1), generate)},
		{"training at the top", engine.LabeledMachines, trainer(bihm, kinds(engine.Bernoulli, engine.Bernoulli, engine.Categorical), labels)},
		{"training beside", engine.LabeledMachines, trainer(bihm, classifier, labels)},
		{"classification", engine.LabeledMachines, model(classifier, func(m engine.Model) error {
			_, err := m.(engine.Classifier).Classify(t.Context(), randomRows(2, 4), 3, seed, nil)
			return err
		})},
		{"sampling", engine.GibbsChains, model(dense, func(m engine.Model) error {
			if chains, ok := m.(engine.Chains); ok {
				_, err := chains.Gibbs(t.Context(), 2, engine.Gibbs{Sweeps: 1, Candidates: 2, Inner: 1}, seed, nil)
				return err
			}
			return &engine.Unsupported{Feature: engine.GibbsChains}
		})},
	} {
		t.Run(fmt.Sprintf("%s,%s", c.feature, c.what), func(t *testing.T) {
			if _, err := refused(e, []engine.Feature{c.feature}, c.try()); err != nil {
				t.Error(err)
			}
		})
	}
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

func trainerFeatures(j engine.Job, s *engine.State) []engine.Feature {
	return append(s.Parameters.Architecture.Features(), j.Algorithm.Features()...)
}

// ofChains skips a test of Gibbs chains if the engine lacks them. refusals tests that the engine
// then refuses them.
func ofChains(test func(*testing.T, engine.Engine)) func(*testing.T, engine.Engine) {
	return func(t *testing.T, e engine.Engine) {
		if slices.Contains(e.Lacks(), engine.GibbsChains) {
			t.Skipf("the engine lacks %s", engine.GibbsChains)
		}
		test(t, e)
	}
}

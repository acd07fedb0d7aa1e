package hm

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// The baseline must have units of the same kind as the machine's visible units, with the same data.
// Labels do not affect log p.
func TestBaselineIsOfTheVisibleUnits(t *testing.T) {
	t.Parallel()
	labels, err := dataset.Spec{Name: "miniglyphs", Subset: 60, Validation: new(20), Labels: 20}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		set      *dataset.Set
		baseline func(train, rows dataset.Split) runs.Baseline
	}{
		"binary":     {patterns(t), factorized.Bernoulli},
		"stochastic": {shades(t, 0), factorized.Bernoulli},
		"labels":     {labels, factorized.Bernoulli},
		"grey": {grays(t), func(train, rows dataset.Split) runs.Baseline {
			return factorized.Gaussian(train, rows, engine.SigmaFloor, true)
		}},
	} {
		for _, rows := range []dataset.Split{test.set.Train(), test.set.Validation(), test.set.Test()} {
			want := test.baseline(test.set.Train(), rows)
			if diff := cmp.Diff(want, short(BiHM()).Experiment(machineFor(test.set), test.set).Baseline(test.set, rows)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", name, rows.Name, diff)
			}
		}
	}
}

// Every epoch of ordinary training, including the first, must pass without a warning.
func TestOrdinaryTrainingIsNotWarnedOf(t *testing.T) {
	t.Parallel()
	for data, set := range map[string]*dataset.Set{"binary": patterns(t), "stochastic": shades(t, 0), "grey": grays(t)} {
		for _, preset := range Presets() {
			method, err := Preset(preset)
			if err != nil {
				t.Fatal(err)
			}
			if data != "grey" {
				method = short(method)
			} else if method.Spec().Phases == JointStochastic {
				continue // its hidden units are binary
			}
			h := mustTrain(t, method.Epochs(2).BatchSize(batchSize), set, filepath.Join(t.TempDir(), preset)).History()
			for _, e := range h.Epochs {
				if warning := h.Warning(e); warning != "" {
					t.Errorf("%s, %s, epoch %d: %s", preset, data, e.Epoch, warning)
				}
			}
		}
	}
}

// Training with an absurd learning rate ends with finite numbers, and must be warned of.
func TestDivergedTrainingIsWarnedOf(t *testing.T) {
	t.Parallel()
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(50)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for preset, rate := range map[string]float64{"ws": 50, "rws": 50, "nrws": 50, "bihm": 5} {
		method, err := Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		run, err := method.LearningRate(rate).Epochs(2).BatchSize(20).Train(t.Context(), New(set.Shape()).Dense(20, 10), set, filepath.Join(t.TempDir(), preset))
		if err != nil {
			t.Fatalf("%s: %v", preset, err)
		}
		if h := run.History(); h.LastWarning() == "" {
			t.Errorf("%s with η = %v has no warning after %+v", preset, rate, h.Epochs)
		}
	}
}

package factors

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func small(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestPPCAFamily(t *testing.T) {
	set := small(t)
	e := PPCA.Experiment(set)
	e.Epochs, e.Settings = 3, PPCASettings{Components: 3, EM: true, BatchSize: 9}
	runstest.Family(t, runstest.Case[PPCAExperiment, *Model]{
		Experiment: e, Set: set, Kind: PPCA.Kind(),
		Axis: runs.Axis{Keys: []string{"components"}, Values: [][]any{{2}, {3}}},
		Refused: []runstest.Refusal[PPCAExperiment]{
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 0 }, "components = 0", "at least 1"),
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 39 }, "39 factors of 40 training rows", "at most 38"),
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 196 }, "196 factors of 196 variables", "fewer than the variables"),
		},
	})
	t.Run("in closed form", func(t *testing.T) {
		e.Settings.EM = false
		runstest.Resume(t, e, set)
	})
}

func TestFactorAnalysisFamily(t *testing.T) {
	set := small(t)
	e := FactorAnalysis.Experiment(set)
	e.Epochs, e.Settings = 2, FactorAnalysisSettings{Factors: 2, EMSteps: 8, Floor: 1e-3, DropConstant: true, BatchSize: 9}
	runstest.Family(t, runstest.Case[FactorAnalysisExperiment, *Model]{
		Experiment: e, Set: set, Kind: FactorAnalysis.Kind(),
		Axis: runs.Axis{Keys: []string{"factors"}, Values: [][]any{{1}, {2}}},
		Refused: []runstest.Refusal[FactorAnalysisExperiment]{
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.Factors = 0 }, "factors = 0", "at least 1"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.EMSteps = -1 }, "em_steps = -1", "give 0 or more"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.Floor = 0 }, "floor = 0", "such as 0.001"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.DropConstant = false }, "constant in the training rows", "drop_constant"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Dataset.Binarization = dataset.Fixed }, "binarization = fixed", "use grey"),
		},
	})
}

// The baseline is the model without factors. Its log p of the training rows is that of their variances.
func TestBaselineHasNoFactors(t *testing.T) {
	set := small(t)
	rows := set.Train()
	_, variance := meanOf(rows.Floats())
	one, own := 0.0, 0.0
	for _, v := range variance {
		one += v / 196
		if v > 0 {
			own -= (math.Log(2*math.Pi*v) + 1) / 2
		}
	}
	wantNear(t, "log p with one variance", PPCA.Experiment(set).Baseline(set, rows).Factorized.Value, -98*(math.Log(2*math.Pi*one)+1), 1e-9)
	e := FactorAnalysis.Experiment(set)
	e.Settings.DropConstant = true
	wantNear(t, "log p with a variance each", e.Baseline(set, rows).Factorized.Value, own, 1e-9)
}

// Grey values are what a factor model has a density of.
func TestBinaryRowsAreRefused(t *testing.T) {
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	e := PPCA.Experiment(set)
	e.Settings.Components = 2
	wantError(t, e.Check(set), "binarization = fixed: a linear factor model needs grey values; use grey")
}

// Families that fit all training rows alike refuse weights of rows.
func TestWeightsOfRowsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("1\n2\n3\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, WeightFile: path, Binarization: dataset.Real}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []runs.Experiment{PPCA.Experiment(set), FactorAnalysis.Experiment(set), ICA.Experiment(set), SparseCoding.Experiment(set)} {
		wantError(t, e.Check(set), "which fits all training rows alike: omit it")
	}
}

// A run in closed form has the model of FitPPCA, and its model estimates log p and draws images.
func TestARunIsTheFit(t *testing.T) {
	set := small(t)
	e := PPCA.Experiment(set)
	e.Settings.Components, e.Settings.BatchSize = 4, 40
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	m, want := run.Model(), fitPPCA(t, set.Train().Floats(), 4)
	estimates, err := m.Estimate(t.Context(), set.Validation(), 0, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := estimates[runs.LogP.Key], runs.EstimateOf(want.LogP(set.Validation().Floats())); got != want || math.IsNaN(got.SE) {
		t.Errorf("log p of the run is %v, of the fit %v", got, want)
	}
	how, err := runs.EvaluatorOf(run.Run, m)
	if err != nil || len(how.Uses) > 0 {
		t.Fatalf("evaluation uses %q (%v)", how.Uses, err)
	}
	if e, err := how.Evaluate(t.Context(), runs.EvaluationOptions{Set: set, Rows: set.Validation()}); err != nil || strings.Contains(e.String(), "sample") || strings.Contains(e.String(), "draws") {
		t.Errorf("the exact evaluation is %v (%v)", e, err)
	}
	if _, err := m.Drawings()[0].Draw(t.Context(), runs.Sampling{N: 1 << 40}); err == nil || !strings.Contains(err.Error(), "1099511627776 samples take") {
		t.Errorf("the error of a trillion samples is %v", err)
	}
	for _, d := range m.Drawings() {
		sheets, err := d.Draw(t.Context(), runs.Sampling{N: 3, Seed: 1, Rows: set.Validation()})
		if err != nil {
			t.Fatal(err)
		}
		images := 3
		if d.Kind == "reconstructions" {
			images = 6 // each beside its row
		}
		if len(sheets) != 1 || len(sheets[0].Values) != images || len(sheets[0].Values[0]) != 196 {
			t.Errorf("%s have %d sheets, want one of %d images", d.Kind, len(sheets), images)
		}
	}
}

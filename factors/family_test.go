package factors

import (
	"fmt"
	"math"
	"math/rand/v2"
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
		Refused: []runstest.Refusal[PPCAExperiment]{
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 0 }, "components = 0", "at least 1"),
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 39 }, "39 factors of 40 training rows", "at most 38"),
			runstest.Refuse(func(e *PPCAExperiment) { e.Settings.Components = 196 }, "196 factors of 196 variables", "fewer than the variables"),
		},
	})
	for name, s := range map[string]PPCASettings{"in closed form": {Components: 3, BatchSize: 9}, "at once": {Components: 3}, "all EM": {Components: 3, EM: true}} {
		t.Run(name, func(t *testing.T) {
			e.Epochs, e.Settings = 5, s
			runstest.Resume(t, e, set)
		})
	}
}

func TestFactorAnalysisFamily(t *testing.T) {
	set := small(t)
	e := FactorAnalysis.Experiment(set)
	e.Epochs, e.Settings = 2, FactorAnalysisSettings{Factors: 2, EMSteps: 8, Floor: 1e-3, DropConstant: true, BatchSize: 9}
	runstest.Family(t, runstest.Case[FactorAnalysisExperiment, *Model]{
		Experiment: e, Set: set, Kind: FactorAnalysis.Kind(),
		Refused: []runstest.Refusal[FactorAnalysisExperiment]{
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.Factors = 0 }, "factors = 0", "at least 1"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.EMSteps = -1 }, "em_steps = -1", "give 0 or more"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.Floor = 0 }, "floor = 0", "such as 0.001"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Settings.DropConstant = false }, "constant in the training rows", "drop_constant"),
			runstest.Refuse(func(e *FactorAnalysisExperiment) { e.Dataset.Binarization = dataset.Fixed }, "binarization = fixed", "use grey"),
		},
	})
}

// All families have one baseline for one set of rows: independent Gaussians of their variances. Factor analysis leaves
// constant variables out of it, as out of its density.
func TestBaselineHasNoFactors(t *testing.T) {
	for _, set := range []*dataset.Set{small(t), few(t)} {
		rows := set.Train()
		_, variance := meanOf(rows.Floats())
		varied, constant := 0.0, 0.0
		for _, v := range variance {
			if v > 0 {
				varied -= (math.Log(2*math.Pi*v) + 1) / 2
			} else {
				constant -= math.Log(2*math.Pi*1e-6) / 2
			}
		}
		wantNear(t, "the baseline of PPCA", PPCA.Experiment(set).Baseline(set, rows).Factorized.Value, varied+constant, 1e-9)
		wantNear(t, "the baseline of ICA", ICA.Experiment(set).Baseline(set, rows).Factorized.Value, varied+constant, 1e-9)
		wantNear(t, "the baseline of factor analysis", FactorAnalysis.Experiment(set).Baseline(set, rows).Factorized.Value, varied, 1e-9)
	}
}

// few returns 60 training rows of 6 real numbers, two of which 2 factors explain up to 10⁻⁴ of their variance.
func few(t *testing.T) *dataset.Set {
	t.Helper()
	random := rand.New(rand.NewPCG(2, 1))
	var rows [][]float64
	for range 60 {
		g, h := random.NormFloat64(), random.NormFloat64()
		var row []float64
		for i, w := range [][2]float64{{1, 0}, {0.9, 0.1}, {0.8, 0.3}, {0, 1}, {0.2, 0.9}, {0.5, 0.5}} {
			row = append(row, w[0]*g+w[1]*h+[]float64{0.01, 0.6}[min(1, i%3)]*random.NormFloat64())
		}
		rows = append(rows, row)
	}
	set, err := dataset.Spec{Name: "few", Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 6}, rows, rows[:2])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Fits to all rows at once accept few rows, print log p of the model that they end with, and end at the maximum or say
// that they have not converged. Factor analysis counts the variables on the floor.
func TestPrintedLogPIsOfTheModel(t *testing.T) {
	set := few(t)
	rows := set.Train().Floats()
	em, ica := PPCA.Experiment(set), ICA.Experiment(set)
	closed, fa := em, FactorAnalysis.Experiment(set)
	closed.Settings.Components, em.Settings.Components, em.Settings.EM, fa.Settings.Factors, ica.Settings.Sources = 2, 4, true, 2, 6
	best, err := FitFactorAnalysis(t.Context(), rows, 2, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sources, err := FitIndependent(t.Context(), rows, 6, Extended, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		e         runs.Experiment
		converged bool
		maximum   []float64
	}{
		"closed form": {closed, true, fitPPCA(t, rows, 2).LogP(rows)}, "EM": {em, false, nil},
		"factor analysis": {fa, true, best.LogP(rows)}, "ICA": {ica, true, sources.LogP(rows)},
	} {
		run, err := runs.Train(t.Context(), c.e, set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		model, err := run.ModelAt("last")
		if err != nil {
			t.Fatal(err)
		}
		printed, is := run.Last().Train, runs.EstimateOf(model.(interface{ LogP([][]float64) []float64 }).LogP(rows)).Value
		wantNear(t, "the printed log p of "+name, printed["log_p"], is, 1e-12*math.Abs(is))
		if c.maximum != nil {
			wantNear(t, "log p of "+name, is, runs.EstimateOf(c.maximum).Value, 1e-6)
		}
		if says := run.Shortfall(); strings.Contains(says, "not converged") == c.converged {
			t.Errorf("the run of %s says %q", name, says)
		}
		if n, counts := printed[heywood.Key]; counts && (n != 2 || len(best.Heywood()) != 2) {
			t.Errorf("%v Heywood cases are counted, want 2, as in %v", n, best.Heywood())
		}
	}
}

// Experiments of earlier versions, which have a batch size, train as they did then: the numbers are theirs.
func TestStepsOfEarlierVersions(t *testing.T) {
	set := small(t)
	em, ica := PPCA.Experiment(set), ICA.Experiment(set)
	em.Settings, ica.Settings = PPCASettings{Components: 3, EM: true, BatchSize: 9}, ICASettings{Sources: 3, LearningRate: 0.1, BatchSize: 9}
	closed, fa := em, FactorAnalysis.Experiment(set)
	closed.Settings.EM, fa.Settings = false, FactorAnalysisSettings{Factors: 2, EMSteps: 8, Floor: 1e-3, DropConstant: true, BatchSize: 9}
	for _, c := range []struct {
		e    runs.Experiment
		want [2]float64
	}{
		{closed, [2]float64{57.9309889762568, 70.51414121416941}}, {em, [2]float64{50.7796487448756, 69.37715871816623}},
		{fa, [2]float64{35.70857695618763, 45.35395317666939}}, {ica, [2]float64{70.47305799178416, 70.57417143694255}},
	} {
		e, want := c.e, c.want
		h := e.Header()
		h.Epochs = 2
		dir := t.TempDir()
		run, err := runs.Train(t.Context(), e.WithHeader(h), set, dir, runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		for i, epoch := range run.History().Epochs {
			wantNear(t, "log p of "+e.String(), epoch.Train["log_p"], want[i], 1e-6)
		}
		h.BatchSize, h.Fingerprint = math.MaxInt32, ""
		if _, err := runs.Train(t.Context(), e.WithHeader(h), set, dir, runs.Quiet); err != nil {
			t.Errorf("the same training without a batch size does not resume: %v", err)
		}
		h.BatchSize = 9
		wantError(t, e.WithHeader(h).Check(set), "batch_size = 9, but each step uses all training rows: omit batch_size")
	}
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

// A row of the weight 2 counts like two rows, and a row of the weight 0 not at all: in the baseline, in the fit and in
// the evaluation of the training rows, for all families that fit rows at once.
func TestWeightsCountRows(t *testing.T) {
	dir := t.TempDir()
	var alone, weights, repeated strings.Builder
	for r, row := range few(t).Train().Floats() {
		text := strings.Trim(fmt.Sprintf("%.4f", row), "[]") + "\n"
		alone.WriteString(text)
		fmt.Fprintln(&weights, r%3)
		repeated.WriteString(strings.Repeat(text, r%3))
	}
	open := func(name, text, weightFile string) *dataset.Set {
		spec := dataset.Spec{Name: filepath.Join(dir, name), Test: filepath.Join(dir, "test.txt"), WeightFile: weightFile, Binarization: dataset.Real, Validation: new(0)}
		for _, path := range []string{spec.Name, spec.Test} {
			if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		set, err := spec.Open()
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	file := filepath.Join(dir, "weights.txt")
	if err := os.WriteFile(file, []byte(weights.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	sets := []*dataset.Set{open("alone.txt", alone.String(), file), open("repeated.txt", repeated.String(), "")}
	fits := func(set *dataset.Set) map[string]runs.Experiment {
		ppca, fa, ica := PPCA.Experiment(set), FactorAnalysis.Experiment(set), ICA.Experiment(set)
		ppca.Settings.Components, fa.Settings.Factors, ica.Settings.Sources, ica.Settings.Density = 2, 2, 3, Logistic
		return map[string]runs.Experiment{"PPCA": ppca, "factor analysis": fa, "ICA": ica}
	}
	for name := range fits(sets[0]) {
		var found [2][3]float64
		for i, set := range sets {
			run, err := runs.Train(t.Context(), fits(set)[name], set, t.TempDir(), runs.Quiet)
			if err != nil {
				t.Fatal(err)
			}
			model, err := run.ModelAt("last")
			if err != nil {
				t.Fatal(err)
			}
			estimates, err := model.(runs.Estimator).Estimate(t.Context(), set.Train(), 0, 0, nil)
			if err != nil {
				t.Fatal(err)
			}
			line := run.Experiment().Baseline(set, set.Train())
			found[i] = [3]float64{line.Factorized.Value, run.Last().Train["log_p"], estimates["log_p"].Value}
		}
		for k, what := range []string{"baseline", "training log p", "evaluation"} {
			wantNear(t, "the "+what+" of "+name, found[0][k], found[1][k], 1e-6)
		}
	}
}

// Sparse coding draws its first atoms from rows without weights.
func TestWeightsOfRowsAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.txt")
	if err := os.WriteFile(path, []byte(strings.Repeat("1\n2\n3\n", 10)), 0o666); err != nil {
		t.Fatal(err)
	}
	set, err := dataset.Spec{Name: path, WeightFile: path, Binarization: dataset.Real}.Open()
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, SparseCoding.Experiment(set).Check(set), "drawn without weights: omit it")
}

// A run in closed form has the model of FitPPCA, and its model estimates log p and draws images.
func TestARunIsTheFit(t *testing.T) {
	set := small(t)
	e := PPCA.Experiment(set)
	e.Settings.Components = 4
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
	how, err := run.Evaluation(m)
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

// Fits of all rows at once resume byte-identically wherever they are stopped.
func TestFitsAtOnceResume(t *testing.T) {
	set := few(t)
	fa, ica := FactorAnalysis.Experiment(set), ICA.Experiment(set)
	fa.Epochs, fa.Settings.Factors, ica.Epochs, ica.Settings.Sources = 5, 2, 5, 3
	t.Run("factor analysis", func(t *testing.T) { runstest.Resume(t, fa, set) })
	t.Run("ICA", func(t *testing.T) { runstest.Resume(t, ica, set) })
}

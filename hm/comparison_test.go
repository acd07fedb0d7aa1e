package hm

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func mustCompare(t *testing.T, dirs ...string) runs.Comparison {
	t.Helper()
	c, err := runs.Compare(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCompare compares three seeds of one method with one run of another.
func TestCompare(t *testing.T) {
	t.Parallel()
	set, several, one := patterns(t), t.TempDir(), t.TempDir()
	seeds := mustTrainSeeds(t, short(RWS()), several)
	run := mustTrain(t, short(NRWS()).Seed(8).Epochs(4), set, one)
	c := mustCompare(t, several, one)

	if want := []string{"epochs", "method.metric", "method.preset"}; !slices.Equal(c.Settings, want) {
		t.Errorf("the settings %v differ, want %v", c.Settings, want)
	}
	rws, nrws := c.Experiments[0], c.Experiments[1]
	if diff := cmp.Diff(map[string]string{"epochs": "6", "method.metric": "none", "method.preset": "rws"}, rws.Settings); diff != "" {
		t.Errorf("settings of RWS (-want +got):\n%s", diff)
	}
	if !slices.Equal(rws.Seeds, []uint64{3, 4, 5}) || !slices.Equal(nrws.Seeds, []uint64{8}) {
		t.Errorf("seeds %v and %v, want 3 to 5 and 8", rws.Seeds, nrws.Seeds)
	}
	if rws.Epochs != (runs.Spread{Mean: 6}) || nrws.Epochs.Mean != 4 || !rws.Finished || !nrws.Finished {
		t.Errorf("epochs %v and %v, want 6 and 4", rws.Epochs, nrws.Epochs)
	}
	last := run.History().Epochs[3]
	if nrws.Train.Mean != last.Train["log_p"] || nrws.Validation.Mean != last.Validation["log_p"] || nrws.Seconds.Mean != last.Seconds || !math.IsNaN(nrws.Train.SD) {
		t.Errorf("of NRWS it has %+v, want the last epoch %+v", nrws, last)
	}
	if best := run.BestEpoch(); nrws.BestEpoch.Mean != float64(best) || nrws.Best.Mean != run.History().Epochs[best-1].Validation["log_p"] {
		t.Errorf("the best epoch of NRWS is %v with %v, want %d", nrws.BestEpoch, nrws.Best, best)
	}
	want := seeds.Over(func(r *Run) float64 { return r.History().Epochs[5].Train["log_p"] })
	if rws.Train != want || !(want.SD > 0) {
		t.Errorf("training log p of RWS %v, want %v with a deviation", rws.Train, want)
	}
	if histories := rws.Histories(); len(histories) != 3 || len(histories[2].Epochs) != 6 {
		t.Errorf("RWS has %d histories, want 3 of 6 epochs", len(histories))
	}
}

// The error of a difference is over the rows, which two runs share, or over seeds.
func TestDifferencesOfAComparison(t *testing.T) {
	t.Parallel()
	set, several, others, one, two := patterns(t), t.TempDir(), t.TempDir(), t.TempDir(), t.TempDir()
	mustTrainSeeds(t, short(RWS()).Epochs(1), several)
	mustTrainSeeds(t, short(RWS()).Epochs(3), others)
	mustTrain(t, short(RWS()), set, one)
	mustTrain(t, short(NRWS()), set, two)
	differences := func(dirs ...string) (runs.Comparison, runs.Estimate) {
		c, err := mustCompare(t, dirs...).EvaluateCheckpoint(t.Context(), "last", set.Test(), 100, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Experiments[0].Difference != nil {
			t.Errorf("the first differs from itself by %v", c.Experiments[0].Difference)
		}
		return c, *c.Experiments[1].Difference
	}
	var each [2][]float64
	for i, dir := range []string{one, two} {
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, each[i], err = run.EstimateRows(t.Context(), set.Test(), 100, 1, nil); err != nil {
			t.Fatal(err)
		}
	}
	mean, sd := stat.MeanStdDev(floats.SubTo(each[1], each[1], each[0]), nil)
	want := runs.Estimate{Value: mean, SE: sd / math.Sqrt(float64(set.Test().Rows))}
	within := cmpopts.EquateApprox(0, 1e-12)
	c, got := differences(one, two)
	if !cmp.Equal(got.Value, want.Value, within) || !cmp.Equal(got.SE, want.SE, within) || !regexp.MustCompile(`less the first +–  +`+regexp.QuoteMeta(fmt.Sprintf("%.3f (± %.3f)", want.Value, want.SE))).MatchString(c.String()) {
		t.Errorf("of two runs the difference is %v, want %v, in\n%s", got, want, c)
	}
	c, got = differences(several, others)
	a, b := c.Experiments[0].Evaluation["log_p"], c.Experiments[1].Evaluation["log_p"]
	if want := (runs.Estimate{Value: b.Mean - a.Mean, SE: math.Hypot(a.SD, b.SD) / math.Sqrt(3)}); !cmp.Equal(got.Value, want.Value, within) || !cmp.Equal(got.SE, want.SE, within) {
		t.Errorf("of three seeds each the difference is %v, want %v", got, want)
	}
	if _, got := differences(several, one); !math.IsNaN(got.SE) {
		t.Errorf("of three seeds and one the difference is %v", got)
	}
}

// TestCompareEvaluates compares evaluations in a comparison with evaluations of each run by itself.
func TestCompareEvaluates(t *testing.T) {
	t.Parallel()
	set, several, one := patterns(t), t.TempDir(), t.TempDir()
	seeds := mustTrainSeeds(t, short(RWS()).Epochs(1), several)
	mustTrain(t, short(RWS()).Epochs(1).Seed(9), set, one)
	before := mustCompare(t, several, one)
	var fractions []float64
	c, err := before.EvaluateCheckpoint(t.Context(), "", set.Test(), 20, func(f float64) { fractions = append(fractions, f) })
	if err != nil {
		t.Fatal(err)
	}
	if before.Experiments[0].Evaluation != nil || c.Split != "test" || c.Checkpoint != "last" || c.Samples != 20 {
		t.Errorf("evaluated %s rows of the checkpoint %q with %d samples, the source has %v", c.Split, c.Checkpoint, c.Samples, before.Experiments[0].Evaluation)
	}
	for i, run := range seeds.Runs {
		alone, err := run.WithSeed(1).Evaluate(t.Context(), set.Test(), 20, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Experiments[0].Evaluations[i]; got["log_p"].Value != alone.LogP || got["log_p"].SE != float64(alone.LogPSE) || got["ess_star"].Value != alone.ESSStar {
			t.Errorf("seed %d has log p %v, alone %v", run.Experiment().Seed, got["log_p"], alone.LogP)
		}
	}
	if over := c.Experiments[0].Evaluation; over["log_p"] != runs.SpreadOf(c.Experiments[0].Evaluations, func(e runs.Estimates) float64 { return e["log_p"].Value }) || !(over["log_p"].SD > 0) {
		t.Errorf("log p %v over the seeds", over["log_p"])
	}
	if !slices.IsSorted(fractions) || len(fractions) < 4 || fractions[len(fractions)-1] != 1 {
		t.Errorf("the progress is %v, want it to rise to 1", fractions)
	}
}

// TestCompareEvaluatesTheBest compares with an evaluation of the best epoch, which is not the last
// one, and checks that runs without held-out rows are refused.
func TestCompareEvaluatesTheBest(t *testing.T) {
	t.Parallel()
	dir, without := t.TempDir(), t.TempDir()
	set := patterns(t)
	run := mustTrain(t, short(RWS()).LearningRate(20), set, dir)
	best, err := run.Best()
	if err != nil {
		t.Fatal(err)
	}
	want, err := best.WithSeed(1).Evaluate(t.Context(), set.Test(), 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := mustCompare(t, dir).EvaluateCheckpoint(t.Context(), "best", set.Test(), 20, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.Experiments[0].Evaluation["log_p"].Mean; run.BestEpoch() == run.Epochs() || got != want.LogP {
		t.Errorf("log p %v, that of epoch %d of %d is %v", got, run.BestEpoch(), run.Epochs(), want.LogP)
	}
	if text := c.String(); !strings.Contains(text, "log p, test, K = 20, best epoch") {
		t.Errorf("the table does not name the best epoch:\n%s", text)
	}
	everything, err := dataset.Spec{Name: "3by3", Validation: new(0)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	mustTrain(t, short(RWS()).Epochs(1), everything, without)
	_, err = mustCompare(t, without).EvaluateCheckpoint(t.Context(), "best", set.Test(), 20, nil)
	wantError(t, err, without, "no best checkpoint")
}

// TestComparisonAsTextAndJSON compares an unfinished experiment with another.
func TestComparisonAsTextAndJSON(t *testing.T) {
	t.Parallel()
	set, several, one := patterns(t), filepath.Join(t.TempDir(), "seeds"), filepath.Join(t.TempDir(), "one")
	ctx, cancel := context.WithCancel(runs.AtOnce(t.Context(), 1))
	defer cancel()
	w := &watcher{}
	w.onEpoch = func(runs.Epoch) {
		if len(w.plans) == 2 {
			cancel()
		}
	}
	if _, err := short(RWS()).TrainSeeds(ctx, machineFor(set), set, 3, several, w); err == nil {
		t.Fatal("training was not interrupted")
	}
	mustTrain(t, short(BiHM()).Seed(8), set, one)
	c, err := mustCompare(t, several, one).EvaluateCheckpoint(t.Context(), "last", set.Test(), 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(c.String()) {
		if name, cells, ok := strings.Cut(line, "  "); ok {
			rows[name] = strings.TrimSpace(cells)
		}
	}
	for name, want := range map[string]string{
		"method.preset":        "rws",
		"seeds":                "3–4 (1 to come)",
		"epochs":               "3.5 ± 3.5 of 6, unfinished",
		"log p, test, K = 100": c.Experiments[0].Evaluation["log_p"].Text(3),
		"log p, training":      c.Experiments[0].Train.Text(3),
		"log p, validation":    c.Experiments[0].Validation.Text(3),
		"method.learning_rate": "",
	} {
		if !strings.HasPrefix(rows[name], want) || want == "" && rows[name] != "" {
			t.Errorf("the row %s is %q, want %q first:\n%s", name, rows[name], want, c)
		}
	}
	if !strings.HasSuffix(rows["log p, test, K = 100"], ")") {
		t.Errorf("one seed lacks a standard error:\n%s", c)
	}
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	var back struct {
		Experiments []struct {
			Finished bool
			Train    struct{ Mean, SD *float64 } `json:"train"`
		}
	}
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if e := back.Experiments; e[0].Finished || !e[1].Finished || *e[1].Train.Mean != c.Experiments[1].Train.Mean || e[1].Train.SD != nil {
		t.Errorf("in JSON: %s", text)
	}
}

func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	a, b, gray := t.TempDir(), t.TempDir(), t.TempDir()
	mustTrain(t, short(RWS()).Epochs(1), patterns(t), a)
	mustTrain(t, short(RWS()).Epochs(1), shades(t, 0), b)
	mustTrain(t, short(RWS()).Epochs(1).LearningRate(1e-4), shadesAs(t, dataset.Gray, 0), gray)
	for _, test := range []struct {
		name string
		dirs []string
		says []string
	}{
		{"nothing", nil, []string{"no experiments"}},
		{"twice", []string{a, a + "/"}, []string{a, "named twice"}},
		{"other data", []string{a, b}, []string{a, b, "different data", "3by3", "shades", "same data set"}},
		{"densities", []string{b, gray}, []string{b + " has the binarization stochastic", gray + " has grey", "density"}},
		{"probabilities", []string{gray, b}, []string{"density"}},
		{"no run", []string{a, t.TempDir()}, []string{"not the directory of a run"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := runs.Compare(test.dirs...)
			wantError(t, err, test.says...)
		})
	}
}

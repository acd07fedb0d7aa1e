package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamiliesAreKnownByTheirNames(t *testing.T) {
	e := brief(overlapping(t))
	back, err := runs.ParseExperiment(e.TOML())
	if err != nil {
		t.Fatal(err)
	}
	if back.Hash() != e.Hash() || back.String() != e.String() {
		t.Errorf("%v is read back as %v", e, back)
	}
	_, err = runs.ParseExperiment([]byte(`family = "perceptron"`))
	wantError(t, err, `"perceptron"`, byLikelihood, byLoss)
	defer func() {
		if recover() == nil {
			t.Error("a family is registered twice")
		}
	}()
	runs.Kind[mixture, parameters]{Name: byLoss}.Registered()
}

// mustTrainSeeds trains three seeds, 5 to 7, one after the other.
func mustTrainSeeds(t *testing.T, dir string, recorders ...runs.Recorder) *runs.Seeds {
	t.Helper()
	set := overlapping(t)
	seeds, err := runs.TrainSeeds(runs.AtOnce(t.Context(), 1), brief(set), set, 3, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	return seeds
}

// Interrupted seeds are recognised and resumed as a whole.
func TestSeedsAreResumed(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	ctx, cancel := context.WithCancel(runs.AtOnce(t.Context(), 1))
	defer cancel()
	w := &watcher{}
	w.onStep = func(p runs.Progress) {
		if len(w.plans) == 2 && p.Step == stepsPerEpoch+1 {
			cancel()
		}
	}
	stopped, err := runs.TrainSeeds(ctx, brief(set), set, 3, dir, w)
	wantError(t, err, "seed 6")
	if !errors.Is(err, context.Canceled) || len(stopped.Runs) != 2 || stopped.Waiting != 1 || stopped.Finished() {
		t.Fatalf("training ends with %v, %d runs and %d seeds to come", err, len(stopped.Runs), stopped.Waiting)
	}
	opened, err := runs.OpenSeeds(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(opened.Runs) != 2 || opened.Waiting != 1 || !opened.Runs[0].Finished() || opened.Runs[1].Finished() {
		t.Errorf("%d runs are opened, and %d are to come", len(opened.Runs), opened.Waiting)
	}
	if text := mustCompare(t, dir).String(); !strings.Contains(text, "5–6 (1 to come)") || !strings.Contains(text, "of 4, unfinished") {
		t.Errorf("the comparison does not say what is to come:\n%s", text)
	}

	again := &watcher{}
	resumed := mustTrainSeeds(t, dir, again)
	var starts []int
	for _, p := range again.plans {
		starts = append(starts, p.Start)
	}
	if !slices.Equal(starts, []int{stepsPerEpoch + 1, 0}) {
		t.Errorf("the seeds that are left begin after the steps %v", starts)
	}
	for i, run := range mustTrainSeeds(t, whole).Runs {
		runstest.SameRun(t, run.Dir(), resumed.Runs[i].Dir())
	}
}

// Seeds that train side by side must end in the same bytes as one after the other.
func TestSeedsSideBySide(t *testing.T) {
	t.Parallel()
	set, w := overlapping(t), &watcher{}
	together, err := runs.TrainSeeds(runs.AtOnce(t.Context(), 3), brief(set), set, 3, t.TempDir(), w)
	if err != nil || len(w.plans) != 3 || len(w.ends) != 3 {
		t.Fatalf("%v, with %d plans and %d ends", err, len(w.plans), len(w.ends))
	}
	for i, run := range mustTrainSeeds(t, t.TempDir()).Runs {
		runstest.SameRun(t, run.Dir(), together.Runs[i].Dir())
	}
}

// When seeds resume, both begun and new ones keep the epochs that are now asked for.
func TestResumedSeedsKeepOtherEpochs(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := runs.TrainSeeds(ctx, brief(set), set, 2, dir); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	keeps := brief(set)
	keeps.Keep = []int{2}
	seeds, err := runs.TrainSeeds(t.Context(), keeps, set, 2, dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range seeds.Runs {
		if _, err := run.At(2); err != nil {
			t.Error(err)
		}
	}
}

func TestTrainSeedsRefusesAnotherExperiment(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	mustTrainSeeds(t, dir)
	other := brief(set)
	other.Components, other.Seed = 2, 8
	_, err := runs.TrainSeeds(t.Context(), other, set, 2, dir)
	wantError(t, err, runs.SeedDir(dir, 5), "(components is 3 there, 2 here)")
	_, err = runs.Open(dir)
	wantError(t, err, "several seeds", runs.SeedDir(dir, 5))
	one := t.TempDir()
	mustTrain(t, brief(set), set, one)
	_, err = runs.TrainSeeds(t.Context(), brief(set), set, 2, one)
	wantError(t, err, one, "the directory of one run")
	opened, err := runs.OpenSeeds(one)
	if err != nil || len(opened.Runs) != 1 {
		t.Errorf("the directory of one run is opened with the error %v", err)
	}
}

// Only several seeds have a mean and a standard deviation.
func TestSeedsAreDescribed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustTrainSeeds(t, dir)
	for dir, spread := range map[string]bool{dir: true, runs.SeedDir(dir, 5): false} {
		seeds, err := runs.OpenSeeds(dir)
		if text := seeds.String(); err != nil || !strings.Contains(text, "in the last epoch") || strings.Contains(text, "mean ± sd") != spread {
			t.Errorf("%d seeds are described as %s, %v", len(seeds.Runs), text, err)
		}
	}
}

func mustCompare(t *testing.T, dirs ...string) runs.Comparison {
	t.Helper()
	c, err := runs.Compare(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Mixtures with three and two components, the first with three seeds, are compared by their
// objective.
func TestCompareMixtures(t *testing.T) {
	t.Parallel()
	set, several, one := overlapping(t), filepath.Join(t.TempDir(), "three"), filepath.Join(t.TempDir(), "two")
	seeds := mustTrainSeeds(t, several)
	two := brief(set)
	two.Components, two.Seed = 2, 9
	run := mustTrain(t, two, set, one)
	c := mustCompare(t, several, one)

	if c.Objective != runs.LogP || !slices.Equal(c.Settings, []string{"components"}) {
		t.Errorf("%v of experiments that differ in %v are compared", c.Objective, c.Settings)
	}
	last := run.History().Epochs[3]
	if got := c.Experiments[1]; got.Train.Mean != last.Train["log_p"] || got.Validation.Mean != last.Validation["log_p"] || !math.IsNaN(got.Train.SD) {
		t.Errorf("of two components it has %+v, want the last epoch %+v", got, last)
	}
	want := seeds.Over(func(r *runs.Run) float64 { return r.History().Epochs[3].Train["log_p"] })
	if got := c.Experiments[0].Train; got != want || !(want.SD > 0) {
		t.Errorf("of three components it has log p = %v, want %v", got, want)
	}
	for _, text := range []string{"log p, training", "log p, validation", "log p, best validation", "components", "5–7", "log p in nats"} {
		if !strings.Contains(c.String(), text) {
			t.Errorf("the table lacks %q:\n%s", text, c)
		}
	}
	for _, row := range [][2]string{{"log p, training", c.Experiments[0].Train.Text(3)}, {"log p, best validation", c.Experiments[1].Best.Text(3)}} {
		if !slices.ContainsFunc(strings.Split(c.String(), "\n"), func(line string) bool {
			return strings.HasPrefix(line, row[0]+" ") && strings.Contains(line, row[1])
		}) {
			t.Errorf("the table's row %q lacks %s:\n%s", row[0], row[1], c)
		}
	}
}

// A comparison read from JSON has the same text as the original, and returns an error if its runs
// would have to be open.
func TestComparisonsFromJSON(t *testing.T) {
	t.Parallel()
	set, one, two := overlapping(t), t.TempDir(), t.TempDir()
	e := brief(set)
	mustTrain(t, e, set, one)
	e.Components = 2
	mustTrain(t, e, set, two)
	read := func(c runs.Comparison) (back runs.Comparison) {
		text, err := json.Marshal(c)
		if err == nil {
			err = json.Unmarshal(text, &back)
		}
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	c := mustCompare(t, one, two)
	back := read(c)
	if back.String() != c.String() || back.Table().String() != c.Table().String() {
		t.Errorf("from JSON it is\n%v, want\n%v", back, c)
	}
	_, data := back.Dataset()
	_, evaluation := back.EvaluateCheckpoint(t.Context(), "last", set.Test(), 1, nil)
	for _, err := range []error{data, evaluation, back.Experiments[0].Histories()[0].Err} {
		wantError(t, err, one, "not open")
	}
	_, data = runs.Comparison{}.Dataset()
	wantError(t, data, "no experiments")

	back.Samples, back.Objective, back.Experiments[0].Finished = 1, runs.Measure{}, false
	back.Experiments[0].Evaluation = map[string]runs.Spread{"log_p": {Mean: -1}}
	for _, text := range []string{back.String(), back.Table().String()} {
		if !strings.Contains(text, "-1.000") {
			t.Errorf("of other objectives, unfinished and evaluated, it is\n%s", text)
		}
	}
}

// For a loss, the table names the loss, and the smallest value is the best.
func TestCompareLosses(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := brief(set)
	e.Family = byLoss
	run := mustTrain(t, e, set, t.TempDir())
	c := mustCompare(t, run.Dir())
	smallest := math.Inf(1)
	for _, epoch := range run.History().Epochs {
		smallest = min(smallest, epoch.Validation["loss"])
	}
	if c.Objective != loss || c.Experiments[0].Best.Mean != smallest {
		t.Errorf("the best %s is %v, want %v", c.Objective.Name, c.Experiments[0].Best.Mean, smallest)
	}
	if text := c.String(); !strings.Contains(text, "loss, best validation") || strings.Contains(text, "log p") {
		t.Errorf("the table names another objective:\n%s", text)
	}
}

// If experiments have different objectives, everything else is compared.
func TestCompareDifferentObjectives(t *testing.T) {
	t.Parallel()
	set, likelihood, losses := overlapping(t), t.TempDir(), t.TempDir()
	e := brief(set)
	mustTrain(t, e, set, likelihood)
	e.Family = byLoss
	mustTrain(t, e, set, losses)
	c, err := runs.Compare(likelihood, losses)
	if err != nil {
		t.Fatal(err)
	}
	text := c.String()
	for _, want := range []string{"improves", "log p(x)", "−log p(x)", "training seconds", "an evaluation estimates log p for each"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, ", training") || strings.Contains(text, "best epoch") {
		t.Errorf("the table has values of different objectives:\n%s", text)
	}
	for _, column := range c.Table().Columns() {
		if strings.HasPrefix(column.Key, "train") || strings.HasPrefix(column.Key, "baseline") {
			t.Errorf("the table has the column %s", column.Key)
		}
	}
	if asJSON, err := json.Marshal(c); err != nil || strings.Contains(string(asJSON), `"objective"`) {
		t.Errorf("%s (%v) has an objective", asJSON, err)
	}
}

// Runs on different data cannot be compared, nor a run with itself.
func TestCompareRefuses(t *testing.T) {
	t.Parallel()
	set, likelihood, elsewhere := overlapping(t), t.TempDir(), t.TempDir()
	other := grays(t, groups(52, 0.1, []float64{0.5, 0.5, 0.5, 0.5}), 12)
	e := brief(set)
	mustTrain(t, e, set, likelihood)
	mustTrain(t, brief(other), other, elsewhere)
	_, err := runs.Compare(likelihood, elsewhere)
	wantError(t, err, likelihood, elsewhere, "different data")
	_, err = runs.Compare(likelihood, likelihood)
	wantError(t, err, "named twice")
}

// Without validation rows there is no best epoch.
func TestCompareWithoutValidation(t *testing.T) {
	t.Parallel()
	set := grays(t, groups(40, 0.15, []float64{0.3, 0.4, 0.6, 0.5}), 0)
	run := mustTrain(t, brief(set), set, t.TempDir())
	_, err := run.Best()
	wantError(t, err, run.Dir(), "no validation rows")
	c := mustCompare(t, run.Dir())
	if got := c.Experiments[0]; !math.IsNaN(got.Best.Mean) || !math.IsNaN(got.BestEpoch.Mean) {
		t.Errorf("the best is %v, of epoch %v", got.Best, got.BestEpoch)
	}
	if strings.Contains(c.String(), "validation  ") || strings.Contains(c.String(), "best epoch") {
		t.Errorf("the table has rows of validation:\n%s", c)
	}
	text, err := json.Marshal(c)
	if err != nil || !strings.Contains(string(text), `"best_epoch":{"mean":null,"sd":null}`) {
		t.Errorf("in JSON: %s (%v)", text, err)
	}
}

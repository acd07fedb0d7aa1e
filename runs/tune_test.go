package runs_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// tuneText is a sweep of three rates.
const tuneText = `
[base]
family = "mixture"
components = 2
learning_rate = 0.5
schedule = "constant"
epochs = 1
patience = 0
seed = 5
batch_size = 16

[base.dataset]
name = "miniglyphs"
binarization = "grey"
subset = 60
validation = 20

[grid]
learning_rate = [0.01, 0.1, 0.5]
`

func newTuning(t *testing.T, budget int, replacements ...string) *runs.Tuning {
	t.Helper()
	return &runs.Tuning{Sweep: mustReadSweep(t, strings.NewReplacer(replacements...).Replace(tuneText)), Budget: budget}
}

// With 5 candidates there are 3 rungs, of 5, 2 and 1, and each has a third of the budget.
func TestRungs(t *testing.T) {
	for schedule, want := range map[string][]runs.Rung{
		"constant": {{5, 2}, {2, 2 + 5}, {1, 2 + 5 + 10}}, // continued
		"cosine":   {{5, 2}, {2, 5}, {1, 10}},             // trained anew
	} {
		rungs, continues, err := runs.Rungs(newTuning(t, 30, `"constant"`, `"`+schedule+`"`, "[0.01,", "[0.01, 0.02, 0.03,"))
		if err != nil || !slices.Equal(rungs, want) || continues != (schedule == "constant") {
			t.Errorf("%s: the rungs are %v (%v), want %v; error %v", schedule, rungs, continues, want, err)
		}
	}
}

// Each rung ranks candidates by the best validation log p of an ordinary run of that many epochs.
func TestTuningFindsTheBestOfEachRung(t *testing.T) {
	for _, schedule := range []string{"constant", "cosine"} {
		tuning, dir := newTuning(t, 12, `"constant"`, `"`+schedule+`"`), t.TempDir()
		report, err := tuning.Train(t.Context(), dir, nil)
		if err != nil || !report.Done {
			t.Fatalf("%s: %v", schedule, err)
		}
		left, err := tuning.Sweep.Settings()
		if err != nil {
			t.Fatal(err)
		}
		rungs, _, _ := runs.Rungs(tuning)
		for _, rung := range rungs {
			value := map[string]float64{}
			for _, s := range left[:rung.Candidates] {
				h := s.Experiment.Header()
				h.Epochs = rung.Epochs
				e := s.Experiment.WithHeader(h)
				value[s.Name] = slices.MaxFunc(mustTrain(t, e, openData(t, e), t.TempDir()).History().Epochs, func(a, b runs.Epoch) int {
					return cmp.Compare(a.Validation.Of(runs.LogP), b.Validation.Of(runs.LogP))
				}).Validation.Of(runs.LogP)
			}
			left = left[:rung.Candidates]
			slices.SortFunc(left, func(a, b runs.Setting) int { return cmp.Compare(value[b.Name], value[a.Name]) })
			if c := report.Candidates[0]; rung == rungs[1] && (c.Name != left[0].Name || c.Value.Mean != value[c.Name] || c.Epochs != rung.Epochs) {
				t.Errorf("%s: the best is %s with %v after %d epochs, want %s with %v", schedule, c.Name, c.Value, c.Epochs, left[0].Name, value)
			}
		}
		if text := report.Table().String(); strings.Count(text, "stopped") != 2 || strings.Count(text, "best") != 1 {
			t.Errorf("%s: the table is\n%s", schedule, text)
		}
	}
}

// A tuning that is interrupted in any epoch ends in the same bytes.
func TestTuningResumes(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	want, err := newTuning(t, 12).Train(t.Context(), whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	for attempts := 1; ; attempts++ {
		ctx, cancel := context.WithCancel(t.Context())
		epochs := 0
		got, err := newTuning(t, 12).Train(ctx, parts, func(runs.Job) []runs.Recorder {
			return []runs.Recorder{&runstest.Watcher{OnEpoch: func(runs.Epoch) {
				if epochs++; epochs == 3 {
					cancel()
				}
			}}}
		})
		cancel()
		if err == nil {
			if got.Candidates[0].Name != want.Candidates[0].Name || attempts < 4 {
				t.Errorf("after %d attempts, the best is %s, want %s", attempts, got.Candidates[0].Name, want.Candidates[0].Name)
			}
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	if _, err := newTuning(t, 30).Train(t.Context(), whole, nil); err == nil || !strings.Contains(err.Error(), "another budget") {
		t.Errorf("another budget in the same directory: %v", err)
	}
	for _, c := range want.Candidates {
		for _, name := range []string{"experiment.toml", "checkpoint.safetensors", "best.safetensors"} {
			path := filepath.Join(c.Name, "seed-5", name)
			a, errA := os.ReadFile(filepath.Join(whole, path))
			b, errB := os.ReadFile(filepath.Join(parts, path))
			if string(a) != string(b) || errors.Join(errA, errB) != nil {
				t.Errorf("%s differs after interruptions: %v, %v", path, errA, errB)
			}
		}
	}
}

// If two tunings begin in one directory at once, only one of them gets it.
func TestTuningsThatBeginAtOnce(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		dir := t.TempDir()
		left := filepath.Join(dir, "tune.toml.1.tmp") // of a killed program
		if err := os.WriteFile(left, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var refused [2]bool
		var both sync.WaitGroup
		for i, budget := range []int{12, 30} {
			tuning := newTuning(t, budget)
			both.Go(func() {
				_, err := tuning.Train(cancelled, dir, nil)
				refused[i] = !errors.Is(err, context.Canceled)
			})
		}
		both.Wait()
		if refused[0] == refused[1] {
			t.Errorf("both tunings are refused: %v", refused[0])
		}
		if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of a killed program is still there: %v", left, err)
		}
	}
}

func TestTuningsThatAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		budget   int
		from, to string
		says     string
	}{
		"small budget":  {5, "", "", "give at least 6"},
		"patience":      {30, "patience = 0", "patience = 2", "patience = 2: the tuning itself decides"},
		"no validation": {30, "validation = 20", "validation = 0", "no validation rows"},
		"one candidate": {30, "[0.01, 0.1, 0.5]", "[0.5]", "one candidate"},
		"epochs vary":   {300, "[grid]", "[grid]\nepochs = [1, 2]", "the budget decides"},
	} {
		if err := newTuning(t, c.budget, c.from, c.to).Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the error is %v, want %q", name, err, c.says)
		}
	}
	if err := (&runs.Tuning{Budget: 30}).Check(); err == nil || !strings.Contains(err.Error(), "no Sweep") {
		t.Errorf("without a sweep the error is %v", err)
	}
}

// A candidate that fails does not move up, even if the next rung has room for it and trains new runs.
func TestTuningPassesOverFailures(t *testing.T) {
	for _, schedule := range []string{"constant", "cosine"} {
		tuning, dir := newTuning(t, 30, `"constant"`, `"`+schedule+`"`, "[0.01,", "[0.01, 0.02, 0.03,"), t.TempDir()
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		report, _ := tuning.Train(stopped, dir, nil) // claims the directory
		for _, c := range report.Candidates[1:] {
			if err := os.MkdirAll(filepath.Dir(c.Seeds[0].Dir), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(c.Seeds[0].Dir+".failed", []byte("no memory"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		only := report.Candidates[0].Name
		report, err := tuning.Train(t.Context(), dir, nil)
		if err != nil || !report.Done {
			t.Fatalf("%s: done is %v; error %v", schedule, report.Done, err)
		}
		for _, c := range report.Candidates {
			if c.Name == only && (c.Rung != 3 || c.Failure != nil) || c.Name != only && (c.Rung != 1 || c.Failure == nil) {
				t.Errorf("%s: %s reached rung %d with the failure %v", schedule, c.Name, c.Rung, c.Failure)
			}
		}
		wantError(t, newTuning(t, 40).Retry(dir), "another budget")
		if err := tuning.Retry(dir); err != nil {
			t.Fatal(err)
		}
		retried, err := tuning.Train(t.Context(), dir, nil)
		if err != nil || retried.Candidates[0].Name == only || slices.ContainsFunc(retried.Candidates, func(c runs.Candidate) bool { return c.Failure != nil }) {
			t.Errorf("%s: the best after a retry is %s; error %v", schedule, retried.Candidates[0].Name, err)
		}
	}
}

// If all candidates of the upper rung fail, the next best of the rung below replace them.
func TestTuningReplacesFailedRungs(t *testing.T) {
	for _, schedule := range []string{"constant", "cosine"} {
		tuning, dir := newTuning(t, 12, `"constant"`, `"`+schedule+`"`), t.TempDir()
		before, err := tuning.Train(t.Context(), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		rungs, _, _ := runs.Rungs(tuning)
		fail := func(c runs.Candidate) {
			at := c.Seeds[0].Dir
			if err := os.RemoveAll(at); err != nil {
				t.Fatal(err)
			}
			if schedule == "constant" { // the run has done the first rung
				h := c.Seeds[0].Experiment.Header()
				h.Epochs = rungs[0].Epochs
				e := c.Seeds[0].Experiment.WithHeader(h)
				mustTrain(t, e, openData(t, e), at)
				if _, err := runs.Extend(at, rungs[1].Epochs); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(at+".failed", []byte("diverged"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		fail(before.Candidates[0])
		after, err := tuning.Train(t.Context(), dir, nil)
		if err != nil || !after.Done {
			t.Fatalf("%s: done is %v; error %v", schedule, after.Done, err)
		}
		best, failed, last := after.Candidates[0], after.Candidates[1], after.Candidates[2]
		if best.Name != before.Candidates[1].Name || best.Rung != 2 || best.Failure != nil || failed.Name != before.Candidates[0].Name || failed.Failure == nil || last.Rung != 1 {
			t.Errorf("%s: the candidates are\n%v", schedule, after.Table())
		}
		fail(best)
		if after, err = tuning.Train(t.Context(), dir, nil); err != nil || after.Candidates[0].Name != last.Name {
			t.Fatalf("%s: the last candidate does not move up: error %v", schedule, err)
		}
		fail(after.Candidates[0])
		_, err = tuning.Report(dir)
		wantError(t, err, "all candidates failed", "diverged")
	}
}

// Candidates that were trained on different contents of a data file are not ranked.
func TestTuningsWhoseDataChange(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "rows.txt"), t.TempDir()
	writeRows(t, data, 1)
	tuning := newTuning(t, 12, `"miniglyphs"`, fmt.Sprintf("%q", data), "subset = 60", "")
	if _, err := tuning.Train(t.Context(), dir, nil); err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "learning_rate=0.5")
	if err := os.RemoveAll(again); err != nil {
		t.Fatal(err)
	}
	writeRows(t, data, 2)
	_, err := tuning.Train(t.Context(), dir, nil)
	wantError(t, err, data, "restore the files") // the candidate that moves up has the earlier data
	after, err := tuning.Report(dir)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, after.Candidates[2].Failure, again, "different contents of "+data)
}

// A candidate that fails after the epochs of a rung keeps its place in this rung.
func TestLaterFailuresDoNotChangeEarlierRungs(t *testing.T) {
	tuning, dir := newTuning(t, 12), t.TempDir()
	before, err := tuning.Train(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	best := before.Candidates[0].Seeds[0]
	if _, err := runs.Extend(best.Dir, 1000); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(best.Dir+".failed", []byte("diverged"), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := tuning.Report(dir)
	if err != nil || !after.Done || after.Candidates[0].Name != before.Candidates[0].Name || after.Candidates[0].Value.Mean != before.Candidates[0].Value.Mean {
		t.Errorf("the best candidate was %v and is %v; error %v", before.Candidates[0].Value, after.Candidates[0].Value, err)
	}
}

func TestUsualAxes(t *testing.T) {
	s := mustReadSweep(t, tuneText)
	settings, err := s.Settings()
	if err != nil {
		t.Fatal(err)
	}
	axes := runs.UsualAxes(settings[1].Experiment)
	if len(axes) != 1 || axes[0].Keys[0] != "learning_rate" || len(axes[0].Values) != 4 || axes[0].Values[1][0] != 0.03 {
		t.Errorf("around a rate of 0.1, the candidates are %v", axes)
	}
}

func openData(t *testing.T, e runs.Experiment) *dataset.Set {
	t.Helper()
	set, err := runs.OpenDataset(e, "")
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// A setting is at the edge if it is the smallest or the largest of at least three numbers.
func TestSettingsAtTheEdge(t *testing.T) {
	r := runs.TuneReport{Keys: []string{"rate", "damping", "layers", "steps"}}
	for _, values := range [][]string{{"0.09", "0.2", "[3]", "1"}, {"0.03", "0.05", "[4]", "2"}, {"0.01", "0.8", "[5]", "1"}} {
		r.Candidates = append(r.Candidates, runs.Candidate{Setting: runs.Setting{Values: values}})
	}
	if got, want := r.AtEdge(), []string{"rate = 0.09"}; !slices.Equal(got, want) {
		t.Errorf("at the edge are %q, want %q", got, want)
	}
}

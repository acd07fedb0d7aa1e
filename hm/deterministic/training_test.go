package deterministic

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// patterns returns 40 training and 12 validation rows of 3by3: five minibatches
// an epoch of nine rows, the last of four.
func patterns(t *testing.T) *dataset.Set {
	t.Helper()
	validation := 12
	set, err := dataset.Spec{Name: "3by3", Subset: 40, Validation: &validation}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const stepsPerEpoch = 5

// short is an experiment on patterns that takes little time.
func short(set *dataset.Set, activation Activation) Experiment {
	e := NewExperiment(set, activation, 4, 2)
	e.Training = TrainingSpec{LearningRate: 0.05, BatchSize: 9}
	e.Epochs, e.Seed = 4, 3
	return e
}

// distribution returns the 18 rows that are the distribution of 3by3, to train on
// and to test with.
func distribution(t *testing.T) *dataset.Set {
	t.Helper()
	set, err := dataset.Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]float64
	for i := range set.Test().Rows {
		rows = append(rows, Binary(set.Test().Row(i)))
	}
	if set, err = dataset.FromRows("lines", set.Shape(), rows, rows); err != nil {
		t.Fatal(err)
	}
	return set
}

func mustTrain(t *testing.T, e Experiment, set *dataset.Set, dir string, recorders ...runs.Recorder) *Run {
	t.Helper()
	run, err := e.Train(t.Context(), set, dir, recorders...)
	if err != nil {
		t.Fatal(err)
	}
	if !run.Finished() {
		t.Fatal("training has returned without an error, but the run is not finished")
	}
	return run
}

// watcher is a recorder that acts on steps and epochs.
type watcher struct {
	plans   []runs.Plan
	onStep  func(runs.Progress)
	onEpoch func(runs.Epoch)
}

func (w *watcher) Begin(p runs.Plan) { w.plans = append(w.plans, p) }

func (w *watcher) Step(p runs.Progress) {
	if w.onStep != nil {
		w.onStep(p)
	}
}

func (w *watcher) Epoch(e runs.Epoch) {
	if w.onEpoch != nil {
		w.onEpoch(e)
	}
}

func (w *watcher) End(error) {}

// fuse is a context that is cancelled some calls of Err after it is lit.
type fuse struct {
	context.Context
	lit   atomic.Bool
	calls atomic.Int64 // that still succeed
}

func (f *fuse) light(calls int64) {
	f.calls.Store(calls)
	f.lit.Store(true)
}

func (f *fuse) Err() error {
	if f.lit.Load() && f.calls.Add(-1) < 0 {
		return context.Canceled
	}
	return f.Context.Err()
}

// contents are the files of a directory, but for that which tells of sessions.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "sessions.jsonl" {
			return err
		}
		b, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// wantUnchanged checks that a directory holds what it held.
func wantUnchanged(t *testing.T, dir string, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("the files of the directory have changed (-before +after):\n%s", diff)
	}
}

// wantSameRun checks that two directories hold the same run: the same bytes, and
// the same metrics but for the time that they took.
func wantSameRun(t *testing.T, want, got string) {
	t.Helper()
	a, b := contents(t, want), contents(t, got)
	for _, timed := range []string{"metrics.jsonl", "clock.json"} {
		delete(a, timed)
		delete(b, timed)
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the files differ (-%s +%s):\n%s", want, got, diff)
	}
	epochs := func(dir string) []runs.Epoch {
		run, err := OpenRun(dir)
		if err != nil {
			t.Fatal(err)
		}
		return run.History().Epochs
	}
	if diff := cmp.Diff(epochs(want), epochs(got), cmpopts.IgnoreFields(runs.Epoch{}, "Seconds")); diff != "" {
		t.Errorf("the metrics differ (-%s +%s):\n%s", want, got, diff)
	}
}

// wantError checks that an error says all of some texts.
func wantError(t *testing.T, err error, says ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one that says %q", says)
	}
	for _, text := range says {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("the error %q does not say %q", err, text)
		}
	}
}

// What a run saves is its machine, without its directory.
func TestModelFiles(t *testing.T) {
	set := distribution(t)
	run := mustTrain(t, short(set, NoisyOr), set, t.TempDir())
	var file bytes.Buffer
	if err := run.SaveModel(&file); err != nil {
		t.Fatal(err)
	}
	if m, err := LoadModel(&file); err != nil || !reflect.DeepEqual(m, run.Machine) {
		t.Errorf("the machine that was saved is another, %v", err)
	}
}

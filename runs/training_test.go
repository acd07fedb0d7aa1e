package runs_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// stepsPerEpoch is the number of minibatches that brief makes of overlapping: 16, 16 and 8 rows.
const stepsPerEpoch = 3

// brief is four epochs of stepwise EM.
func brief(set *dataset.Set) mixture {
	return mixture{
		Family: byLikelihood, Dataset: set.Spec(), Components: 3, Rate: 0.5,
		Epochs: 4, Seed: 5, BatchSize: 16,
	}
}

// altered is a mixture whose learner is altered.
type altered struct {
	mixture
	alter func(runs.Learner) runs.Learner
}

func (a altered) WithHeader(h runs.Header) runs.Experiment {
	a.mixture = a.mixture.WithHeader(h).(mixture)
	return a
}

func (a altered) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	l, err := a.mixture.Learner(set, at)
	if err != nil {
		return nil, err
	}
	return a.alter(l), nil
}

// watcher is a recorder that keeps everything it receives.
type watcher struct {
	plans  []runs.Plan
	steps  []runs.Progress
	epochs []runs.Epoch
	ends   []error
	order  []string // of all of these

	onStep  func(runs.Progress)
	onEpoch func(runs.Epoch)
}

func (w *watcher) Begin(p runs.Plan) {
	w.plans, w.order = append(w.plans, p), append(w.order, "begin")
}

func (w *watcher) Step(p runs.Progress) {
	w.steps, w.order = append(w.steps, p), append(w.order, fmt.Sprint("step ", p.Step))
	if w.onStep != nil {
		w.onStep(p)
	}
}

func (w *watcher) Epoch(e runs.Epoch) {
	w.epochs, w.order = append(w.epochs, e), append(w.order, fmt.Sprint("epoch ", e.Epoch))
	if w.onEpoch != nil {
		w.onEpoch(e)
	}
}

func (w *watcher) End(err error) { w.ends, w.order = append(w.ends, err), append(w.order, "end") }

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

// contents returns the files of a directory that do not contain times or sessions.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		switch name := entry.Name(); name {
		case "metrics.jsonl", "steps.jsonl", "clock.json", "sessions.jsonl":
		default:
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			files[name] = string(b)
		}
	}
	return files
}

func mustOpen(t *testing.T, dir string) *runs.Run {
	t.Helper()
	run, err := runs.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// trainUntil trains until stop returns true after a step, and returns the run.
func trainUntil(t *testing.T, e runs.Experiment, set *dataset.Set, dir string, stop func(runs.Progress) bool) *runs.Run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := runs.Train(ctx, e, set, dir, &watcher{onStep: func(p runs.Progress) {
		if stop(p) {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("training ends with the error %v, want %v", err, context.Canceled)
	}
	return run
}

func atStep(n int) func(runs.Progress) bool {
	return func(p runs.Progress) bool { return p.Step == n }
}

// trainUntilEpoch trains until an epoch is recorded.
func trainUntilEpoch(t *testing.T, e runs.Experiment, set *dataset.Set, dir string, epoch int) *runs.Run {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := runs.Train(ctx, e, set, dir, &watcher{onEpoch: func(of runs.Epoch) {
		if of.Epoch == epoch {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("training ends with the error %v, want %v", err, context.Canceled)
	}
	return run
}

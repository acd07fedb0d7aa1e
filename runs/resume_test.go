package runs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// atOnce is a learner that takes two steps at once, if there are two left.
type atOnce struct{ runs.Learner }

func (a atOnce) Steps(ctx context.Context, most int, rate func(int) float64) ([]runs.Measures, error) {
	var all []runs.Measures
	for k := range min(most, 2) {
		one, err := a.Learner.Steps(ctx, 1, func(int) float64 { return rate(k) })
		if err != nil {
			return all, err
		}
		all = append(all, one...)
	}
	return all, nil
}

var butForSeconds = cmpopts.IgnoreFields(runs.Epoch{}, "Seconds")

func wantSameSteps(t *testing.T, want, got *runs.Run) {
	t.Helper()
	one, err := want.Steps()
	if err != nil {
		t.Fatal(err)
	}
	other, err := got.Steps()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(one, other, butForSeconds); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
}

// resumable returns experiments that need different things in their checkpoints.
func resumable(set *dataset.Set) map[string]runs.Experiment {
	falling := brief(set)
	falling.Family, falling.Schedule = byLoss, runs.CosineDecay
	kept := brief(set)
	kept.Keep, kept.RecordSteps = []int{1, 3}, 2
	return map[string]runs.Experiment{
		"a loss, with a learning rate that falls": falling,
		"kept epochs and recorded steps":          kept,
		"several steps at once":                   altered{kept, func(l runs.Learner) runs.Learner { return atOnce{l} }},
	}
}

// A run that is stopped after any of its first steps, or at the end of any epoch, and resumed
// writes the bytes of an uninterrupted run.
func TestResumeIsExact(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	for name, e := range resumable(set) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			whole := t.TempDir()
			mustTrain(t, e, set, whole)
			for step := 1; step <= 2*stepsPerEpoch+1; step++ {
				dir := t.TempDir()
				run := trainUntil(t, e, set, dir, atStep(step))
				if at := run.Snapshot().Step; run.Finished() || at < step || at > step+1 {
					t.Fatalf("stopped after step %d, the checkpoint is of step %d", step, at)
				}
				mustTrain(t, e, set, dir)
				runstest.SameRun(t, whole, dir)
			}
			for epoch := 1; epoch < e.Header().Epochs; epoch++ {
				dir := t.TempDir()
				if run := trainUntilEpoch(t, e, set, dir, epoch); run.Epochs() != epoch || run.Snapshot().Step != epoch*stepsPerEpoch {
					t.Fatalf("stopped after epoch %d, the checkpoint is of epoch %d, step %d", epoch, run.Epochs(), run.Snapshot().Step)
				}
				mustTrain(t, e, set, dir)
				runstest.SameRun(t, whole, dir)
			}
		})
	}
}

// The same holds for a run that is stopped before its first step and after every other step.
func TestResumeAgainAndAgainIsExact(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	whole, dir := t.TempDir(), t.TempDir()
	e := resumable(set)["kept epochs and recorded steps"]
	mustTrain(t, e, set, whole)

	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	run, err := runs.Train(canceled, e, set, dir)
	if !errors.Is(err, context.Canceled) || run.Snapshot().Step != 0 {
		t.Fatalf("cancelled before it began, training ends with %v", err)
	}
	wantError(t, err, dir+": training stopped in epoch 1 of 4 with a checkpoint", "repeat the same training to resume it")
	for step := 1; step <= 4*stepsPerEpoch; step++ {
		trainUntil(t, e, set, dir, func(runs.Progress) bool { return true })
	}
	mustTrain(t, e, set, dir)
	runstest.SameRun(t, whole, dir)
}

// A crash leaves an epoch that the checkpoint has not seen, and truncated lines.
func TestResumeAfterACrashIsExact(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := resumable(set)["kept epochs and recorded steps"].(mixture)
	e.RecordSteps = 1
	whole, crashed := t.TempDir(), filepath.Join(t.TempDir(), "crashed")
	mustTrain(t, e, set, whole, &watcher{onEpoch: func(of runs.Epoch) {
		if of.Epoch == 3 {
			// Its line, its best checkpoint and the kept checkpoint exist.
			if err := os.CopyFS(crashed, os.DirFS(whole)); err != nil {
				t.Error(err)
			}
		}
	}})
	for _, name := range []string{"metrics.jsonl", "steps.jsonl"} {
		lines, err := os.ReadFile(filepath.Join(whole, name))
		if err != nil {
			t.Fatal(err)
		}
		there, err := os.ReadFile(filepath.Join(crashed, name))
		if err != nil {
			t.Fatal(err)
		}
		// As after a later crash: more lines, the last of them truncated.
		if err := os.WriteFile(filepath.Join(crashed, name), lines[:(len(there)+len(lines))/2+20], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if run := mustOpen(t, crashed); run.Epochs() != 2 || len(run.History().Epochs) != 2 {
		t.Fatalf("the run that crashed has %d epochs, and %d in its history; want 2", run.Epochs(), len(run.History().Epochs))
	}
	mustTrain(t, e, set, crashed)
	runstest.SameRun(t, whole, crashed)
}

// observing is a learner that observes something after each epoch, unless it is interrupted.
type observing struct {
	*fit
	interrupt func() // called instead, if not nil
}

func (l observing) Observe(ctx context.Context, epoch int) (map[string]runs.Measures, error) {
	if l.interrupt != nil {
		l.interrupt()
		return nil, ctx.Err()
	}
	return map[string]runs.Measures{"all-rows": {"epoch": float64(epoch)}}, nil
}

// An epoch that is interrupted during its measurements is measured again: it is not done, and its
// measurements so far leave no trace.
func TestInterruptedObservationIsExact(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	e := func(interrupt func()) runs.Experiment {
		return altered{brief(set), func(l runs.Learner) runs.Learner { return observing{l.(*fit), interrupt} }}
	}
	want := mustTrain(t, e(nil), set, whole)
	for i, epoch := range want.History().Epochs {
		if diff := cmp.Diff(map[string]runs.Measures{"all-rows": {"epoch": float64(i + 1)}}, epoch.Measured); diff != "" {
			t.Errorf("observed after epoch %d (-want +got):\n%s", i+1, diff)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	run, err := runs.Train(ctx, e(cancel), set, dir)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("training ends with the error %v, want %v", err, context.Canceled)
	}
	if run.Snapshot().Step != stepsPerEpoch || run.Epochs() != 0 || run.BestEpoch() != 0 {
		t.Errorf("interrupted when it observes epoch 1, the run is at step %d, epoch %d, the best being epoch %d; want step %d and no epoch",
			run.Snapshot().Step, run.Epochs(), run.BestEpoch(), stepsPerEpoch)
	}
	mustTrain(t, e(nil), set, dir)
	runstest.SameRun(t, whole, dir)
}

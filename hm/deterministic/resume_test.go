package deterministic

import (
	"context"
	"errors"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// interruption ends sessions of training: session returns the context and the
// recorder of one, from a context and the function that cancels it.
type interruption struct {
	name    string
	session func(context.Context, func()) (context.Context, *watcher)
}

func atSteps(when func(step int) bool) func(context.Context, func()) (context.Context, *watcher) {
	return func(ctx context.Context, cancel func()) (context.Context, *watcher) {
		return ctx, &watcher{onStep: func(p runs.Progress) {
			if when(p.Step) {
				cancel()
			}
		}}
	}
}

// burning stops training some calls of the context's Err after the last step of
// the second epoch.
func burning(calls int64) func(context.Context, func()) (context.Context, *watcher) {
	return func(ctx context.Context, _ func()) (context.Context, *watcher) {
		f := &fuse{Context: ctx}
		return f, &watcher{onStep: func(p runs.Progress) {
			if p.Step == 2*stepsPerEpoch {
				f.light(calls)
			}
		}}
	}
}

var interruptions = []interruption{
	{"within an epoch", atSteps(func(step int) bool { return step == 8 })},
	{"after an epoch's last step", atSteps(func(step int) bool { return step == 2*stepsPerEpoch })},
	{"again and again", atSteps(func(step int) bool { return step%3 == 0 })},
	{"after an epoch", func(ctx context.Context, cancel func()) (context.Context, *watcher) {
		return ctx, &watcher{onEpoch: func(e runs.Epoch) {
			if e.Epoch == 1 {
				cancel()
			}
		}}
	}},
	{"during validation", burning(5)},
	{"while log p is summed", burning(16)}, // 12 calls are of validation
}

// A run that is interrupted and resumed leaves the same bytes as one that is not.
func TestResumeIsExact(t *testing.T) {
	set := patterns(t)
	for _, activation := range []Activation{Logistic, NoisyOr, PrintedProduct} {
		t.Run(activation.String(), func(t *testing.T) {
			t.Parallel()
			e := short(set, activation)
			e.LogPEvery, e.Keep = 2, []int{1}
			whole := t.TempDir()
			mustTrain(t, e, set, whole)
			for _, i := range interruptions {
				t.Run(i.name, func(t *testing.T) {
					dir := t.TempDir()
					if sessions := trainInSessions(t, e, dir, i); sessions < 2 {
						t.Fatal("training was not interrupted")
					}
					wantSameRun(t, whole, dir)
				})
			}
		})
	}
}

// trainInSessions trains to the end on the data that the experiment names, however
// often it is interrupted, and returns the number of sessions that it took.
func trainInSessions(t *testing.T, e Experiment, dir string, i interruption) (sessions int) {
	t.Helper()
	set, err := runs.OpenDataset(e, dir)
	if err != nil {
		t.Fatal(err)
	}
	for sessions = 1; sessions < 100; sessions++ {
		ctx, cancel := context.WithCancel(t.Context())
		ctx, w := i.session(ctx, cancel)
		run, err := e.Train(ctx, set, dir, w)
		cancel()
		if err == nil {
			if !run.Finished() {
				t.Fatalf("session %d returned no error, but the run is not finished", sessions)
			}
			return sessions
		}
		if !errors.Is(err, context.Canceled) || run == nil {
			t.Fatalf("session %d: %v", sessions, err)
		}
	}
	t.Fatal("training does not come to its end")
	return sessions
}

// TestInterruptedEpochsEndLater shows where training stops at an epoch's end: all
// its steps are done, and the epoch is not.
func TestInterruptedEpochsEndLater(t *testing.T) {
	set := patterns(t)
	for _, calls := range []int64{5, 16} {
		e := short(set, NoisyOr)
		e.LogPEvery = 2
		ctx, w := burning(calls)(t.Context(), nil)
		run, err := e.Train(ctx, set, t.TempDir(), w)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want the cancellation", err)
		}
		if step := run.Snapshot().Step; step != 2*stepsPerEpoch || run.Epochs() != 1 {
			t.Errorf("stopped at step %d with %d epochs done, want %d and 1", step, run.Epochs(), 2*stepsPerEpoch)
		}
	}
}

// A finished run that is extended ends as one of that many epochs does.
func TestExtendedRunsAreExact(t *testing.T) {
	set, dir, whole := patterns(t), t.TempDir(), t.TempDir()
	e := short(set, PrintedProduct)
	mustTrain(t, e, set, dir)
	if _, err := runs.Extend(dir, 6); err != nil {
		t.Fatal(err)
	}
	e.Epochs = 6
	mustTrain(t, e, set, dir)
	mustTrain(t, e, set, whole)
	wantSameRun(t, whole, dir)
}

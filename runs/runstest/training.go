package runstest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

const checkpointFile = "checkpoint.safetensors"

// Watcher is a recorder that stores the plans that it receives, and calls OnStep and OnEpoch if they are
// not nil.
type Watcher struct {
	Plans   []runs.Plan
	OnStep  func(runs.Progress)
	OnEpoch func(runs.Epoch)
}

func (w *Watcher) Begin(p runs.Plan) { w.Plans = append(w.Plans, p) }

func (w *Watcher) Step(p runs.Progress) {
	if w.OnStep != nil {
		w.OnStep(p)
	}
}

func (w *Watcher) Epoch(e runs.Epoch) {
	if w.OnEpoch != nil {
		w.OnEpoch(e)
	}
}

func (w *Watcher) End(error) {}

// Files reads all files in a directory except the record of sessions. The keys are paths relative to the
// directory.
func Files(t *testing.T, dir string) map[string]string {
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

// SameRun checks that two directories contain the same run. Files that record times must have the same
// measures of epochs and steps; all other files must have the same bytes.
func SameRun(t *testing.T, want, got string) {
	t.Helper()
	a, b := Files(t, want), Files(t, got)
	for _, timed := range []string{"metrics.jsonl", "steps.jsonl", "clock.json"} {
		delete(a, timed)
		delete(b, timed)
	}
	for name := range a {
		if a[name] != b[name] {
			t.Errorf("%s differs, or is missing", name)
		}
		delete(b, name)
	}
	for name := range b {
		t.Errorf("there is a file %s", name)
	}
	sameMeasures(t, want, got)
}

func sameMeasures(t *testing.T, want, got string) {
	t.Helper()
	type measured struct {
		Epochs, Steps runs.History
		Best          runs.Snapshot
	}
	of := func(dir string) (m measured) {
		run := must[*runs.Run](t)(runs.Open(dir))
		m.Epochs = run.History()
		if run.Experiment().Header().RecordSteps > 0 {
			m.Steps = must[runs.History](t)(run.Steps())
		}
		if run.BestEpoch() > 0 {
			m.Best = must[runs.Snapshot](t)(run.Best())
		}
		for _, epochs := range [][]runs.Epoch{m.Epochs.Epochs, m.Steps.Epochs} {
			seconds := 0.0
			for i := range epochs {
				if epochs[i].Seconds < seconds {
					t.Errorf("%s: at step %d the training time falls to %v s, from %v", dir, epochs[i].Step, epochs[i].Seconds, seconds)
				}
				seconds, epochs[i].Seconds = epochs[i].Seconds, 0
			}
		}
		return m
	}
	one, other := of(want), of(got)
	if !reflect.DeepEqual(one.Best, other.Best) {
		t.Error("the best models differ: do the family's tensors hold all that a step changes, and do all draws follow from the seed and the step?")
		one.Best, other.Best = runs.Snapshot{}, runs.Snapshot{}
	}
	if !reflect.DeepEqual(one, other) {
		t.Errorf("the measures are\n%+v\nwant\n%+v", other, one)
	}
}

func train(t *testing.T, e runs.Experiment, set *dataset.Set, dir string) *runs.Run {
	t.Helper()
	run := must[*runs.Run](t)(runs.Train(t.Context(), e, set, dir, runs.Quiet))
	if !run.Finished() {
		t.Fatal("training has ended without an error, but is not finished")
	}
	return run
}

// fuse is a context that is cancelled a number of Err calls after light, so that work is interrupted in
// the middle.
type fuse struct {
	context.Context
	lit   atomic.Bool
	calls atomic.Int64 // calls that still succeed
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

// session trains until the Watcher from watch cancels the context, or to the end. It returns the run and
// whether it was interrupted.
func session(t *testing.T, e runs.Experiment, set *dataset.Set, dir string, watch func(f *fuse) *Watcher) (run *runs.Run, stopped bool) {
	t.Helper()
	f := &fuse{Context: t.Context()}
	run, err := runs.Train(f, e, set, dir, watch(f))
	var interruption *runs.Interruption
	switch {
	case err == nil && run.Finished():
		return run, false
	case !errors.As(err, &interruption) || !errors.Is(err, context.Canceled) || run == nil || run.Finished():
		t.Fatalf("cancelled training returns the run %v and the error %v, want an Interruption", run, err)
	case interruption.Dir != dir || interruption.Epoch != run.Epochs()+1 || interruption.Epochs != e.Header().Epochs:
		t.Errorf("after %d epochs the interruption is %+v", run.Epochs(), interruption)
	}
	return run, true
}

// atStep ends training after a step for which when is true.
func atStep(when func(step int) bool) func(f *fuse) *Watcher {
	return func(f *fuse) *Watcher {
		return &Watcher{OnStep: func(p runs.Progress) {
			if when(p.Step) {
				f.light(0)
			}
		}}
	}
}

// Resume checks that training writes the same bytes wherever it is interrupted and resumed: before
// its first step, within an epoch and at its end, while an epoch is measured, and repeatedly. It
// resumes with the experiment and the data that the directory names.
func Resume(t *testing.T, e runs.Experiment, set *dataset.Set) {
	h := e.Header()
	h.Keep, h.RecordSteps = []int{1}, 2
	e = e.WithHeader(h)
	perEpoch, whole := h.StepsPerEpoch(set.Train().Rows), filepath.Join(t.TempDir(), "whole")
	train(t, e, set, whole)
	// stop trains in sessions that watch interrupts, and returns the run as the first session left
	// it.
	stop := func(name string, watch func(f *fuse) *Watcher) *runs.Run {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		first, stopped := session(t, e, set, dir, watch)
		for sessions := 1; stopped; sessions++ {
			if sessions > h.Epochs*perEpoch {
				t.Fatalf("%s: training never ends", name)
			}
			there := must[runs.Experiment](t)(runs.ExperimentIn(dir))
			_, stopped = session(t, there, must[*dataset.Set](t)(runs.OpenDataset(there, dir)), dir, watch)
		}
		t.Run(name, func(t *testing.T) { SameRun(t, whole, dir) })
		return first
	}
	wantAt := func(run *runs.Run, step, epochs int) {
		t.Helper()
		if run.Snapshot().Step != step || run.Epochs() != epochs {
			t.Errorf("training is stopped at step %d with %d epochs done, want %d and %d", run.Snapshot().Step, run.Epochs(), step, epochs)
		}
	}
	begun := false
	wantAt(stop("before the first step", func(f *fuse) *Watcher {
		if !begun {
			f.light(0)
		}
		begun = true
		return &Watcher{}
	}), 0, 0)
	for _, step := range []int{1, perEpoch, perEpoch + 2} {
		wantAt(stop(fmt.Sprint("after step ", step), atStep(func(at int) bool { return at == step })), step, (step-1)/perEpoch)
	}
	wantAt(stop("after an epoch", func(f *fuse) *Watcher {
		return &Watcher{OnEpoch: func(of runs.Epoch) {
			if of.Epoch == 1 {
				f.light(0)
			}
		}}
	}), perEpoch, 1)
	stop("again and again", atStep(func(step int) bool { return step%3 == 0 }))
	for looks := int64(1); ; looks *= 4 {
		run := stop(fmt.Sprintf("%d looks at the context after the last step", looks), func(f *fuse) *Watcher {
			return &Watcher{OnStep: func(p runs.Progress) {
				if p.Step == 2*perEpoch {
					f.light(looks)
				}
			}}
		})
		if looks > 1 && run.Epochs() > 1 || set.Validation().Rows == 0 {
			return // the epoch was measured before the cancellation
		}
		wantAt(run, 2*perEpoch, 1)
	}
}

// extend checks that a finished run that is extended to more epochs ends like a run that had this number
// from the start. If its learning rate decays towards the end, extending it must return an error.
func extend(t *testing.T, e runs.Experiment, set *dataset.Set) {
	dir, whole, h := t.TempDir(), t.TempDir(), e.Header()
	run, perEpoch := train(t, e, set, dir), h.StepsPerEpoch(set.Train().Rows)
	h.Epochs *= 2
	longer := e.WithHeader(h)
	extended, err := runs.Extend(dir, h.Epochs)
	for step := range run.Snapshot().Step {
		if e.LearningRate(step, perEpoch) != longer.LearningRate(step, perEpoch) {
			wantError(t, err, dir, "a learning rate that decayed", "train a new run of that length")
			return
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	train(t, extended, set, dir)
	train(t, longer, set, whole)
	sameMeasures(t, whole, dir)
	want, got := Files(t, whole), Files(t, dir) // the best checkpoint may be from the shorter run
	for _, name := range []string{checkpointFile, "experiment.toml"} {
		if want[name] != got[name] {
			t.Errorf("%s differs from the file of a run with that number of epochs from the start", name)
		}
	}
}

// cancelled checks that a learner whose context is cancelled takes no step and measures no rows,
// and that its next step is unaffected.
func (f Case[E, M]) cancelled(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	e := must[runs.Experiment](t)(runs.Resolve(f.Experiment, f.Set, ""))
	begin := must[runs.Snapshot](t)(e.Begin(f.Set))
	var after [2]string
	for i := range after {
		learner := must[runs.Learner](t)(e.Learner(f.Set, begin))
		defer learner.Close()
		rate := func(k int) float64 { return e.LearningRate(k, 10) }
		if i > 0 {
			if steps, err := learner.Steps(ended, 1, rate); !errors.Is(err, context.Canceled) || len(steps) > 0 {
				t.Errorf("Steps with a cancelled context returns %v and the error %v", steps, err)
			}
			if s := must[runs.Snapshot](t)(learner.Snapshot()); s.Step != begin.Step || s.Checksum() != begin.Checksum() {
				t.Errorf("Steps with a cancelled context changes the state, now of step %d", s.Step)
			}
			if _, err := learner.Validate(ended, f.Set.Validation()); !errors.Is(err, context.Canceled) {
				t.Errorf("Validate with a cancelled context returns the error %v", err)
			}
		}
		must[[]runs.Measures](t)(learner.Steps(t.Context(), 1, rate))
		s := must[runs.Snapshot](t)(learner.Snapshot())
		after[i] = fmt.Sprint(s.Step, string(s.Header), s.Checksum())
	}
	if after[0] != after[1] {
		t.Errorf("after a cancelled step the next one leads to %s, want %s", after[1], after[0])
	}
}

// seed checks that another seed leads to other parameters. That seeds and the runs of sweeps are ordinary runs follows
// from the runner, not from the family.
func (f Case[E, M]) seed(t *testing.T) {
	h := f.Experiment.Header()
	parameters := func() string {
		return train(t, f.Experiment.WithHeader(h), f.Set, t.TempDir()).Snapshot().Checksum()
	}
	one := parameters()
	if h.Seed++; parameters() == one {
		t.Error("two seeds have the same parameters")
	}
}

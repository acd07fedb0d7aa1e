package hm

import (
	"context"
	"errors"
	"maps"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

// TestRecorderHearsEverythingOnce follows a run from its first step to its last.
func TestRecorderHearsEverythingOnce(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	method := short(NRWS()).Schedule(CosineDecay)
	first, second := &watcher{}, &watcher{}
	dir := t.TempDir()
	run := mustTrain(t, method, set, dir, first, second)

	want := runs.Plan{Dir: dir, Name: method.Spec().String() + ", seed 3", Epochs: 6, StepsPerEpoch: stepsPerEpoch, History: runs.History{Name: method.Spec().String(), Measures: Experiment{}.Measures(), Baseline: run.History().Baseline}}
	if diff := cmp.Diff([]runs.Plan{want}, first.plans); diff != "" {
		t.Errorf("plans (-want +got):\n%s", diff)
	}
	if len(first.steps) != 6*stepsPerEpoch {
		t.Fatalf("%d steps were recorded, want %d", len(first.steps), 6*stepsPerEpoch)
	}
	for i, p := range first.steps {
		if p.Step != i+1 || p.Epoch != i/stepsPerEpoch+1 {
			t.Errorf("record %d is of step %d in epoch %d", i, p.Step, p.Epoch)
		}
		if rate := run.Experiment().LearningRate(i, stepsPerEpoch); p.LearningRate != rate {
			t.Errorf("step %d: learning rate %v, want %v", p.Step, p.LearningRate, rate)
		}
		if m := p.Measures; !(m["log_p"] < 0) || m["bound"] > m["log_p"] || !(m["ess"] > 0 && m["ess"] <= 1) {
			t.Errorf("step %d: measures %+v, want 0 > log p ≥ bound and 0 < ESS ≤ 1", p.Step, m)
		}
	}
	if len(first.epochs) != 6 {
		t.Fatalf("%d epochs were recorded, want 6", len(first.epochs))
	}
	for i, e := range first.epochs {
		last := first.steps[(i+1)*stepsPerEpoch-1]
		if e.Epoch != i+1 || e.Step != last.Step || !maps.Equal(e.Train, last.Measures) || e.LearningRate != last.LearningRate || e.Validation == nil {
			t.Errorf("epoch %d is recorded as %+v, its last step as %+v", i+1, e, last)
		}
	}
	if diff := cmp.Diff(first.epochs, run.History().Epochs); diff != "" {
		t.Errorf("the history differs from what was recorded (-recorded +history):\n%s", diff)
	}
	if len(first.ends) != 1 || first.ends[0] != nil {
		t.Errorf("the ends %v were recorded, want one without an error", first.ends)
	}
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(watcher{})); diff != "" {
		t.Errorf("the recorders heard different things:\n%s", diff)
	}
}

// TestEpochMeasuresAreMeansOverRows checks that the minibatches of an epoch are weighed by their
// rows: with a learning rate too small to change anything, an epoch of one minibatch of 89 rows and
// one of a single row must measure the same as one minibatch of all 90.
func TestEpochMeasuresAreMeansOverRows(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	still := short(RWS()).LearningRate(1e-30).Epochs(1).Samples(200)
	parts := mustTrain(t, still.BatchSize(trainingRows-1), set, t.TempDir()).History().Epochs[0].Train
	whole := mustTrain(t, still.BatchSize(trainingRows), set, t.TempDir()).History().Epochs[0].Train
	// The draws differ only in their step; with 200 samples of 90 data this matters little.
	if !(math.Abs(parts["bound"]-whole["bound"]) <= 0.05) || !(math.Abs(parts["log_p"]-whole["log_p"]) <= 0.05) || !(math.Abs(parts["ess"]-whole["ess"]) <= 0.02) {
		t.Errorf("minibatches of 89 rows and of 1 give %+v, one of 90 %+v", parts, whole)
	}
}

// TestCancellationStopsWithinAStep cancels training after each of the first steps.
func TestCancellationStopsWithinAStep(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	for stop := 1; stop <= 2*stepsPerEpoch+1; stop++ {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		w := &watcher{onStep: func(p runs.Progress) {
			if p.Step == stop {
				cancel()
			}
		}}
		run, err := short(NRWS()).Train(ctx, machineFor(set), set, t.TempDir(), w)
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled at step %d: error %v, want %v", stop, err, context.Canceled)
		}
		if len(w.steps) != stop {
			t.Errorf("cancelled at step %d, %d steps were taken", stop, len(w.steps))
		}
		if len(w.ends) != 1 || !errors.Is(w.ends[0], context.Canceled) {
			t.Errorf("the ends %v were recorded, want one, of the cancellation", w.ends)
		}
		if run.Snapshot().Step != stop || run.Finished() {
			t.Errorf("cancelled at step %d, the checkpoint is of step %d, finished: %v", stop, run.Snapshot().Step, run.Finished())
		}
	}
}

func TestCanceledBeforeItBegins(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := &watcher{}
	run, err := short(NRWS()).Train(ctx, machineFor(set), set, dir, w)
	if !errors.Is(err, context.Canceled) || len(w.steps) > 0 {
		t.Fatalf("error %v after %d steps, want %v after none", err, len(w.steps), context.Canceled)
	}
	if run.Snapshot().Step != 0 {
		t.Errorf("the checkpoint is of step %d, want 0", run.Snapshot().Step)
	}
}

// TestDeadlineIsTheError distinguishes an exceeded deadline from a cancellation.
func TestDeadlineIsTheError(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	ctx, cancel := context.WithTimeout(t.Context(), -1)
	defer cancel()
	_, err := short(NRWS()).Train(ctx, machineFor(set), set, t.TempDir())
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
	}
}

// TestResumedRecorderIsToldWhatWasDone begins a second session.
func TestResumedRecorderIsToldWhatWasDone(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	method := short(NRWS())
	stop := 2*stepsPerEpoch + 3
	trainUntil(t, stop, method, machineFor(set), set, dir)
	w := &watcher{}
	run := mustTrain(t, method, set, dir, w)
	if len(w.plans) != 1 || w.plans[0].Start != stop || len(w.plans[0].History.Epochs) != 2 {
		t.Fatalf("the plans %+v, want one that starts after step %d with 2 epochs", w.plans, stop)
	}
	if diff := cmp.Diff(run.History().Epochs[:2], w.plans[0].History.Epochs); diff != "" {
		t.Errorf("the history of the plan (-final +plan):\n%s", diff)
	}
	if len(w.steps) != 6*stepsPerEpoch-stop || w.steps[0].Step != stop+1 || w.steps[0].Epoch != 3 {
		t.Errorf("%d steps were taken from step %d in epoch %d on, want %d from step %d in epoch 3 on",
			len(w.steps), w.steps[0].Step, w.steps[0].Epoch, 6*stepsPerEpoch-stop, stop+1)
	}
	if len(w.epochs) != 4 || w.epochs[0].Epoch != 3 {
		t.Errorf("%d epochs were recorded, want epochs 3 to 6", len(w.epochs))
	}
}

// TestTrainingLearns protects the other tests against a machine that does not move.
func TestTrainingLearns(t *testing.T) {
	t.Parallel()
	set := patterns(t)
	for _, name := range Presets() {
		epochs := mustTrain(t, short(preset(name)).LearningRate(0.2).Epochs(20), set, t.TempDir()).History().Epochs
		first, last := epochs[0].Validation, epochs[len(epochs)-1].Validation
		if !(last["log_p"] >= first["log_p"]+0.3 && last["bound"] >= first["bound"]+0.3) {
			t.Errorf("%s: validation log p goes from %v to %v, the bound from %v to %v; want a rise of 0.3 nats",
				name, first["log_p"], last["log_p"], first["bound"], last["bound"])
		}
	}
}

// requester asks for a checkpoint after a step.
type requester struct {
	watcher
	at int
}

func (r *requester) CheckpointWanted() bool { return len(r.steps) == r.at }

func TestCheckpointOnRequest(t *testing.T) {
	t.Parallel()
	set, dir := patterns(t), t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	r := &requester{at: 2}
	r.onStep = func(p runs.Progress) {
		if p.Step < 3 {
			return
		}
		run, err := OpenRun(dir)
		if err != nil {
			t.Error(err)
		} else if run.Snapshot().Step != 2 {
			t.Errorf("the checkpoint asked for at step 2 is of step %d", run.Snapshot().Step)
		}
		cancel()
	}
	if _, err := short(NRWS()).Train(ctx, machineFor(set), set, dir, r); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

package runs_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

// All recorders receive the same events once, in order.
func TestRecordersHearEverythingInOrder(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	e.Epochs, e.Schedule = 2, runs.CosineDecay
	first, second := &watcher{}, &watcher{}
	run := mustTrain(t, e, set, dir, first, second)

	want := []string{"begin", "step 1", "step 2", "step 3", "epoch 1", "step 4", "step 5", "step 6", "epoch 2", "end"}
	if diff := cmp.Diff(want, first.order); diff != "" {
		t.Errorf("(-want +heard):\n%s", diff)
	}
	plan := runs.Plan{Dir: dir, Name: "3 components, η = 0.5, seed 5", Epochs: 2, StepsPerEpoch: 3, History: runs.History{Name: e.String(), Measures: e.Measures()}}
	if diff := cmp.Diff([]runs.Plan{plan}, first.plans); diff != "" {
		t.Errorf("plan (-want +heard):\n%s", diff)
	}
	for i, p := range first.steps {
		if p.Epoch != i/stepsPerEpoch+1 || p.LearningRate != e.LearningRate(i, stepsPerEpoch) {
			t.Errorf("step %d is heard of as %+v", i+1, p)
		}
	}
	if diff := cmp.Diff(run.History().Epochs, first.epochs); diff != "" {
		t.Errorf("epochs (-history +heard):\n%s", diff)
	}
	if !slices.Equal(first.ends, []error{nil}) {
		t.Errorf("the end is heard of as %v", first.ends)
	}
	if diff := cmp.Diff(first, second, cmp.AllowUnexported(watcher{})); diff != "" {
		t.Errorf("(-first +second recorder):\n%s", diff)
	}
}

func TestResumedRecordersHearWhatWasDone(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	trainUntil(t, brief(set), set, dir, atStep(stepsPerEpoch+2))
	w := &watcher{}
	run := mustTrain(t, brief(set), set, dir, w)
	if w.plans[0].Start != stepsPerEpoch+2 {
		t.Errorf("training resumes after step %d, want %d", w.plans[0].Start, stepsPerEpoch+2)
	}
	if diff := cmp.Diff(run.History().Epochs[:1], w.plans[0].History.Epochs); diff != "" {
		t.Errorf("epochs done (-history +heard):\n%s", diff)
	}
	if first := w.order[1]; first != fmt.Sprint("step ", stepsPerEpoch+3) {
		t.Errorf("the first thing heard is %s", first)
	}
}

// The measures of an epoch are means over its rows: means of its steps weighted by their
// minibatches of 16, 16 and 8 rows.
func TestMeasuresOfEpochsAreMeansOverRows(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := brief(set)
	e.RecordSteps = 1
	run := mustTrain(t, e, set, t.TempDir())
	steps, err := run.Steps()
	if err != nil {
		t.Fatal(err)
	}
	for i, epoch := range run.History().Epochs {
		of := steps.Epochs[i*stepsPerEpoch:][:stepsPerEpoch]
		for _, m := range run.History().Measures {
			want := (16*of[0].Train[m.Key] + 16*of[1].Train[m.Key] + 8*of[2].Train[m.Key]) / 40
			if got := epoch.Train[m.Key]; !(math.Abs(got-want) <= 1e-14*math.Abs(want)) {
				t.Errorf("%s of epoch %d is %v, of its rows %v", m.Name, i+1, got, want)
			}
		}
		if of[2].Step != epoch.Step || of[2].LearningRate != epoch.LearningRate {
			t.Errorf("epoch %d ends with %+v, its last step is %+v", i+1, epoch, of[2])
		}
	}
}

// requester asks for a checkpoint after a step.
type requester struct {
	watcher
	at int
}

func (r *requester) CheckpointWanted() bool { return len(r.steps) == r.at }

func TestCheckpointIsMadeOnRequest(t *testing.T) {
	t.Parallel()
	set, dir, stopped := overlapping(t), t.TempDir(), t.TempDir()
	want := trainUntil(t, brief(set), set, stopped, atStep(2))
	r := &requester{at: 2}
	r.onStep = func(p runs.Progress) {
		if p.Step != 3 {
			return
		}
		if diff := cmp.Diff(want.Snapshot(), mustOpen(t, dir).Snapshot()); diff != "" {
			t.Errorf("(-stopped after step 2 +asked for then):\n%s", diff)
		}
	}
	mustTrain(t, brief(set), set, dir, &watcher{}, r)
}

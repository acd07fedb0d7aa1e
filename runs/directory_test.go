package runs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

func TestFinishedRunIsNotTrainedAgain(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, brief(set), set, dir)
	before := contents(t, dir)
	w := &watcher{}
	again := mustTrain(t, altered{brief(set), func(runs.Learner) runs.Learner {
		t.Error("a finished run has a learner again")
		return nil
	}}, set, dir, w)
	if len(w.order) > 0 {
		t.Errorf("the recorder heard %v of a finished run", w.order)
	}
	if again.Epochs() != 4 || again.Snapshot().Step != 4*stepsPerEpoch {
		t.Errorf("the run returned is of epoch %d", again.Epochs())
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A directory belongs to one experiment: another is refused with the differences.
func TestAnotherExperimentIsRefused(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	trainUntil(t, brief(set), set, dir, atStep(4))
	before := contents(t, dir)
	refused := func(set *dataset.Set, change func(*mixture), says string) {
		t.Helper()
		e := brief(set)
		change(&e)
		w := &watcher{}
		_, err := runs.Train(t.Context(), e, set, dir, w)
		wantError(t, err, dir, "another experiment", "("+says+")", "choose another directory")
		if len(w.order) > 0 {
			t.Errorf("the recorder heard %v", w.order)
		}
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	}
	refused(set, func(m *mixture) { m.Components = 2 }, "components is 3 there, 2 here")
	refused(set, func(m *mixture) { m.Rate = 0.25 }, "learning_rate is 0.5 there, 0.25 here")
	refused(set, func(m *mixture) { m.Schedule = runs.CosineDecay }, `schedule is "constant" there, "cosine" here`)
	refused(set, func(m *mixture) { m.Family = byLoss }, `family is "mixture" there, "mixture-loss" here`)
	refused(set, func(m *mixture) { m.Epochs = 5 }, "epochs is 4 there, 5 here")
	refused(set, func(m *mixture) { m.Patience = 2 }, "patience is 0 there, 2 here")
	refused(set, func(m *mixture) { m.Seed = 6 }, "seed is 5 there, 6 here")
	refused(set, func(m *mixture) { m.BatchSize = 8 }, "batch_size is 16 there, 8 here")
	refused(set, func(m *mixture) { m.Rate, m.Seed = 1, 6 }, "learning_rate is 0.5 there, 1.0 here; seed is 5 there, 6 here")

	held := grays(t, groups(52, 0.15, []float64{0.3, 0.4, 0.6, 0.5}, []float64{0.6, 0.5, 0.4, 0.5}), 10)
	refused(held, func(*mixture) {}, "dataset.validation is 12 there, 10 here")
	other := grays(t, groups(52, 0.1, []float64{0.3, 0.4, 0.6, 0.5}), 12)
	refused(other, func(*mixture) {}, fmt.Sprintf("the data have fingerprint %.12s there, %.12s here", set.Fingerprint(), other.Fingerprint()))

	mustTrain(t, brief(set), set, dir)
}

// Settings of what to keep and record are not part of the experiment's identity.
func TestWhatIsKeptMayChange(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	plain, keeping := brief(set), brief(set)
	keeping.Keep, keeping.RecordSteps = []int{3}, 1
	mustTrain(t, plain, set, whole)
	trainUntil(t, plain, set, dir, atStep(stepsPerEpoch+1))
	run := mustTrain(t, keeping, set, dir)
	if got := run.Experiment().Header(); !slices.Equal(got.Keep, []int{3}) || got.RecordSteps != 1 {
		t.Errorf("the experiment of the run keeps %v, and records each %d steps", got.Keep, got.RecordSteps)
	}
	if diff := cmp.Diff(mustOpen(t, whole).Snapshot(), run.Snapshot()); diff != "" {
		t.Errorf("(-without +with):\n%s", diff)
	}
	steps, err := run.Steps()
	if err != nil || steps.Epochs[0].Step != stepsPerEpoch+2 {
		t.Errorf("steps are recorded from %+v on (%v)", steps.Epochs, err)
	}
}

func TestDataOfRowsStayWithTheirRun(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	got, err := mustTrain(t, brief(set), set, t.TempDir()).Dataset()
	if err != nil {
		t.Fatal(err)
	}
	if got.Fingerprint() != set.Fingerprint() || !got.MadeFromRows() {
		t.Errorf("the run has data of fingerprint %.12s, want %.12s", got.Fingerprint(), set.Fingerprint())
	}
}

// Each session of training leaves a line; opening a finished run leaves none.
func TestProvenanceHasALineASession(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	trainUntil(t, brief(set), set, dir, atStep(2))
	trainUntil(t, brief(set), set, dir, atStep(7))
	mustTrain(t, brief(set), set, dir)
	sessions, err := mustTrain(t, brief(set), set, dir).Provenance()
	if err != nil {
		t.Fatal(err)
	}
	var steps []int
	for _, s := range sessions {
		steps = append(steps, s.Step)
		if s.Fingerprint != set.Fingerprint() || s.Go == "" || s.Threads < 1 || s.Date.IsZero() {
			t.Errorf("a session is recorded as %+v", s)
		}
	}
	if want := []int{0, 2, 7}; !slices.Equal(steps, want) {
		t.Errorf("sessions begin after steps %v, want %v", steps, want)
	}
}

// In earlier versions, whose clocks do not count sessions, a crash can have cut a session's line
// short; later sessions are still recorded.
func TestProvenanceGoesOnAfterATornLine(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	path := filepath.Join(dir, "sessions.jsonl")
	trainUntil(t, brief(set), set, dir, atStep(2))
	trainUntil(t, brief(set), set, dir, atStep(5))
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.WriteFile(path, lines[:len(lines)-30], 0o644), os.Remove(filepath.Join(dir, "clock.json"))); err != nil {
		t.Fatal(err)
	}
	sessions, err := mustTrain(t, brief(set), set, dir).Provenance()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sessions); n != 2 || sessions[0].Step != 0 || sessions[n-1].Step != 5 {
		t.Errorf("the sessions are %+v, want the first and the last of three", sessions)
	}
}

// The directories of seeds, sweeps and tunings need names.
func TestEmptyNamesOfDirectoriesAreRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	set := overlapping(t)
	_, seeds := runs.TrainSeeds(t.Context(), brief(set), set, 2, "")
	_, tuning := newTuning(t, 12).Train(t.Context(), "", nil)
	for _, err := range []error{seeds, tuning, mustReadSweep(t, sweepText).Claim("")} {
		wantError(t, err, "the name of the directory is empty")
	}
	if left, err := os.ReadDir("."); len(left) > 0 || err != nil {
		t.Errorf("the folder contains %v, %v", left, err)
	}
}

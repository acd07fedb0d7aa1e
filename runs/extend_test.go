package runs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// mustExtend extends a finished run and trains it to its end.
func mustExtend(t *testing.T, dir string, epochs int, set *dataset.Set) *runs.Run {
	t.Helper()
	longer, err := runs.Extend(dir, epochs)
	if err != nil {
		t.Fatal(err)
	}
	if run := mustOpen(t, dir); run.Finished() {
		t.Error("a run that is to go on is finished")
	}
	return mustTrain(t, longer, set, dir)
}

// An extended run ends like a run with that many epochs from the start.
func TestExtendedRunIsThatOfMoreEpochs(t *testing.T) {
	t.Parallel()
	set, short, long := overlapping(t), t.TempDir(), t.TempDir()
	e := brief(set)
	e.RecordSteps, e.Patience = 2, 6
	planned := e
	planned.Epochs = 7
	mustTrain(t, e, set, short)
	want, got := mustTrain(t, planned, set, long), mustExtend(t, short, 7, set)

	for _, name := range []string{"checkpoint.safetensors", "experiment.toml"} {
		if contents(t, long)[name] != contents(t, short)[name] {
			t.Errorf("%s differs from that of a run of 7 epochs", name)
		}
	}
	if diff := cmp.Diff(want.History(), got.History(), butForSeconds); diff != "" {
		t.Errorf("(-planned +extended):\n%s", diff)
	}
	wantSameSteps(t, want, got)
	best, err := want.Best()
	if err != nil {
		t.Fatal(err)
	}
	of, err := got.Best()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(best, of); diff != "" || want.BestEpoch() != got.BestEpoch() {
		t.Errorf("best epoch (-planned +extended):\n%s", diff)
	}
}

// So does a run that is interrupted while it is extended, and extended twice.
func TestExtendedRunIsResumed(t *testing.T) {
	t.Parallel()
	set, short, long := overlapping(t), t.TempDir(), t.TempDir()
	planned := brief(set)
	planned.Epochs = 7
	mustTrain(t, planned, set, long)
	mustTrain(t, brief(set), set, short)
	mustExtend(t, short, 5, set)
	longer, err := runs.Extend(short, 7)
	if err != nil {
		t.Fatal(err)
	}
	trainUntil(t, longer, set, short, atStep(6*stepsPerEpoch-1))
	mustTrain(t, longer, set, short)
	if contents(t, long)["checkpoint.safetensors"] != contents(t, short)["checkpoint.safetensors"] {
		t.Error("the checkpoint differs from that of a run of 7 epochs")
	}
}

func TestExtendRefuses(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	refused := func(e runs.Experiment, epochs int, says string) {
		t.Helper()
		dir := t.TempDir()
		mustTrain(t, e, set, dir)
		before := contents(t, dir)
		_, err := runs.Extend(dir, epochs)
		wantError(t, err, dir, says)
		if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	}
	falling := brief(set)
	falling.Schedule = runs.CosineDecay
	refused(falling, 6, "learning rate that decayed towards its last epoch")
	dir := t.TempDir()
	for _, e := range []runs.Experiment{brief(set), falling} {
		dir := filepath.Join(dir, "run")
		mustTrain(t, e, set, dir)
		h := e.Header()
		h.Epochs = 6
		_, err := runs.Train(t.Context(), e.WithHeader(h), set, dir)
		wantError(t, err, "belongs to another experiment")
		if extend := strings.Contains(err.Error(), "extend it with"); extend != (e.LearningRate(5, 2) == e.LearningRate(0, 2)) {
			t.Errorf("the error of %v is %v", e, err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	refused(brief(set), 3, "has done 4 epochs: give a larger number")
	impatient := brief(set)
	impatient.Patience = 1
	refused(telling(impatient, -1, -2), 6, "ended by patience after 2 of 4 epochs")

	dir = t.TempDir()
	trainUntil(t, brief(set), set, dir, atStep(4))
	_, err := runs.Extend(dir, 6)
	wantError(t, err, dir, "not finished")
	_, err = runs.Extend(t.TempDir(), 6)
	wantError(t, err, "not the directory of a run")
}

// Extending to the current number of epochs, which was perhaps interrupted at its end, may be
// repeated.
func TestExtendToWhatIsDoneChangesNothing(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	mustTrain(t, brief(set), set, dir)
	before := contents(t, dir)
	if e, err := runs.Extend(dir, 4); err != nil || e.Hash() != mustTrain(t, brief(set), set, dir).Experiment().Hash() {
		t.Errorf("the run is to train %v (%v)", e, err)
	}
	if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
}

// A run whose patience ran out in its last epoch would also have ended there with more epochs.
func TestExtendRefusesWhatPatienceEndedInTheLastEpoch(t *testing.T) {
	t.Parallel()
	set, short, long := overlapping(t), t.TempDir(), t.TempDir()
	validation := []float64{-4, -3, -5, -6, -2, -1}
	e := brief(set)
	e.Patience = 2
	mustTrain(t, telling(e, validation...), set, short)
	e.Epochs = 6
	if planned := mustTrain(t, telling(e, validation...), set, long); planned.Epochs() != 4 {
		t.Fatalf("a run of 6 epochs ends after %d", planned.Epochs())
	}
	_, err := runs.Extend(short, 6)
	wantError(t, err, "ended by patience")
}

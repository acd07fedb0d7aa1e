package runs_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
)

// A kept checkpoint equals the checkpoint of a run that was stopped there.
func TestKeptCheckpoints(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := brief(set)
	e.Keep = []int{1, 3, 9}
	run := mustTrain(t, e, set, filepath.Join(t.TempDir(), "layers=[2,1]"))
	wants := map[int]runs.Snapshot{4: mustTrain(t, brief(set), set, t.TempDir()).Snapshot()}
	for _, epoch := range e.Keep[:2] {
		wants[epoch] = trainUntilEpoch(t, brief(set), set, t.TempDir(), epoch).Snapshot()
	}
	for epoch, want := range wants {
		got, err := run.At(epoch)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("epoch %d (-stopped +kept):\n%s", epoch, diff)
		}
	}
	_, err := run.At(2)
	wantError(t, err, run.Dir(), "no checkpoint of epoch 2", "[1 3]")
	if _, err := os.Stat(filepath.Join(run.Dir(), "epoch-2.safetensors")); !errors.Is(err, os.ErrNotExist) {
		t.Error("epoch 2 is kept, and was not to be")
	}
}

// A checkpoint of another run is not accepted as a kept or best checkpoint; one from before the run
// was extended is.
func TestCheckpointsOfAnotherRunAreRefused(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	e := brief(set)
	e.Keep = []int{1}
	run := mustTrain(t, e, set, t.TempDir())
	other := e
	other.Seed++
	from := mustTrain(t, other, set, t.TempDir())
	longer, err := runs.Extend(run.Dir(), e.Epochs+2)
	if err != nil {
		t.Fatal(err)
	}
	run = mustTrain(t, longer, set, run.Dir())
	for name, read := range map[string]func() (runs.Snapshot, error){
		"epoch-1.safetensors": func() (runs.Snapshot, error) { return run.At(1) },
		"best.safetensors":    run.Best,
	} {
		if _, err := read(); err != nil {
			t.Errorf("after it was extended: %v", err)
		}
		b, err := os.ReadFile(filepath.Join(from.Dir(), name))
		if err == nil {
			err = os.WriteFile(filepath.Join(run.Dir(), name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = read()
		wantError(t, err, name, "it is from")
	}
	_, err = run.At(1)
	wantError(t, err, "another experiment")
}

// Every second step is recorded, with its own minibatch's measures.
func TestEachNthStepIsRecorded(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	each, second := brief(set), brief(set)
	each.RecordSteps, second.RecordSteps = 1, 2
	all, err := mustTrain(t, each, set, t.TempDir()).Steps()
	if err != nil {
		t.Fatal(err)
	}
	some, err := mustTrain(t, second, set, t.TempDir()).Steps()
	if err != nil {
		t.Fatal(err)
	}
	all.Epochs = slices.DeleteFunc(all.Epochs, func(e runs.Epoch) bool { return e.Step%2 != 0 })
	if diff := cmp.Diff(all, some, butForSeconds); diff != "" || len(some.Epochs) != 6 {
		t.Errorf("(-those of even number +each second):\n%s", diff)
	}
	_, err = mustTrain(t, brief(set), set, t.TempDir()).Steps()
	wantError(t, err, "no steps", "record_steps")
}

// A crash can leave steps that the checkpoint has not seen. Like such epochs, they are not part of
// the run.
func TestStepsBeyondTheCheckpointAreLeftOut(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	e := brief(set)
	e.RecordSteps = 1
	mustTrain(t, e, set, whole)
	trainUntil(t, e, set, dir, atStep(4))
	lines, err := os.ReadFile(filepath.Join(whole, "steps.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "steps.jsonl"), lines, 0o644); err != nil {
		t.Fatal(err)
	}
	steps, err := mustOpen(t, dir).Steps()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(steps.Epochs); n != 4 {
		t.Errorf("a run at step 4 has %d recorded steps, the last being %d", n, steps.Epochs[n-1].Step)
	}
}

// Swapped checkpoints are refused: the best must be from the best epoch, and a kept one from its
// own epoch.
func TestCheckpointsInEachOthersPlaceAreRefused(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	e := brief(set)
	e.Keep = []int{1, 2}
	run := mustTrain(t, e, set, dir)
	from, to := 1, 2
	if run.BestEpoch() == from {
		from, to = to, from
	}
	path := func(epoch int) string { return filepath.Join(dir, fmt.Sprintf("epoch-%d.safetensors", epoch)) }
	best := filepath.Join(dir, "best.safetensors")
	other, err := os.ReadFile(path(from))
	if err := errors.Join(err, os.WriteFile(best, other, 0o644), os.WriteFile(path(to), other, 0o644)); err != nil {
		t.Fatal(err)
	}
	_, err = run.Best()
	wantError(t, err, best, fmt.Sprint("from epoch ", from), "restore")
	_, err = run.At(to)
	wantError(t, err, path(to), fmt.Sprint("from epoch ", from), "restore")
}

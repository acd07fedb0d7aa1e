package runs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// If a directory is removed during training and another training starts in it, the first training
// ends with an error and writes nothing into it.
func TestTwoTrainingsDoNotShareADirectory(t *testing.T) {
	t.Parallel()
	set, whole := overlapping(t), t.TempDir()
	first, second := brief(set), brief(set)
	first.Keep, first.RecordSteps = []int{3}, 1
	second.Seed = 6
	mustTrain(t, second, set, whole)
	for _, finished := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		var between map[string]string
		w := &watcher{}
		w.onStep = func(p runs.Progress) {
			if p.Step != stepsPerEpoch+1 {
				return
			}
			if err := os.RemoveAll(dir); err != nil {
				t.Error(err)
			}
			if finished {
				mustTrain(t, second, set, dir)
			} else {
				trainUntil(t, second, set, dir, atStep(2))
			}
			between = allFiles(t, dir)
		}
		run, err := runs.Train(t.Context(), first, set, dir, w)
		wantError(t, err, dir, "removed while it was held", "nothing more is written", "train again")
		if run != nil {
			t.Errorf("the run of the other comes with the error: %v", run.Experiment())
		}
		if diff := cmp.Diff(between, allFiles(t, dir)); diff != "" {
			t.Errorf("the files of the other (-before +after):\n%s", diff)
		}
		mustTrain(t, second, set, dir)
		runstest.SameRun(t, whole, dir)
	}
}

// allFiles returns the contents of all files in a directory.
func allFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, entry := range entries {
		b, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		files[entry.Name()] = string(b)
	}
	return files
}

// Training whose directory is removed or emptied returns an error and recreates nothing.
func TestRemovedDirectoryEndsTraining(t *testing.T) {
	t.Parallel()
	set := overlapping(t)
	for name, left := range map[string][]string{
		"the directory": nil, "all but the lock": {".lock"}, "the lock": {"experiment.toml", "metrics.jsonl", "dataset.bin"},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		w := &watcher{onStep: func(p runs.Progress) {
			if p.Step != stepsPerEpoch+1 {
				return
			}
			for file := range allFiles(t, dir) {
				if !strings.Contains(strings.Join(left, " "), file) {
					if err := os.Remove(filepath.Join(dir, file)); err != nil {
						t.Error(err)
					}
				}
			}
			if left == nil {
				if err := os.Remove(dir); err != nil {
					t.Error(err)
				}
			}
		}}
		_, err := runs.Train(t.Context(), brief(set), set, dir, w)
		wantError(t, err, dir, "removed while it was held")
		if len(w.epochs) > 1 {
			t.Errorf("%s removed, training ends after %d epochs", name, len(w.epochs))
		}
	}
}

// The next session removes the half-written files of a killed program; files that do not belong to
// a run stay.
func TestLeftoversAreRemoved(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	trainUntil(t, brief(set), set, dir, atStep(2))
	left := []string{"checkpoint.safetensors.12.tmp", "best.safetensors.3.tmp", "epoch-3.safetensors.4.tmp", "metrics.jsonl.5.tmp", "experiment.toml.6.tmp"}
	others := []string{"notes.7.tmp", "notes.tmp"}
	for _, name := range append(left, others...) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mustTrain(t, brief(set), set, dir)
	files := allFiles(t, dir)
	for _, name := range left {
		if _, there := files[name]; there {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range others {
		if files[name] != "half" {
			t.Errorf("%s is gone", name)
		}
	}
}

// A failed write ends training with a remedy; earlier checkpoints stay intact.
func TestFailedWriteSaysHowToGoOn(t *testing.T) {
	t.Parallel()
	set, whole, dir := overlapping(t), t.TempDir(), t.TempDir()
	mustTrain(t, brief(set), set, whole)
	clock := filepath.Join(dir, "clock.json")
	w := &watcher{onEpoch: func(e runs.Epoch) {
		if e.Epoch == 2 { // replace the file by a directory
			if err := os.Remove(clock); err != nil {
				t.Error(err)
			}
			if err := os.Mkdir(clock, 0o755); err != nil {
				t.Error(err)
			}
		}
	}}
	_, err := runs.Train(t.Context(), brief(set), set, dir, w)
	wantError(t, err, clock, "earlier checkpoints are intact", "train --resume "+dir)
	if len(w.ends) != 1 || w.ends[0] != err {
		t.Errorf("the recorder heard of the ends %v", w.ends)
	}
	if err := os.Remove(clock); err != nil {
		t.Fatal(err)
	}
	mustTrain(t, brief(set), set, dir)
	runstest.SameRun(t, whole, dir)
}

// blockLock replaces a lock file by a directory, so that it cannot be opened for writing, as in a
// read-only directory.
func blockLock(t *testing.T, dir string) (lock string) {
	t.Helper()
	lock = filepath.Join(dir, ".lock")
	if err := errors.Join(os.RemoveAll(lock), os.MkdirAll(lock, 0o755)); err != nil {
		t.Fatal(err)
	}
	return lock
}

// In a read-only directory, a finished run is returned as usual; everything else ends with an error
// that names the file and the remedy.
func TestUnwritableDirectories(t *testing.T) {
	t.Parallel()
	set, finished, begun, none := overlapping(t), t.TempDir(), t.TempDir(), t.TempDir()
	mustTrain(t, brief(set), set, finished)
	trainUntil(t, brief(set), set, begun, atStep(2))
	for _, dir := range []string{finished, begun, none} {
		blockLock(t, dir)
	}
	if run := mustTrain(t, brief(set), set, finished); run.Epochs() != 4 {
		t.Errorf("the run returned is of epoch %d", run.Epochs())
	}
	several := t.TempDir()
	mustTrainSeeds(t, several)
	blockLock(t, several)
	mustTrainSeeds(t, several) // returns the finished runs
	train := func(e runs.Experiment, dir string) error { _, err := runs.Train(t.Context(), e, set, dir); return err }
	other := brief(set)
	other.Components = 2
	_, extending := runs.Extend(finished, 6)
	for dir, errs := range map[string][]error{
		finished: {train(other, finished), extending},
		begun:    {train(brief(set), begun)},
	} {
		for _, err := range errs {
			wantError(t, err, filepath.Join(dir, ".lock"), "earlier checkpoints are intact", "once the file can be written, resume with train --resume "+dir)
		}
	}

	parts := runs.Parts{Dir: t.TempDir(), Count: 1, Work: "{}"}
	part := blockLock(t, filepath.Join(parts.Dir, "part-0"))
	_, measuring := parts.Do(t.Context(), runs.Shard{}, nil, nil)
	_, planning := runs.TrainSeeds(t.Context(), brief(set), set, 2, none)
	sweeping := mustReadSweep(t, sweepText).Claim(none)
	for _, c := range []struct {
		err  error
		lock string
	}{
		{train(brief(set), none), filepath.Join(none, ".lock")}, {planning, filepath.Join(none, ".lock")}, {sweeping, filepath.Join(none, ".lock")}, {measuring, part},
	} {
		wantError(t, c.err, c.lock, "once the file can be written, repeat the same command")
	}

	file := filepath.Join(none, "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wantError(t, train(brief(set), filepath.Join(file, "run")), file, "choose another directory")
}

// A damaged line of metrics blocks nothing that needs only the models. Everything that needs the
// history names the line and the remedy.
func TestDamagedMetricsBlockNoModel(t *testing.T) {
	t.Parallel()
	set, dir := overlapping(t), t.TempDir()
	want := mustTrain(t, brief(set), set, dir).Snapshot()
	path := filepath.Join(dir, "metrics.jsonl")
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(string(lines), `"epoch":2`, `"epoch":7`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	run := mustOpen(t, dir)
	if diff := cmp.Diff(want, run.Snapshot()); diff != "" || run.Epochs() != 4 {
		t.Errorf("(-whole +damaged):\n%s", diff)
	}
	if _, err := run.Best(); err != nil {
		t.Error(err)
	}
	_, comparing := runs.Compare(dir)
	_, training := runs.Train(t.Context(), brief(set), set, dir)
	for _, err := range []error{run.History().Err, comparing, training} {
		wantError(t, err, path, "line 2", "restore the file from a copy, or start a new run")
	}
}

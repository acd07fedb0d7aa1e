package runs_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestMissingFilesAreNoticed removes files that no crash can lose.
func TestMissingFilesAreNoticed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustTrainSeeds(t, dir)
	one := runs.SeedDir(dir, 6)
	without := func(name string, look func() error, says ...string) {
		t.Helper()
		path := filepath.Join(one, name)
		if err := os.Rename(path, path+".away"); err != nil {
			t.Fatal(err)
		}
		wantError(t, look(), says...)
		if err := os.Rename(path+".away", path); err != nil {
			t.Fatal(err)
		}
	}
	openAll := func() error { _, err := runs.OpenSeeds(dir); return err }
	openOne := func() error { _, err := runs.Open(one); return err }
	without("checkpoint.safetensors", openAll, one, "checkpoint.safetensors", "from a copy")
	without("checkpoint.safetensors", openOne, one, "checkpoint.safetensors", "from a copy")
	without("experiment.toml", openAll, one, "experiment.toml")
	run, err := runs.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	without("dataset.bin", func() error { _, err := run.Dataset(); return err }, filepath.Join(one, "dataset.bin"), "from a copy")
	without("best.safetensors", func() error { _, err := run.Best(); return err }, filepath.Join(one, "best.safetensors"), "from a copy")
}

// Lost recorded steps are noticed, both when training resumes and when they are read.
func TestLostStepsAreNoticed(t *testing.T) {
	set := overlapping(t)
	e := brief(set)
	e.RecordSteps = 1
	for name, damage := range map[string]func(path string) error{
		"removed": os.Remove,
		"emptied": func(path string) error { return os.Truncate(path, 0) },
		"a line less": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1], 0o644)
		},
	} {
		dir := t.TempDir()
		run := mustTrain(t, e, set, dir)
		path := filepath.Join(dir, "steps.jsonl")
		if err := damage(path); err != nil {
			t.Fatal(err)
		}
		_, err := run.Steps()
		if errors.Is(err, runs.ErrNoSteps) {
			t.Errorf("%s: the run is said to have recorded none", name)
		}
		wantError(t, err, path, "from a copy")
		h := e.Header()
		longer, err := runs.Extend(dir, h.Epochs+1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = runs.Train(t.Context(), longer, set, dir)
		wantError(t, err, path, "from a copy")
	}
}

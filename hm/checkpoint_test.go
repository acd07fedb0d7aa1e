package hm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// A model file in place of a checkpoint must be refused.
func TestModelFileIsNoCheckpoint(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	run := mustTrain(t, short(RWS()), set, dir)
	var file bytes.Buffer
	if err := run.Save(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, checkpointFile), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := OpenRun(dir)
	wantError(t, err, "model file")
}

// A run that has lost its checkpoint must not start anew and overwrite its record.
func TestLostCheckpointIsRefused(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	mustTrain(t, short(RWS()), set, dir)
	if err := os.Remove(filepath.Join(dir, checkpointFile)); err != nil {
		t.Fatal(err)
	}
	before := contents(t, dir)
	_, err := short(RWS()).Train(t.Context(), machineFor(set), set, dir)
	wantError(t, err, metricsFile, checkpointFile)
	wantUnchanged(t, dir, before)
}

// A checkpoint that cannot be written must be reported as an error, not as an interruption.
func TestFailedCheckpointIsTheError(t *testing.T) {
	set, dir := patterns(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	w := &watcher{onStep: func(p runs.Progress) {
		if p.Step == 2 {
			if err := os.Mkdir(filepath.Join(dir, checkpointFile), 0o755); err != nil {
				t.Error(err)
			}
			cancel()
		}
	}}
	_, err := short(RWS()).Train(ctx, machineFor(set), set, dir, w)
	if err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the checkpoint", err)
	}
}

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// interruptedTraining interrupts training after it has begun, and first calls do with the directory
// of the run.
func interruptedTraining(t *testing.T, do func(dir string)) (code int, errOut string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "2 epochs of", do: func() { do(dir); cancel() }}
	code = run(ctx, []string{"train", "--dataset", "3by3", "--subset", "320", "--layers", "3", "--epochs", "2", "--out", dir}, stderr, stderr)
	return code, stderr.String()
}

// watched is a buffer that calls a function when certain words are written to it.
type watched struct {
	bytes.Buffer
	seen string
	do   func()
}

func (w *watched) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.seen) {
		w.do()
	}
	return w.Buffer.Write(p)
}

func TestInterruptLeavesACheckpoint(t *testing.T) {
	code, errOut := interruptedTraining(t, func(string) {})
	if code != exitInterrupted || !strings.Contains(errOut, "stopped with a checkpoint") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
}

// TestInterruptWithoutACheckpointFails replaces the checkpoint by a directory, so that it cannot be
// written.
func TestInterruptWithoutACheckpointFails(t *testing.T) {
	code, errOut := interruptedTraining(t, func(dir string) {
		if err := os.Mkdir(filepath.Join(dir, "checkpoint.safetensors"), 0o755); err != nil {
			t.Error(err)
		}
	})
	if code != exitFailed || !strings.Contains(errOut, "checkpoint.safetensors") || strings.Contains(errOut, "stopped with a checkpoint") {
		t.Errorf("ended with %d and said %q", code, errOut)
	}
}

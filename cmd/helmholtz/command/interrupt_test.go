package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
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

// An interrupted sweep, search or evaluation in parts says how to resume it.
func TestInterruptTellsHowToResume(t *testing.T) {
	dir := t.TempDir()
	file, trained := filepath.Join(dir, "rates.toml"), filepath.Join(dir, "run")
	text := `base = {epochs = 3, dataset = {name = "3by3", subset = 64, validation = 18}, machine = {layers = [4]}, method = {preset = "rws", samples = 3}}
grid.method.learning_rate = [0.01, 0.02]
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "1", "--out", trained)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{
		{"sweep", "run", file, "--workers", "1", "--out", filepath.Join(dir, "swept")},
		{"tune", file, "--workers", "1", "--epochs", "6", "--out", filepath.Join(dir, "tuned")},
		{"eval", trained, "--parts", filepath.Join(dir, "parts")},
	} {
		code, _, errOut := helmholtz(t, ctx, args...)
		if code != exitInterrupted || !strings.Contains(errOut, "helmholtz: interrupted; the work so far is kept: repeat the command to resume\n") {
			t.Errorf("%v ended with %d and said %q", args, code, errOut)
		}
	}
}

// An interrupt ends parallel analysis, and rivals, whose computation looks at no context.
func TestInterruptEndsRivalsAndParallelAnalysis(t *testing.T) {
	t.Chdir(t.TempDir())
	text := "a,b\n"
	for i := range 60 {
		text += fmt.Sprintf("%d.5,%d.25\n", i*i%31, i*i*i%17)
	}
	if err := os.WriteFile("rows.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, strings.Fields("train ppca --components 1 --binarization real --dataset rows.csv --epochs 1 --out ppca")...)
	run, model, err := openModel("ppca", "last")
	if err != nil {
		t.Fatal(err)
	}
	set, err := run.Dataset()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	work.EndWith(ended)
	defer work.EndWith(context.Background())
	if _, err := withRivals(t.Context(), run, model, runs.EvaluationOptions{Set: set, Rows: set.Test()}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("rivals: %v", err)
	}
	work.EndWith(context.Background())
	if code, _, says := helmholtz(t, ended, strings.Fields("features ppca --kind parallel --out f.csv")...); code != exitInterrupted {
		t.Errorf("features ended with %d and said %q", code, says)
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

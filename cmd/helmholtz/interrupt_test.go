package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// interruptedTraining interrupts training once it has begun, after doing
// something in the directory of the run.
func interruptedTraining(t *testing.T, do func(dir string)) (code int, errOut string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	stderr := &watched{seen: "2 epochs of", do: func() { do(dir); cancel() }}
	code = run(ctx, []string{"train", "--dataset", "3by3", "--subset", "320", "--layers", "3", "--epochs", "2", "--out", dir}, stderr, stderr)
	return code, stderr.String()
}

// watched is a buffer that does something when words are written to it.
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

// TestInterruptWithoutACheckpointFails puts a directory in the place of the
// checkpoint, which then cannot be written.
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

// TestSecondInterruptEndsTheProgram interrupts a program that waits for data
// from a pipe, and so cannot heed the first interrupt.
func TestSecondInterruptEndsTheProgram(t *testing.T) {
	const variable = "HELMHOLTZ_TEST_PIPE"
	if pipe := os.Getenv(variable); pipe != "" {
		os.Args = []string{"helmholtz", "train", "--dataset", pipe}
		main()
	}
	pipe := filepath.Join(t.TempDir(), "rows.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// The limit is for a program that heeds no interrupt: it ends otherwise.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	program := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSecondInterruptEndsTheProgram$")
	program.Env = append(os.Environ(), variable+"="+pipe)
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	data, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
	if err != nil {
		t.Fatal(err)
	}
	defer data.Close()
	ended := make(chan error)
	go func() { ended <- program.Wait() }()
	// Again and again, as the program need not have heeded the first yet when
	// it gets the second.
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for err = program.Process.Signal(os.Interrupt); err == nil; err = program.Process.Signal(os.Interrupt) {
		<-again.C
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("the program ended with %v, want the interrupt", err)
	}
}

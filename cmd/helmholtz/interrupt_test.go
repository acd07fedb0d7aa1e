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

// TestSecondInterruptEndsTheProgram interrupts a program that waits for a reader of
// what it prints, and so cannot heed the first interrupt.
func TestSecondInterruptEndsTheProgram(t *testing.T) {
	const variable = "HELMHOLTZ_TEST_PRINTS"
	if os.Getenv(variable) != "" {
		os.Args = []string{"helmholtz", "completion", "bash"}
		main()
	}
	// A socket, of which less is held for its reader than is printed.
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader, printed := os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "printed")
	defer reader.Close()
	defer printed.Close()
	for _, option := range []int{syscall.SO_SNDBUF, syscall.SO_RCVBUF} {
		for _, end := range ends {
			if err := syscall.SetsockoptInt(end, syscall.SOL_SOCKET, option, 2048); err != nil {
				t.Fatal(err)
			}
		}
	}
	// The limit is for a program that heeds no interrupt: it ends otherwise.
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	program := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestSecondInterruptEndsTheProgram$")
	program.Env = append(os.Environ(), variable+"=1")
	program.Stdout = printed
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); err != nil { // waits until the program prints
		t.Fatal(err)
	}
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

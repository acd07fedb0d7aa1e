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

	"github.com/helmholtz-go/helmholtz/runs"
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

// argsVariable holds the arguments of a program that a test starts, one a line.
const argsVariable = "HELMHOLTZ_TEST_ARGS"

// TestProgram is the program that tests start: where it is not, it tests nothing.
func TestProgram(t *testing.T) {
	if args := os.Getenv(argsVariable); args != "" {
		os.Args = append([]string{"helmholtz"}, strings.Split(args, "\n")...)
		main()
	}
}

// program is this program as a process, with arguments, after a command of the shell.
// The limit is for one that heeds no signal: it ends otherwise.
func program(t *testing.T, before string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "sh", "-c", before+` exec "$0" -test.run='^TestProgram$'`, os.Args[0])
	c.Env = append(os.Environ(), argsVariable+"="+strings.Join(args, "\n"))
	return c
}

// waiting is a training that has begun and waits for its data, and the pipe from which
// it reads them.
func waiting(t *testing.T, before string) (c *exec.Cmd, dir string, data *os.File) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	pipe := filepath.Join(t.TempDir(), "rows.txt")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	c = program(t, before, "train", "--dataset", pipe, "--layers", "3", "--validation", "0", "--batch", "4", "--epochs", "20", "--out", dir)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	data, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	return c, dir, data
}

// TestSecondInterruptEndsTheProgram interrupts a program that waits for data
// from a pipe, and so cannot heed the first interrupt.
func TestSecondInterruptEndsTheProgram(t *testing.T) {
	program, _, _ := waiting(t, "")
	ended := make(chan error)
	go func() { ended <- program.Wait() }()
	// Again and again, as the program need not have heeded the first yet when
	// it gets the second.
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	var err error
	for err = program.Process.Signal(os.Interrupt); err == nil; err = program.Process.Signal(os.Interrupt) {
		<-again.C
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGINT {
		t.Errorf("the program ended with %v, want the interrupt", err)
	}
}

// rowsOfText are some rows of data, as a file of text has them.
var rowsOfText = strings.Repeat("0 1 0 1\n1 1 0 0\n1 0 1 0\n0 0 1 1\n", 4)

// Where nohup has begun the program, it goes on when the terminal closes.
func TestNohupIsHeeded(t *testing.T) {
	program, dir, data := waiting(t, `trap "" HUP;`)
	if err := program.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := data.WriteString(rowsOfText); err != nil {
		t.Fatal(err)
	}
	data.Close()
	if err := program.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if run, err := runs.Open(dir); err != nil || !run.Finished() {
		t.Errorf("the run is not finished (%v)", err)
	}
}

// Elsewhere it stops with a checkpoint when the terminal closes, however often that is
// said. The pipe of its progress closes at the same time.
func TestHangUpLeavesACheckpoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	program := program(t, "", "train", "--dataset", "3by3", "--layers", "3", "--epochs", "1000000", "--out", dir)
	progress, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "epoch 1/"); {
		b := make([]byte, 4096)
		n, err := progress.Read(b)
		if said += string(b[:n]); err != nil {
			t.Fatalf("%v after %q", err, said)
		}
	}
	progress.Close()
	for range 2 {
		if err := program.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	_ = program.Wait()
	if code := program.ProcessState.ExitCode(); code != exitInterrupted {
		t.Errorf("the program ended with %v", program.ProcessState)
	}
	if run, err := runs.Open(dir); err != nil || run.Finished() {
		t.Errorf("there is no checkpoint (%v)", err)
	}
}

// Progress that nobody reads any more stops no training.
func TestClosedProgressStopsNoTraining(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	program := program(t, "", "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "3", "--out", dir)
	progress, err := program.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	progress.Close()
	if err := program.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if run, err := runs.Open(dir); err != nil || !run.Finished() {
		t.Errorf("the run is not finished (%v)", err)
	}
}

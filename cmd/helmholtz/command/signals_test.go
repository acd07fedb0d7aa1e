//go:build unix

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
)

// argsVariable has the arguments of a program that a test starts, one per line.
const argsVariable = "HELMHOLTZ_TEST_ARGS"

// TestProgram is the program that tests start; otherwise it tests nothing.
func TestProgram(t *testing.T) {
	if args := os.Getenv(argsVariable); args != "" {
		sufferFaults()
		os.Args = append([]string{"helmholtz"}, strings.Split(args, "\n")...)
		Main()
	}
}

// program returns this program as a process with arguments, after a shell command. The limit ends a
// program that ignores all signals.
func program(t *testing.T, before string, args ...string) *exec.Cmd {
	t.Helper()
	// Signals that the tests ignore, for example under nohup, would be ignored by their processes
	// too.
	heeded := make(chan os.Signal, 1)
	signal.Notify(heeded, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heeded) })
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, "sh", "-c", before+` exec "$0" -test.run='^TestProgram$'`, os.Args[0])
	c.Env = append(os.Environ(), argsVariable+"="+strings.Join(args, "\n"))
	return c
}

// narrow returns a pipe with a small buffer between a program and a test: a program that prints
// more has to wait.
func narrow(t *testing.T) (reader, printed *os.File) {
	t.Helper()
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	reader, printed = os.NewFile(uintptr(ends[0]), "reader"), os.NewFile(uintptr(ends[1]), "printed")
	t.Cleanup(func() { reader.Close(); printed.Close() })
	for _, option := range []int{syscall.SO_SNDBUF, syscall.SO_RCVBUF} {
		for _, end := range ends {
			if err := syscall.SetsockoptInt(end, syscall.SOL_SOCKET, option, 2048); err != nil {
				t.Fatal(err)
			}
		}
	}
	return reader, printed
}

// TestSecondInterruptEndsTheProgram interrupts a program that waits for a reader of its output, and
// so cannot react to the first interrupt.
func TestSecondInterruptEndsTheProgram(t *testing.T) {
	reader, printed := narrow(t)
	program := program(t, "", "completion", "bash")
	program.Stdout = printed
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(make([]byte, 1)); err != nil { // waits until the program prints
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- program.Wait() }()
	// Repeat the interrupt, since the program need not have handled the first when it receives the
	// second.
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

// Under nohup, the program continues when the terminal closes.
func TestNohupIsHeeded(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	reader, printed := narrow(t)
	program := program(t, `trap "" HUP;`, "train", "--dataset", "3by3", "--subset", "64", "--layers", "3", "--epochs", "100", "--out", dir)
	program.Stderr = printed
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	printed.Close()
	readUntil(t, reader, "epoch 1/") // the program waits for the reader
	if err := program.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, reader); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Errorf("the program ended with %v", err)
	}
	if run, err := runs.Open(dir); err != nil || !run.Finished() {
		t.Errorf("the run is not finished (%v)", err)
	}
}

// readUntil reads a program's output until it contains a text.
func readUntil(t *testing.T, r io.Reader, something string) {
	t.Helper()
	for said := ""; !strings.Contains(said, something); {
		b := make([]byte, 4096)
		n, err := r.Read(b)
		if said += string(b[:n]); err != nil {
			t.Fatalf("%v after %q", err, said)
		}
	}
}

// Otherwise it stops with a checkpoint when the terminal closes, however often the signal arrives.
// The pipe of its progress closes at the same time.
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
	readUntil(t, progress, "epoch 1/")
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

// Progress that nobody reads any more does not stop training.
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

// TestPreemptedEvaluation preempts, like a scheduler, an evaluation that waits for a part of a
// machine that may have stopped; when it is restarted after the lease has expired, it continues.
func TestPreemptedEvaluation(t *testing.T) {
	here := t.TempDir()
	dir, parts := filepath.Join(here, "run"), filepath.Join(here, "parts")
	succeed(t, "train", "--dataset", "3by3", "--subset", "320", "--layers", "5", "--epochs", "1", "--out", dir)
	eval := []string{"eval", dir, "--json", "--samples", "262144", "--rows", "18", "--split", "train", "--log-z2", "0", "--parts", parts}
	taken := filepath.Join(parts, "seed-1", "part-0")
	if err := os.MkdirAll(taken, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(taken, file.LeaseFile), []byte(`{"holder":"other","host":"other","system":"other"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	ended := make(chan int)
	go func() {
		code, _, _ := helmholtz(t, t.Context(), eval...)
		ended <- code
	}()
	for {
		if _, err := os.Stat(filepath.Join(parts, "seed-1", "part-1", "part.safetensors")); err == nil {
			break
		}
		select {
		case code := <-ended:
			t.Fatalf("an evaluation with a part elsewhere ended with %d", code)
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != exitRequeue {
		t.Errorf("an evaluation that was told to stop ended with %d, not %d", code, exitRequeue)
	}
	if err := os.Remove(filepath.Join(taken, file.LeaseFile)); err != nil {
		t.Fatal(err)
	}
	if e := estimates(t, succeed(t, eval...)); e["data"] != 18. {
		t.Errorf("gone on with, it says %v", e)
	}
}

// slowMagic begins a table whose reader never returns in a program that has the variable slowVariable.
const slowMagic, slowVariable = "\x01slow table", "HELMHOLTZ_TEST_SLOW"

func init() {
	dataset.RegisterTable(slowMagic, func(_ dataset.TableFile, row func([]string) error) error {
		if os.Getenv(slowVariable) != "" {
			fmt.Fprintln(os.Stderr, "reading")
			<-make(chan bool)
		}
		err := row([]string{"a", "b", "c", "d"})
		for i := range 48 {
			err = errors.Join(err, row(strings.Split(fmt.Sprintf("%04b", i%16), "")))
		}
		return err
	})
}

// The first signal ends every command that reads data, and leaves no file behind. A sweep keeps its plan, and plot the
// figures that need no data.
func TestSignalsEndReading(t *testing.T) {
	here := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(here, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table, plain := write("rows.slow", slowMagic), write("rows.csv", "a,b,c,d\n"+strings.Repeat("1,0,0,1\n0,1,1,0\n", 24))
	sweep := write("sweep.toml", fmt.Sprintf(`base = {epochs = 3, dataset = {name = %q}, machine = {layers = [2]}, method = {preset = "rws", samples = 2}}
grid.method.learning_rate = [0.01, 0.02]
`, table))
	dir, machine := filepath.Join(here, "run"), filepath.Join(here, "rbm")
	succeed(t, "train", "--dataset", table, "--layers", "2", "--epochs", "1", "--out", dir)
	succeed(t, "train", "--dataset", table, "--algorithm", "cd", "--layers", "2", "--batch", "10", "--epochs", "1", "--out", machine)
	files := func() (all []string) {
		err := filepath.WalkDir(here, func(path string, _ os.DirEntry, err error) error {
			all = append(all, path)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	out := filepath.Join(here, "out")
	for i, args := range [][]string{
		{"data", "show", table},
		{"data", "show", plain, "--weight-file", table},
		{"new", out + ".toml", "--dataset", table},
		{"train", "--dataset", table, "--out", out},
		{"train", "--dataset", plain, "--test", table, "--out", out},
		{"train", "ppca", "--dataset", table, "--out", out},
		{"train", "--resume", dir, "--epochs", "2"},
		{"eval", dir},
		{"eval", dir, "--rows", table},
		{"eval", machine, "--rows", table},
		{"inpaint", dir, "--mask", "left", "--out", out + ".png"},
		{"compare", dir, machine, "--samples", "10"},
		{"report", dir},
		{"plot", dir, "--out", out},
		{"bench", "eval", dir},
		{"sweep", "run", sweep, "--workers", "1", "--out", out},
	} {
		sent := os.Signal(os.Interrupt)
		if i%2 == 1 {
			sent = syscall.SIGTERM
		}
		before := files()
		program := program(t, slowVariable+"=1", args...)
		said, err := program.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := program.Start(); err != nil {
			t.Fatal(err)
		}
		readUntil(t, said, "reading")
		if err := program.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(said)
		_ = program.Wait()
		if code := program.ProcessState.ExitCode(); code != exitInterrupted || !strings.Contains(string(rest), "helmholtz: interrupted") {
			t.Errorf("%v: %v after %v, said %q", args, program.ProcessState, sent, rest)
		}
		if after := files(); args[0] != "sweep" && args[0] != "plot" && !slices.Equal(before, after) {
			t.Errorf("%v left %v, there were %v", args, after, before)
		}
	}
}

// A worker that a scheduler preempts ends with its checkpoint, as the program that started it does.
func TestPreemptedWorkerEnds(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rates.toml")
	text := "seeds = 1\nbase = {epochs = 100000, dataset = {name = \"3by3\", subset = 64}, machine = {layers = [3]}, method = {preset = \"rws\"}}\n[grid]\nmethod.learning_rate = [0.1, 0.2]\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	worker := program(t, "", "sweep", "run", file, "--out", filepath.Join(dir, "rates"), "--workers", "1", "--"+workerFlag)
	if _, err := worker.StdinPipe(); err != nil { // stays open
		t.Fatal(err)
	}
	reader, printed := narrow(t)
	worker.Stderr = printed
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	printed.Close()
	readUntil(t, reader, "epoch 1/")
	if err := worker.Process.Signal(syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, reader); err != nil {
		t.Fatal(err)
	}
	if err := worker.Wait(); worker.ProcessState.ExitCode() != exitRequeue {
		t.Errorf("the worker ended with %v", err)
	}
}

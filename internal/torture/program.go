//go:build unix

package torture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Program is the program under test, and describes what equal runs of it have in common.
type Program struct {
	// Start returns the program with arguments.
	Start func(args ...string) *exec.Cmd
	// Same returns the part of a file, at a path relative to the directory, that is the same in
	// equal runs, for example everything except times.
	Same func(path string, content []byte) string
	// Printed does the same for the program's output.
	Printed func(string) string
}

// begin creates the directory of a trial, as a copy of from unless from is "".
func (p Program) begin(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if from != "" {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// files reads the finished files, as Same returns them.
func (p Program) files(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := p.allFiles(t, dir)
	maps.DeleteFunc(files, func(path, _ string) bool { return isAside(path) })
	return files
}

func isAside(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, ".") && name != ".lock"
}

// largest limits the size of files whose contents are compared; damage can make files larger.
const largest = 64 << 20

// allFiles reads all files, as Same returns them; for irregular and large files it returns a
// description.
func (p Program) allFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path) // path is within
		if !info.Mode().IsRegular() || info.Size() > largest {
			files[name] = fmt.Sprint(info.Mode(), info.Size())
			return nil
		}
		content, err := os.ReadFile(path)
		files[name] = p.Same(name, bytes.ReplaceAll(content, []byte(dir), nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

type result struct {
	code           int
	stdout, stderr string
}

// memoryLimit is how many bytes a program may take.
const memoryLimit = 2 << 30

// timeLimit returns how long a program may take: longer when the tests of other packages use the
// processors too.
func timeLimit() time.Duration {
	if *All {
		return 20 * time.Second
	}
	return 2 * time.Minute
}

func (p Program) run(t *testing.T, dir string, args []string) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := p.Start(args...)
	program.Dir, program.Stdout, program.Stderr = dir, &stdout, &stderr
	// A tracer on this thread would mistake the program for its own.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(timeLimit(), func() { _ = program.Process.Kill() })
	var exit *exec.ExitError
	if err := program.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if !limit.Stop() {
		t.Errorf("the program did not end in %v", timeLimit())
	}
	usage, _ := program.ProcessState.SysUsage().(*syscall.Rusage)
	return p.result(t, dir, program.ProcessState.ExitCode(), usage, &stdout, &stderr)
}

// result returns a program's result, independent of its directory.
func (p Program) result(t *testing.T, dir string, code int, usage *syscall.Rusage, stdout, stderr *bytes.Buffer) result {
	t.Helper()
	if strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("the program crashed: %.2000s", stderr)
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		t.Fatal(err)
	}
	// Until the program is executed, Linux counts the memory of the process that starts it.
	if memory := usage.Maxrss << 10; usage.Maxrss > own.Maxrss {
		if memory > memoryLimit {
			t.Errorf("the program took %d MB of memory", memory>>20)
		}
		recordMemory(memory)
	}
	return result{code, p.Printed(strings.ReplaceAll(stdout.String(), dir, "")), stderr.String()}
}

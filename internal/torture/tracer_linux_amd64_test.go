package torture

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// victim is the variable that makes the test binary the program that is tortured.
const victim = "HELMHOLTZ_TEST_VICTIM"

func TestMain(m *testing.M) {
	if dir := os.Getenv(victim); dir != "" {
		if err := work(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// work writes a file beside its name and renames it, and lets a process of its own
// make another.
func work(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	if err := root.Mkdir("inner", 0o755); err != nil {
		return err
	}
	f, err := root.Create("inner/aside")
	if err != nil {
		return err
	}
	for range 2 {
		if _, err := f.WriteString("12345678"); err != nil {
			return err
		}
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := root.Rename("inner/aside", "file"); err != nil {
		return err
	}
	return exec.Command("/bin/sh", "-c", "echo child >"+filepath.Join(dir, "child")).Run()
}

// torment runs the program under a fault in a new directory.
func torment(t *testing.T, f Fault) (trace *Trace, dir, stdout, stderr string) {
	t.Helper()
	dir = t.TempDir()
	var out, errOut bytes.Buffer
	program := exec.Command(os.Args[0])
	program.Env = append(os.Environ(), victim+"="+dir)
	program.Stdout, program.Stderr = &out, &errOut
	trace, err := Tracer{Dir: dir, Fault: f}.Run(program)
	if err != nil {
		t.Fatal(err)
	}
	return trace, dir, out.String(), errOut.String()
}

var calls = []Call{
	{"mkdirat", "inner", 0}, {"openat", "inner/aside", 0}, {"write", "inner/aside", 8}, {"write", "inner/aside", 8},
	{"fsync", "inner/aside", 0}, {"renameat", "file", 0}, {"openat", "child", 0}, {"write", "child", 6},
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(b)
}

func TestCallsOfAllProcessesAreListed(t *testing.T) {
	trace, dir, stdout, stderr := torment(t, Fault{})
	if !reflect.DeepEqual(trace.Calls, calls) {
		t.Errorf("listed %v, want %v", trace.Calls, calls)
	}
	if trace.Status.ExitStatus() != 0 || trace.Struck || stdout != "done\n" || trace.Usage.Maxrss <= 0 || trace.All <= len(calls) {
		t.Errorf("ended with %+v, %q and %q", trace, stdout, stderr)
	}
	if content(t, filepath.Join(dir, "file")) != "1234567812345678" || content(t, filepath.Join(dir, "child")) != "child\n" {
		t.Error("the files are others than those of a program that is not traced")
	}
}

// TestKillsLeaveOutTheCallAndAllAfterIt kills several programs at a time, each before
// another call.
func TestKillsLeaveOutTheCallAndAllAfterIt(t *testing.T) {
	var all sync.WaitGroup
	for k := range calls {
		all.Go(func() {
			trace, dir, stdout, _ := torment(t, Fault{At: k + 1})
			if !trace.Status.Signaled() || trace.Status.Signal() != syscall.SIGKILL || !trace.Struck || stdout != "" {
				t.Errorf("killed before %v, the program ended with %+v and printed %q", calls[k], trace, stdout)
			}
			if want := strings.Repeat("12345678", max(0, min(k-2, 2))); k < 6 && content(t, filepath.Join(dir, "inner/aside")) != want {
				t.Errorf("killed before %v, the file aside is %q, want %q", calls[k], content(t, filepath.Join(dir, "inner/aside")), want)
			}
			if got := content(t, filepath.Join(dir, "file")); (got != "") != (k > 5) {
				t.Errorf("killed before %v, the file is %q", calls[k], got)
			}
			if got := content(t, filepath.Join(dir, "child")); got != "" {
				t.Errorf("killed before %v, the child's file is %q", calls[k], got)
			}
		})
	}
	all.Wait()
}

func TestKillsAtCallsOfAnyKind(t *testing.T) {
	trace, _, _, _ := torment(t, Fault{At: 10, Any: true})
	if !trace.Status.Signaled() || trace.All < 10 || len(trace.Calls) != 0 {
		t.Errorf("ended with %+v", trace)
	}
}

func TestWritesAreTorn(t *testing.T) {
	_, dir, _, _ := torment(t, Fault{At: 3, Torn: true})
	if got := content(t, filepath.Join(dir, "inner/aside")); got != "1234" {
		t.Errorf("a torn write has written %q", got)
	}
	trace, dir, _, stderr := torment(t, Fault{At: 4, Torn: true, Errno: syscall.ENOSPC, Onward: true})
	if got := content(t, filepath.Join(dir, "inner/aside")); got != "123456781234" {
		t.Errorf("a torn write has written %q", got)
	}
	if trace.Status.ExitStatus() != 1 || !strings.Contains(stderr, "inner/aside: no space left on device") {
		t.Errorf("the program ended with %+v and said %q", trace, stderr)
	}
}

func TestCallsFail(t *testing.T) {
	for k, call := range calls {
		trace, dir, _, stderr := torment(t, Fault{At: k + 1, Errno: syscall.EDQUOT})
		if k < 6 && (trace.Status.ExitStatus() != 1 || !strings.Contains(stderr, "disk quota exceeded")) {
			t.Errorf("when %v fails the program ends with %+v and says %q", call, trace.Status, stderr)
		}
		if got := content(t, filepath.Join(dir, "file")); (got != "") != (k > 5) {
			t.Errorf("when %v fails the file is %q", call, got)
		}
	}
}

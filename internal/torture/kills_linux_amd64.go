package torture

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// Case is a command that writes files.
type Case struct {
	Program
	Name string
	// Begin is a directory with the command's inputs, copied for each trial. If it is empty, there
	// are no inputs.
	Begin string
	Args  []string
	// Resume, if not empty, holds the arguments with which the program resumes what the command had
	// planned. The program may refuse until there is a new file named Planned.
	Resume  []string
	Planned string
	// Litters reports that a kill may leave unfinished files, hidden or named *.tmp, that no later
	// command removes.
	Litters bool
	// Settled is the directory of a run that is finished from the start, or "": the command would
	// lock it, but need not write there.
	Settled string
}

// uninterrupted records what a command does without a fault.
type uninterrupted struct {
	trace    *Trace
	printed  string
	files    map[string]string          // at the end, as Same returns them
	versions map[string]map[string]bool // all contents of each file over time
	first    map[string]string          // files present at the start
	constant []string                   // files of first that always exist
}

// Try runs the command once without faults, and then with faults: kills and failures at every call
// that changes a file, and kills at random calls of any kind. Without -torture, it tries only one
// of these faults, drawn from a fixed seed.
func (c Case) Try(t *testing.T, moments int) {
	u := c.observe(t)
	draw := drawing(c.Name)
	type trial struct {
		name  string
		fault Fault
	}
	var trials []trial
	for i, call := range u.trace.Calls {
		k := i + 1
		trials = append(trials, trial{fmt.Sprintf("kill-%d", k), Fault{At: k}})
		errno := errnos[draw.IntN(len(errnos))]
		trials = append(trials, trial{fmt.Sprintf("fail-%d-%s", k, errno.name), Fault{At: k, Errno: errno.number}})
		errno = errnos[draw.IntN(len(errnos))]
		trials = append(trials, trial{fmt.Sprintf("fail-onward-%d-%s", k, errno.name), Fault{At: k, Errno: errno.number, Onward: true}})
		if call.Size > 1 {
			trials = append(trials, trial{fmt.Sprintf("tear-%d", k), Fault{At: k, Torn: true}})
			trials = append(trials, trial{fmt.Sprintf("tear-onward-%d-ENOSPC", k), Fault{At: k, Torn: true, Errno: syscall.ENOSPC, Onward: true}})
		}
	}
	for i := range moments {
		trials = append(trials, trial{fmt.Sprintf("moment-%d", i+1), Fault{At: 1 + int(draw.Float64()*float64(u.trace.All)), Any: true}})
	}
	if !*All {
		n := draw.IntN(len(trials))
		trials = trials[n : n+1]
	}
	for _, trial := range trials {
		t.Run(trial.name, func(t *testing.T) {
			t.Parallel()
			repeatable(t)
			if trial.fault.Errno == 0 {
				c.killed(t, u, trial.fault)
			} else {
				c.failed(t, u, trial.fault)
			}
		})
	}
}

// errnos are the errors of file systems that are full, broken or read-only.
var errnos = []struct {
	name   string
	number syscall.Errno
}{{"ENOSPC", syscall.ENOSPC}, {"EIO", syscall.EIO}, {"EDQUOT", syscall.EDQUOT}, {"EROFS", syscall.EROFS}}

// observe runs the command without faults, and reads its files before each change.
func (c Case) observe(t *testing.T) *uninterrupted {
	t.Helper()
	dir := c.begin(t, c.Begin)
	u := &uninterrupted{versions: map[string]map[string]bool{}}
	look := func(Call) {
		files := c.files(t, dir)
		if u.first == nil {
			u.first, u.constant = files, slices.Collect(maps.Keys(files))
		}
		u.constant = slices.DeleteFunc(u.constant, func(path string) bool { _, there := files[path]; return !there })
		for path, content := range files {
			if u.versions[path] == nil {
				u.versions[path] = map[string]bool{}
			}
			u.versions[path][content] = true
		}
		u.files = files
	}
	var result result
	result, u.trace = c.traced(t, dir, Tracer{Before: look})
	look(Call{})
	if result.code != 0 || len(u.trace.Calls) == 0 {
		t.Fatalf("%s ended with %d after %d changes and said %q", strings.Join(c.Args, " "), result.code, len(u.trace.Calls), result.stderr)
	}
	u.printed = result.stdout
	return u
}

// killed kills the command, and then lets the resuming command and the command itself finish.
func (c Case) killed(t *testing.T, u *uninterrupted, f Fault) {
	dir := c.begin(t, c.Begin)
	_, trace := c.traced(t, dir, Tracer{Fault: f})
	switch killed := trace.Status.Signaled() && trace.Status.Signal() == syscall.SIGKILL; {
	case killed:
		Count(f.killing(), c.Name)
	case f.Any: // the number of system calls varies
	default:
		t.Fatalf("the program was not killed: %v", trace.Calls)
	}
	c.checkWhole(t, u, dir)
	c.checkGoesOn(t, u, dir, c.Litters)
}

func (f Fault) killing() string {
	switch {
	case f.Any:
		return "killed at any system call"
	case f.Torn:
		return "killed within a write"
	}
	return "killed before a change"
}

// failed makes a call of the command fail, and requires an error that names the failure.
func (c Case) failed(t *testing.T, u *uninterrupted, f Fault) {
	dir := c.begin(t, c.Begin)
	result, trace := c.traced(t, dir, Tracer{Fault: f})
	if !trace.Struck {
		t.Fatalf("no call has failed: %v", trace.Calls)
	}
	Count("failed with "+f.Errno.Error(), c.Name)
	at := f.At
	if f.Torn {
		at++
	}
	call := trace.Calls[at-1]
	tidying := call.Name == "unlinkat" // may fail without harm
	needless := renewing(trace.Calls[:at-1], call.Path) || c.Settled != "" && filepath.Dir(call.Path) == c.Settled
	switch {
	case tidying, needless && (!f.Onward || result.code != 0):
	case result.code == 0:
		t.Errorf("%v failed (%v), but the program succeeded", call, f.Errno)
	case !strings.Contains(result.stderr, f.Errno.Error()) || !strings.Contains(result.stderr, stem(call.Path)):
		t.Errorf("%v failed (%v), and the program said only %q", call, f.Errno, result.stderr)
	case !f.Onward:
		for path := range c.allFiles(t, dir) {
			if isAside(path) && filepath.Ext(path) != ".part" { // the next attempt resumes from it
				t.Errorf("%v failed (%v) and %s was left", call, f.Errno, path)
			}
		}
	}
	c.checkWhole(t, u, dir)
	c.checkGoesOn(t, u, dir, c.Litters && (f.Onward || tidying))
}

// renewing reports whether a call on a path renews a lease that earlier calls took: a lease that
// cannot be renewed is renewed later or lost, which writers notice.
func renewing(before []Call, path string) bool {
	dir, name := filepath.Split(path)
	if !strings.HasPrefix(name, ".lease") {
		return false
	}
	held := false
	for _, call := range before {
		if call.Path == dir+".lease" {
			held = call.Name != "unlinkat"
		}
	}
	return held
}

// aside matches the additional part of the names of unfinished files.
var aside = regexp.MustCompile(`^\.|[.-][0-9]+(\.tmp)?$`)

// stem returns the final name of a possibly unfinished file, or "" for the directory itself.
func stem(path string) string { return aside.ReplaceAllString(filepath.Base(path), "") }

// checkWhole checks that each finished file has one of its expected contents.
func (c Case) checkWhole(t *testing.T, u *uninterrupted, dir string) {
	t.Helper()
	files := c.files(t, dir)
	for _, path := range u.constant {
		if _, there := files[path]; !there {
			t.Errorf("%s is lost", path)
		}
	}
	for path, content := range files {
		if !u.versions[path][content] && !torn(path, content, u.versions[path]) {
			t.Errorf("%s is not whole: %.2000q", path, content)
		}
	}
}

// torn reports whether lines are the beginning of appended lines.
func torn(path, content string, versions map[string]bool) bool {
	if filepath.Ext(path) != ".jsonl" {
		return false
	}
	content = content[:strings.LastIndexByte(content, '\n')+1]
	return slices.ContainsFunc(slices.Collect(maps.Keys(versions)), func(v string) bool { return strings.HasPrefix(v, content) })
}

// checkGoesOn runs the resuming command, and then the command itself, which must end as if it had
// not been interrupted.
func (c Case) checkGoesOn(t *testing.T, u *uninterrupted, dir string, litters bool) {
	t.Helper()
	if len(c.Resume) > 0 {
		planned := slices.ContainsFunc(slices.Collect(maps.Keys(c.files(t, dir))), func(path string) bool {
			_, found := u.first[path]
			return !found && filepath.Base(path) == c.Planned
		})
		result := c.run(t, dir, c.Resume)
		switch {
		case result.code == 0:
			c.checkEnd(t, u, dir, result, litters)
		case planned:
			t.Errorf("%s ended with %d and said %q", strings.Join(c.Resume, " "), result.code, result.stderr)
		}
	}
	result := c.run(t, dir, c.Args)
	if result.code != 0 {
		t.Errorf("%s, run again, ended with %d and said %q", strings.Join(c.Args, " "), result.code, result.stderr)
		return
	}
	c.checkEnd(t, u, dir, result, litters)
}

// checkEnd compares the files and the output at the end with an uninterrupted command's.
func (c Case) checkEnd(t *testing.T, u *uninterrupted, dir string, r result, litters bool) {
	t.Helper()
	if r.stdout != u.printed {
		t.Errorf("the program printed %q, want %q", r.stdout, u.printed)
	}
	files := c.allFiles(t, dir)
	for path, want := range u.files {
		got, there := files[path]
		switch {
		case !there:
			t.Errorf("there is no %s", path)
		case got != want:
			t.Errorf("%s is %.2000q, want %.2000q", path, got, want)
		}
	}
	for path := range files {
		if _, wanted := u.files[path]; !wanted && !(litters && isAside(path)) {
			t.Errorf("%s was left", path)
		}
	}
}

func (c Case) traced(t *testing.T, dir string, tracer Tracer) (result, *Trace) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	program := c.Start(c.Args...)
	program.Dir, program.Stdout, program.Stderr = dir, &stdout, &stderr
	tracer.Dir = dir
	trace, err := tracer.Run(program)
	if err != nil {
		t.Fatal(err)
	}
	return c.result(t, dir, trace.Status.ExitStatus(), &trace.Usage, &stdout, &stderr), trace
}

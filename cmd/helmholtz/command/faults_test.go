//go:build unix

package command

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// allTrials asks for all trials; by default tests make only a few.
var allTrials = flag.Bool("torture", false, "try every change of a file and many inputs, which takes long")

// drawing returns a generator that depends only on a name.
func drawing(name string) *rand.Rand {
	hash := fnv.New64a()
	hash.Write([]byte(name)) // never fails
	return rand.New(rand.NewPCG(1, hash.Sum64()))
}

// repeatable makes a failing trial print how to repeat it.
func repeatable(t *testing.T) {
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("to repeat this trial: go test -torture -run '^%s$'", strings.ReplaceAll(t.Name(), "/", "$/^"))
		}
	})
}

// A fault strikes a program at a change of a file in its folder, counted from 1.
type fault struct {
	at     int
	errno  syscall.Errno // the error of the change, or 0 to kill the program before it
	onward bool          // whether all later changes fail as well
	torn   bool          // whether half of the bytes are written, if the change is a write
}

// faultVariable has the fault of a program that a test starts, as its fields, and the folder where the program records its
// changes in the file changes, and in an observed program, which has no fault, what its files were before each.
const faultVariable, recordVariable = "HELMHOLTZ_TEST_FAULT", "HELMHOLTZ_TEST_RECORD"

// sufferFaults makes this program suffer the fault that its environment describes.
func sufferFaults() {
	record := os.Getenv(recordVariable)
	if record == "" {
		return
	}
	var f fault
	_, err := fmt.Sscan(os.Getenv(faultVariable), &f.at, &f.errno, &f.onward, &f.torn)
	here, failure := os.Getwd()
	changes, unopened := os.Create(filepath.Join(record, "changes"))
	if err := errors.Join(err, failure, unopened); err != nil {
		panic(err)
	}
	n, lock := 0, sync.Mutex{}
	file.Before = func(c file.Change) error {
		path, err := filepath.Abs(c.Path)
		if err == nil {
			path, err = filepath.Rel(here, path)
		}
		if err != nil || path == ".." || strings.HasPrefix(path, "../") {
			return err
		}
		lock.Lock()
		defer lock.Unlock()
		n++
		fmt.Fprintln(changes, c.Call, len(c.Text), path)
		switch {
		case f.at == 0:
			snapshot(filepath.Join(record, fmt.Sprint(n)))
			return nil
		case n < f.at || n > f.at && !f.onward:
			return nil
		case n == f.at && f.torn && len(c.Text) > 1:
			if _, err := c.File.Write(c.Text[:len(c.Text)/2]); err != nil {
				return err
			}
		}
		if f.errno == 0 {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {} // until the signal arrives
		}
		return &fs.PathError{Op: c.Call, Path: c.Path, Err: f.errno}
	}
}

// snapshot copies the finished files of the current folder. Other goroutines may rename or remove files meanwhile.
func snapshot(to string) {
	_ = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || isAside(path) {
			return nil
		}
		if content, err := os.ReadFile(path); err == nil {
			copied := filepath.Join(to, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(copied), 0o755), os.WriteFile(copied, content, 0o644)); err != nil {
				panic(err)
			}
		}
		return nil
	})
}

func isAside(path string) bool {
	name := filepath.Base(path)
	return strings.HasSuffix(name, ".tmp") || strings.HasPrefix(name, ".") && name != ".lock"
}

// copied returns a new folder with the files of another, which may be "".
func copied(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	if from != "" {
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// filesOf reads the files in a folder, as alike returns them, and describes irregular and large ones.
func filesOf(t *testing.T, dir string) map[string]string {
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
		name, _ := filepath.Rel(dir, path)                    // path is within
		if !info.Mode().IsRegular() || info.Size() > 64<<20 { // damage can make files larger
			files[name] = fmt.Sprint(info.Mode(), info.Size())
			return nil
		}
		content, err := os.ReadFile(path)
		files[name] = alike(name, bytes.ReplaceAll(content, []byte(dir), nil))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func finishedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := filesOf(t, dir)
	maps.DeleteFunc(files, func(path, _ string) bool { return isAside(path) })
	return files
}

type ended struct {
	code           int // -1 if it was killed
	stdout, stderr string
	took           time.Duration
	changes        []change
}

type change struct {
	call, path string
	size       int
}

// runIn runs the program in a folder. It adds variables to the environment, and kills the program after a time, if it is
// not 0.
func runIn(t *testing.T, dir string, args []string, kill time.Duration, variables ...string) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := tortured(t, args...)
	c.Dir, c.Stdout, c.Stderr, c.Env = dir, &stdout, &stderr, append(c.Env, variables...)
	start := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if kill > 0 {
		defer time.AfterFunc(kill, func() { _ = c.Process.Kill() }).Stop()
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if strings.Contains(stderr.String(), "goroutine ") {
		t.Errorf("the program crashed: %.2000s", &stderr)
	}
	printed := duration.ReplaceAllString(strings.ReplaceAll(stdout.String(), dir, ""), "")
	return ended{c.ProcessState.ExitCode(), seconds.ReplaceAllString(printed, ""), stderr.String(), time.Since(start), nil}
}

// suffer runs the program in a folder under a fault, and returns also the folder with its record.
func suffer(t *testing.T, dir string, args []string, f fault) (e ended, record string) {
	t.Helper()
	record = t.TempDir()
	e = runIn(t, dir, args, 0, recordVariable+"="+record, fmt.Sprintf("%s=%d %d %v %v", faultVariable, f.at, int(f.errno), f.onward, f.torn))
	text, err := os.ReadFile(filepath.Join(record, "changes"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c change
		if _, err := fmt.Sscan(line, &c.call, &c.size, &c.path); err != nil {
			t.Fatal(err)
		}
		e.changes = append(e.changes, c)
	}
	return e, record
}

// A faultCase is a command that writes files.
type faultCase struct {
	name, begin string // begin is a folder with the command's inputs, or ""
	args        []string
	resume      []string // the command that resumes what this one had planned, once there is a new experiment.toml; or empty
	litters     bool     // whether a kill may leave unfinished files that no later command removes
	settled     string   // a run that is finished from the start, which the command need not lock, or ""
}

// uninterrupted is what a command does without a fault.
type uninterrupted struct {
	ended
	files    map[string]string          // at the end
	versions map[string]map[string]bool // all contents of each file over time
	first    map[string]string          // files at the start
	constant []string                   // files of first that always exist
}

// try runs the command without faults, and then with faults: kills and failures at every change, and kills at random
// times. Without -torture, it tries only one of these, drawn from a fixed seed.
func (c faultCase) try(t *testing.T, moments int) {
	u := c.observe(t)
	draw := drawing(c.name)
	trials := map[string]func(t *testing.T){}
	add := func(name string, f fault) {
		trials[name] = func(t *testing.T) { c.suffer(t, u, f) }
	}
	errnos := map[string]syscall.Errno{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "EDQUOT": syscall.EDQUOT, "EROFS": syscall.EROFS}
	failures := slices.Sorted(maps.Keys(errnos))
	for i, change := range u.changes {
		at := i + 1
		add(fmt.Sprintf("kill-%d", at), fault{at: at})
		for _, onward := range []bool{false, true} {
			errno := failures[draw.IntN(len(failures))]
			add(fmt.Sprintf("fail-%d-%s-%v", at, errno, onward), fault{at: at, errno: errnos[errno], onward: onward})
		}
		if change.size > 1 {
			add(fmt.Sprintf("tear-%d", at), fault{at: at, torn: true})
			add(fmt.Sprintf("tear-%d-ENOSPC", at), fault{at: at, torn: true, errno: syscall.ENOSPC, onward: true})
		}
	}
	for i := range moments {
		after := 1 + time.Duration(draw.Float64()*float64(u.took))
		trials[fmt.Sprintf("moment-%d", i+1)] = func(t *testing.T) {
			dir := copied(t, c.begin)
			runIn(t, dir, c.args, after)
			c.check(t, u, dir, c.litters)
		}
	}
	names := slices.Sorted(maps.Keys(trials))
	if !*allTrials {
		n := draw.IntN(len(names))
		names = names[n : n+1]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			repeatable(t)
			trials[name](t)
		})
	}
}

// observe runs the command without faults.
func (c faultCase) observe(t *testing.T) *uninterrupted {
	t.Helper()
	dir := copied(t, c.begin)
	u := &uninterrupted{first: finishedFiles(t, dir), versions: map[string]map[string]bool{}}
	u.constant = slices.Collect(maps.Keys(u.first))
	var record string
	u.ended, record = suffer(t, dir, c.args, fault{})
	if u.code != 0 || len(u.changes) == 0 {
		t.Fatalf("%s ended with %d after %d changes and said %q", strings.Join(c.args, " "), u.code, len(u.changes), u.stderr)
	}
	u.files = finishedFiles(t, dir)
	look := func(files map[string]string) {
		u.constant = slices.DeleteFunc(u.constant, func(path string) bool { _, there := files[path]; return !there })
		for path, content := range files {
			if u.versions[path] == nil {
				u.versions[path] = map[string]bool{}
			}
			u.versions[path][content] = true
		}
	}
	look(u.files)
	for i := range u.changes {
		at := filepath.Join(record, fmt.Sprint(i+1))
		if err := os.MkdirAll(at, 0o755); err != nil { // if there was no file
			t.Fatal(err)
		}
		files := finishedFiles(t, at)
		for path, content := range files {
			files[path] = strings.ReplaceAll(content, dir, "")
		}
		look(files)
	}
	return u
}

// suffer lets the command suffer a fault: it must name a failed change. Then the resuming command and the command itself
// must finish.
func (c faultCase) suffer(t *testing.T, u *uninterrupted, f fault) {
	dir := copied(t, c.begin)
	e, _ := suffer(t, dir, c.args, f)
	if len(e.changes) < f.at {
		t.Fatalf("the fault did not strike: %v", e.changes)
	}
	at := e.changes[f.at-1]
	if f.errno == 0 {
		if e.code != -1 {
			t.Fatalf("the program was not killed at %v", at)
		}
		c.check(t, u, dir, c.litters)
		return
	}
	tidying := at.call == "remove" // may fail without harm
	needless := renewing(e.changes[:f.at-1], at.path) || c.settled != "" && filepath.Dir(at.path) == c.settled
	switch {
	case tidying, needless && (!f.onward || e.code != 0):
	case e.code == 0:
		t.Errorf("%v failed (%v), but the program succeeded", at, f.errno)
	case !strings.Contains(e.stderr, f.errno.Error()) || !strings.Contains(e.stderr, stem(at.path)):
		t.Errorf("%v failed (%v), and the program said only %q", at, f.errno, e.stderr)
	case !f.onward:
		for path := range filesOf(t, dir) {
			if isAside(path) {
				t.Errorf("%v failed (%v) and %s was left", at, f.errno, path)
			}
		}
	}
	c.check(t, u, dir, c.litters && (f.onward || tidying))
}

// renewing reports whether a change of a path renews a lease that earlier changes took: a lease that cannot be renewed is
// renewed later or lost, which writers notice.
func renewing(before []change, path string) bool {
	dir, name := filepath.Split(path)
	if !strings.HasPrefix(name, ".lease") {
		return false
	}
	held := false
	for _, c := range before {
		if c.path == dir+".lease" {
			held = c.call != "remove"
		}
	}
	return held
}

// aside matches the additional part of the names of unfinished files.
var aside = regexp.MustCompile(`^\.|[.-][0-9]+(\.tmp)?$`)

// stem returns the final name of a possibly unfinished file, or "" for the folder itself.
func stem(path string) string { return aside.ReplaceAllString(filepath.Base(path), "") }

// check requires that each finished file has one of its expected contents, and that the resuming command and the command
// end as if it had not been interrupted.
func (c faultCase) check(t *testing.T, u *uninterrupted, dir string, litters bool) {
	t.Helper()
	files := finishedFiles(t, dir)
	for _, path := range u.constant {
		if _, there := files[path]; !there {
			t.Errorf("%s is lost", path)
		}
	}
	planned := false
	for path, content := range files {
		if !u.versions[path][content] && !torn(path, content, u.versions[path]) {
			t.Errorf("%s is not whole: %.2000q", path, content)
		}
		if _, before := u.first[path]; !before && filepath.Base(path) == "experiment.toml" {
			planned = true
		}
	}
	if len(c.resume) > 0 {
		if e := runIn(t, dir, c.resume, 0); e.code == 0 {
			checkEnd(t, u, dir, e, litters)
		} else if planned {
			t.Errorf("%s ended with %d and said %q", strings.Join(c.resume, " "), e.code, e.stderr)
		}
	}
	e := runIn(t, dir, c.args, 0)
	if e.code != 0 {
		t.Errorf("%s, run again, ended with %d and said %q", strings.Join(c.args, " "), e.code, e.stderr)
		return
	}
	checkEnd(t, u, dir, e, litters)
}

// torn reports whether lines are the beginning of appended lines.
func torn(path, content string, versions map[string]bool) bool {
	if filepath.Ext(path) != ".jsonl" {
		return false
	}
	content = content[:strings.LastIndexByte(content, '\n')+1]
	return slices.ContainsFunc(slices.Collect(maps.Keys(versions)), func(v string) bool { return strings.HasPrefix(v, content) })
}

// checkEnd compares the files and the output with those of an uninterrupted command.
func checkEnd(t *testing.T, u *uninterrupted, dir string, e ended, litters bool) {
	t.Helper()
	if e.stdout != u.stdout {
		t.Errorf("the program printed %q, want %q", e.stdout, u.stdout)
	}
	files := filesOf(t, dir)
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

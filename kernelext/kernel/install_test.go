//go:build unix

package kernel

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
)

// pretend makes a folder with programs and a module.
func pretend(t *testing.T) Tools {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go", "gonb", "goimports", "gopls"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module "+module+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return Tools{filepath.Join(dir, "go"), filepath.Join(dir, "gonb"), filepath.Join(dir, "goimports"), filepath.Join(dir, "gopls"), dir}
}

func TestInstallListRemove(t *testing.T) {
	tools, folder := pretend(t), t.TempDir()
	if got := Registered(folder); len(got) != 0 {
		t.Errorf("registered in %v before Install", got)
	}
	for range 2 { // an installation replaces the one before
		if _, err := Install(folder, tools); err != nil {
			t.Fatal(err)
		}
	}
	want := filepath.Join(folder, "kernels", "helmholtz")
	if got := Registered(folder); !slices.Equal(got, []string{want}) {
		t.Errorf("registered in %v", got)
	}
	b, err := os.ReadFile(filepath.Join(want, "kernel.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s spec
	if err := json.Unmarshal(b, &s); err != nil {
		t.Fatal(err)
	}
	if s.DisplayName != "Go (Helmholtz)" || s.Language != "go" || s.InterruptMode != "message" {
		t.Errorf("%+v", s)
	}
	for _, path := range []string{tools.Go, tools.GoNB, tools.GoImports, tools.GoPLS, tools.Module, "{connection_file}"} {
		if !slices.Contains(s.Argv, path) {
			t.Errorf("the command line lacks %s: %v", path, s.Argv)
		}
	}
	if was, err := Remove(folder); err != nil || !was {
		t.Errorf("Remove: %v, %v", was, err)
	}
	if was, err := Remove(folder); err != nil || was {
		t.Errorf("Remove again: %v, %v", was, err)
	}
}

// Jupyter also looks for kernels in JUPYTER_PATH, and there first. A folder that is named twice is
// listed once.
func TestFoldersOfJupyterPath(t *testing.T) {
	t.Setenv("JUPYTER_PATH", "/a:/b/:/c/../b::/c")
	t.Setenv("JUPYTER_DATA_DIR", "/c")
	if got, want := Folders(), []string{"/a", "/b", "/c", "/usr/local/share/jupyter", "/usr/share/jupyter"}; !slices.Equal(got, want) {
		t.Errorf("%v, not %v", got, want)
	}
}

func TestFindNamesTheRemedy(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Tools)
		want  string
	}{
		{func(t *Tools) { t.Go += "x" }, "--go"},
		{func(t *Tools) { t.GoNB += "x" }, "--gonb"},
		{func(t *Tools) { t.GoPLS = t.Module }, "--gopls"},
		{func(t *Tools) { t.Module = filepath.Dir(t.Module) }, "--module"},
	} {
		tools := pretend(t)
		if _, err := Find(tools); err != nil {
			t.Fatal(err)
		}
		c.spoil(&tools)
		if _, err := Find(tools); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v does not name %s", err, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	tools := pretend(t)
	tools.GoNB = ""
	if err := os.Remove(filepath.Join(tools.Module, "gonb")); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(tools); err == nil || !strings.Contains(err.Error(), "go install github.com/janpfeifer/gonb") {
		t.Errorf("error %v does not say how gonb is installed", err)
	}
}

func TestEnvironment(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", "/usr/bin")
	t.Setenv("GOWORK", "off")
	t.Setenv(session.Environment, "/old")
	env := filepath.Join(t.TempDir(), "env")
	t.Setenv("GOENV", env)
	for _, c := range []struct{ file, flags, want string }{
		{"", "-mod=mod -tags=cuda --mod=vendor", "-mod=readonly -tags=cuda"},
		{"GOFLAGS=-mod=mod -tags=cuda\n", "", "-mod=readonly -tags=cuda"},
		{"GOFLAGS=-mod=mod\n", "-tags=cuda", "-mod=readonly -tags=cuda"},
		{"", "", "-mod=readonly"},
	} {
		if err := os.WriteFile(env, []byte(c.file), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GOFLAGS", c.flags)
		var got []string
		for _, setting := range environment(Tools{Go: path, GoNB: "/b/gonb", GoImports: "/c/goimports", GoPLS: "/d/gopls"}) {
			switch name, _, _ := strings.Cut(setting, "="); name {
			case "GOFLAGS", "GOWORK", "PATH", "TMPDIR", "GOENV", session.Environment:
				got = append(got, setting)
			}
		}
		want := []string{"GOENV=" + env, "GOFLAGS=" + c.want, "PATH=" + filepath.Dir(path) + ":/d:/b:/c:/usr/bin"}
		if !slices.Equal(got, want) {
			t.Errorf("with GOFLAGS=%s and the file %q: %v, not %v", c.flags, c.file, got, want)
		}
	}
}

// A cell is built in its workspace, whatever go env -w has set.
func TestGoEnvWDoesNotReachCells(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	env, root := filepath.Join(t.TempDir(), "env"), t.TempDir()
	if err := errors.Join(os.WriteFile(env, []byte("GOFLAGS=-mod=mod\nGOWORK=off\n"), 0o600),
		os.WriteFile(filepath.Join(root, "go.mod"), []byte("module "+module+"\n\ngo 1.26.0\n"), 0o600),
		os.WriteFile(filepath.Join(root, "library.go"), []byte("package helmholtz\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOENV", env)
	t.Setenv("GOFLAGS", "")
	t.Setenv("GOPROXY", "off")
	script, err := frugalGo(t.TempDir(), t.TempDir(), Tools{Go: path, Module: root})
	if err != nil {
		t.Fatal(err)
	}
	tools, dir := Tools{Go: path, Module: root}, t.TempDir()
	if err := cell(tools, dir, module); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(script, "build", "-o", os.DevNull, ".")
	c.Dir, c.Env = dir, environment(tools)
	if said, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
}

func TestSweepRemovesWhatTheDeadLeft(t *testing.T) {
	folder := t.TempDir()
	dead, held, err := newDirectory(folder)
	if err != nil {
		t.Fatal(err)
	}
	held.Release()
	lives, held, err := newDirectory(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release()
	other := filepath.Join(folder, "other")
	for _, dir := range []string{dead, lives, other} {
		if err := os.MkdirAll(filepath.Join(dir, "tmp"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	sweep(folder)
	left, err := filepath.Glob(filepath.Join(folder, "*", "tmp"))
	if want := []string{filepath.Join(lives, "tmp"), filepath.Join(other, "tmp")}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %v (%v), want %v", left, err, want)
	}
}

// A kernel that starts touches nothing that other users have named like what it clears away.
func TestSweepTouchesNothingOfOthers(t *testing.T) {
	folder, target := t.TempDir(), t.TempDir()
	link := filepath.Join(folder, prefix+"9-x")
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(folder, prefix+"8-x")
	if err := os.Mkdir(theirs, 0o777); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if os.Geteuid() == 0 { // only root can give a directory away
		if err := os.Chown(theirs, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	sweep(folder)
	for _, dir := range []string{target, link} {
		if inside, err := os.ReadDir(dir); err != nil || len(inside) > 0 {
			t.Errorf("in %s there are %v: %v", dir, inside, err)
		}
	}
	if _, err := os.Stat(theirs); os.Geteuid() == 0 && err != nil {
		t.Errorf("the directory of another user: %v", err)
	}
}

// TestAKernelEndsWithItsJupyter runs this test in a child of a shell that takes the place of Jupyter.
func TestAKernelEndsWithItsJupyter(t *testing.T) {
	const inChild = "HELMHOLTZ_TEST_CHILD"
	if os.Getenv(inChild) != "" {
		fmt.Println("runs")
		endWithParent(t.Context(), func() { fmt.Println("ends") })
		return
	}
	jupyter := exec.Command("sh", "-c", `JPY_PARENT_PID=$$ "$0" -test.run "^$1\$" & wait`, os.Args[0], t.Name())
	jupyter.Env = append(os.Environ(), inChild+"=1")
	says, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer says.Close()
	jupyter.Stdout = theirs
	if err := errors.Join(jupyter.Start(), theirs.Close(), says.SetReadDeadline(time.Now().Add(time.Minute))); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(says); lines.Scan(); {
		switch lines.Text() {
		case "runs":
			time.Sleep(200 * time.Millisecond) // the child looks who its parent is
			if err := jupyter.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = jupyter.Wait()
		case "ends":
			return
		}
	}
	t.Error("the kernel does not end")
}

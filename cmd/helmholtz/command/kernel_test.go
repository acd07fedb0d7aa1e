//go:build unix

package command

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/kernelext/kernel"
)

// kernelCommand runs helmholtz kernel with arguments.
func kernelCommand(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	c := newKernel()
	c.SetOut(&b)
	c.SetErr(&b)
	c.SetArgs(args)
	err = c.ExecuteContext(t.Context())
	return b.String(), err
}

func TestKernelInstallListRemove(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	tool := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	where := filepath.Join(prefix, "share", "jupyter", "kernels", "helmholtz")
	install := []string{"install", "--prefix", prefix, "--gonb", tool, "--goimports", tool, "--gopls", tool, "--module", root}

	if out, err := kernelCommand(t, install...); err != nil || !strings.Contains(out, where) {
		t.Fatalf("install: %q, %v", out, err)
	}
	if out, err := kernelCommand(t, "list", "--prefix", prefix); err != nil || out != where+"\n" {
		t.Errorf("list: %q, %v", out, err)
	}
	if out, err := kernelCommand(t, "list", "--prefix", prefix+"x"); err != nil || !strings.Contains(out, "not registered in "+prefix+"x/share/jupyter: ") {
		t.Errorf("list without a registration: %q, %v", out, err)
	}
	if out, err := kernelCommand(t, "remove", "--prefix", prefix); err != nil || !strings.Contains(out, "removed") {
		t.Errorf("remove: %q, %v", out, err)
	}
	if _, err := kernelCommand(t, "remove", "--prefix", prefix); err == nil || !strings.Contains(err.Error(), "not registered") {
		t.Errorf("remove again: %v", err)
	}
	if _, err := kernelCommand(t, append(install, "--gonb", tool+"x")...); err == nil || !strings.Contains(err.Error(), "--gonb") {
		t.Errorf("install without gonb: %v", err)
	}
}

func TestKernelInstallForTheUser(t *testing.T) {
	// The go command leaves a process that writes into its configuration later.
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_CONFIG_HOME", config)
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_DATA_HOME", filepath.Join(home, "data"))
	t.Setenv("JUPYTER_DATA_DIR", "")
	folder, err := kernel.UserFolder()
	if err != nil || !strings.HasPrefix(folder, home) {
		t.Fatalf("the folder of the user is %s, %v", folder, err)
	}
	tool := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := kernelCommand(t, "install", "--gonb", tool, "--goimports", tool, "--gopls", tool, "--module", "../../.."); err != nil {
		t.Fatal(err)
	}
	where := filepath.Join(folder, "kernels", "helmholtz")
	if out, err := kernelCommand(t, "list"); err != nil || !strings.Contains(out, where) {
		t.Errorf("list: %q, %v", out, err)
	}
	if found := localEnvironment().kernels(); !slices.Contains(found, filepath.Join(where, "kernel.json")) {
		t.Errorf("doctor finds %v", found)
	}
}

// TestAProgramOfGoRunIsNotRegistered runs it twice: the first program may be in a temporary folder,
// the second is in Go's cache.
func TestAProgramOfGoRunIsNotRegistered(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the program twice, for seconds, which -short is to save")
	}
	tool := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	prefix := t.TempDir()
	for range 2 {
		c := exec.CommandContext(t.Context(), "go", "run", "..", "kernel", "install", "--prefix", prefix, "--gonb", tool, "--goimports", tool, "--gopls", tool, "--module", "../../..")
		if out, err := c.CombinedOutput(); err == nil || !strings.Contains(string(out), "go build -o build/bin/helmholtz ./cmd/helmholtz") {
			t.Errorf("%v: %s", err, out)
		}
	}
	if found := kernel.Registered(filepath.Join(prefix, "share", "jupyter")); len(found) > 0 {
		t.Errorf("registered in %v", found)
	}
}

func TestKernelRunNeedsItsConnectionFile(t *testing.T) {
	if _, err := kernelCommand(t, "run"); err == nil {
		t.Error("a kernel runs without a connection file")
	}
}

func TestDoctorLooksWhereInstallDoes(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "some-tool")
	if err := os.WriteFile(path, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOBIN", folder)
	if found, err := localEnvironment().look("some-tool"); found != path {
		t.Errorf("found %q, %v", found, err)
	}
}

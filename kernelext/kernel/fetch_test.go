//go:build unix

package kernel

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// From an empty module cache on, cells need no network once their modules are fetched. The
// machine's own cache, after a fetch that completes it, is the network.
func TestCellsNeedNoNetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("it unpacks all modules, which takes seconds that -short is to save")
	}
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	tools := Tools{Go: path, Module: root}
	if err := Fetch(tools); err != nil {
		t.Fatal(err)
	}
	network := "file://" + filepath.ToSlash(filepath.Join(goValue(path, "GOMODCACHE"), "cache", "download"))
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw") // for the folder to be removed
	t.Setenv("GONOSUMDB", "*")         // which is not in that cache
	imported := []string{module + "/kernelext", module + "/plotting", "github.com/janpfeifer/gonb/gonbui"}

	t.Setenv("GOPROXY", "off")
	if err := cell(tools, t.TempDir(), imported...); err == nil {
		t.Fatal("modules come from nowhere")
	}
	t.Setenv("GOPROXY", network)
	if err := Fetch(tools); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOPROXY", "off")
	dir := t.TempDir()
	if err := cell(tools, dir, imported...); err != nil {
		t.Fatal(err)
	}
	if _, err := runGo(tools, dir, "list", "-deps", "."); err != nil {
		t.Error(err)
	}
}

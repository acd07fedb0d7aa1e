//go:build unix

package kernel

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A language server is asked to check a program that imports the library, in the folder of the program.
func TestGoplsIsWarmed(t *testing.T) {
	path, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	temporary, err := os.MkdirTemp("/tmp", "warm-test-") // paths of sockets have to be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temporary) })
	if err := os.Mkdir(filepath.Join(temporary, "gonb_1"), 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(temporary, "gonb_1", "gopls_socket")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	gopls := filepath.Join(temporary, "gopls")
	if err := os.WriteFile(gopls, []byte("#!/bin/sh\necho \"$@\" >../asked\ncat main.go >>../asked\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := warm(t.Context(), Tools{Go: path, GoPLS: gopls, Module: root}, temporary); err != nil {
		t.Fatal(err)
	}
	want := "-remote=unix;" + socket + " check main.go\npackage main\n" + `import _ "github.com/helmholtz-go/helmholtz/hm"
import _ "github.com/helmholtz-go/helmholtz/dataset"
import _ "github.com/helmholtz-go/helmholtz/kernelext"
import _ "github.com/helmholtz-go/helmholtz/plotting"

func main() {}
`
	if got, err := os.ReadFile(filepath.Join(temporary, "asked")); err != nil || string(got) != want {
		t.Errorf("asked was %s, %v", got, err)
	}
}

//go:build unix

package kernel

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
)

// Fetch downloads the modules that cells need, whichever packages of the library they import. It
// fetches more than the library needs to build, because GoNB runs go get before each cell, which
// also reads other modules and checksums. If all modules are present, go get needs no network.
func Fetch(t Tools) error {
	dir, err := os.MkdirTemp("", "helmholtz-fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	packages, err := runGo(t, t.Module, "list", "-f", `{{if ne .Name "main"}}{{.ImportPath}}{{end}}`, "./...")
	if err != nil {
		return err
	}
	return cell(t, dir, strings.Fields(packages)...)
}

const gonb = "github.com/janpfeifer/gonb"

// cell creates in a folder the files that GoNB creates for a cell that imports packages.
func cell(t Tools, dir string, imports ...string) error {
	if err := workspace(t, dir, imports...); err != nil {
		return err
	}
	if _, err := runGo(t, dir, "mod", "edit", "-replace="+module+"="+t.Module); err != nil {
		return err
	}
	_, err := runGo(t, dir, "get")
	return err
}

// workspace creates in a folder a program that imports packages, with the library.
func workspace(t Tools, dir string, imports ...string) error {
	code := "package main\n"
	for _, path := range imports {
		if !strings.Contains(path, "/internal/") {
			code += fmt.Sprintf("import _ %q\n", path)
		}
	}
	code += "\nfunc main() {}\n"
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(code), 0o600); err != nil {
		return err
	}
	for _, arguments := range [][]string{{"mod", "init", "cell"}, {"work", "init", ".", t.Module}} {
		if _, err := runGo(t, dir, arguments...); err != nil {
			return err
		}
	}
	return nil
}

// runGo returns the output of the go command in a folder.
func runGo(t Tools, dir string, arguments ...string) (string, error) {
	c := exec.Command(t.Go, arguments...)
	var said strings.Builder
	c.Dir, c.Env, c.Stderr = dir, append(environment(t), "GOWORK=auto"), &said
	out, err := c.Output()
	if err != nil {
		err = fmt.Errorf("cannot fetch the modules that cells import, which needs a network once: go %s: %w\n%s",
			strings.Join(arguments, " "), err, said.String())
	}
	return string(out), err
}

// frugal is the go command of a kernel. GoNB runs go get before each cell and each completion,
// which takes a fifth of a second. The script skips it while the cells' imports and the
// requirements of the modules in use are the same as at the last success. It builds cells without
// debugging information, which takes a quarter of the time. go get takes no versions from go.work, so a cell
// that imports gonbui requires the library's version of GoNB; go get would ask a proxy for gonbui itself. GOWORK=auto overrides go env -w GOWORK=off.
// The variable is set here and not for gopls, which takes its value for a path.
const frugal = `#!/bin/sh
export GOWORK="${GOWORK:-auto}"
wanted() {
	sed -n '/^import (/,/^)/p; /^import "/p' *.go
	cat go.mod go.sum go.work
	sed -n '/^\(use\)\{0,1\}[[:space:]]\{1,\}\([^()]*\)$/{s//\2/;s/^"\(.*\)"$/\1/;p;}' go.work | while read -r used; do cat "$used/go.mod"; done
} 2>/dev/null
case "$*:$PWD" in
get:CELLS/gonb_*)
	wanted | cmp -s - GOT && exit
	grep -q '"GONB/' *.go && ! grep -q GONB go.mod && TOOL mod edit -require=GONB@VERSION
	TOOL get || exit
	wanted >GOT
	exit 0
	;;
build\ *:CELLS/gonb_*)
	shift
	exec TOOL build -ldflags=-w "$@"
	;;
esac
exec TOOL "$@"
`

// frugalGo writes the go command of a kernel into a folder, for cells whose programs are in
// subfolders of temporary, and returns its path.
func frugalGo(dir, temporary string, t Tools) (string, error) {
	required, err := file.Read(filepath.Join(t.Module, "go.mod"), file.Small)
	if err != nil {
		return "", err
	}
	_, version, _ := strings.Cut(string(required), gonb+" ")
	version, _, _ = strings.Cut(version, "\n")
	return script(dir, "go", frugal, "CELLS", temporary, "GOT", filepath.Join(dir, "go", "got"), "TOOL", t.Go, "'\"GONB/'", `"`+gonb+"/", "GONB@VERSION", gonb+"@"+version, "GONB", gonb)
}

// leashed is the language server of a kernel, which ends with GoNB.
const leashed = `#!/bin/sh
exec SELF kernel leash GOPLS "$@"
`

// script writes a shell program into a new folder of its name and returns its path. words lists words in the text,
// each followed by its replacement.
func script(dir, name, text string, words ...string) (string, error) {
	for i := 1; i < len(words); i += 2 {
		words[i] = shell.Word(words[i])
	}
	dir = filepath.Join(dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	at := filepath.Join(dir, name)
	return at, os.WriteFile(at, []byte(strings.NewReplacer(words...).Replace(text)), 0o700)
}

//go:build unix

package kernel

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The go command of a kernel gets what cells import once, and again when that or what a
// module in use requires has changed, or when it could not be had.
func TestGoGetsWhatChanged(t *testing.T) {
	dir := t.TempDir()
	temporary, library, spaced := filepath.Join(dir, "tem'porary"), filepath.Join(dir, "library"), filepath.Join(dir, "my library")
	cells := filepath.Join(temporary, "gonb_1")
	for _, folder := range []string{cells, library, spaced} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write := func(path, content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	calls := filepath.Join(dir, "calls")
	real := filepath.Join(dir, "real go")
	write(real, "#!/bin/sh\necho \"$*\" >>'"+calls+"'\n[ ! -e '"+dir+"/offline' ]\n")
	write(filepath.Join(library, "go.mod"), "module library\n\nrequire "+gonb+" v0.11.4\n")
	path, err := frugalGo(dir, temporary, Tools{Go: real, Module: library})
	if err != nil {
		t.Fatal(err)
	}
	main := filepath.Join(cells, "main.go")
	write(main, "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() { fmt.Println(1) }\n")
	write(filepath.Join(cells, "go.mod"), "module cell\n")
	write(filepath.Join(cells, "go.work"), "go 1.26.0\n\nuse (\n\t.\n\t"+library+"\n\t\""+spaced+"\"\n)\n")
	write(filepath.Join(library, "go.mod"), "module library\n")

	asked := 0
	for _, step := range []struct {
		what      string
		do        func()
		arguments string
		in        string
		asks      bool
		fails     bool
	}{
		{"the first cell", func() {}, "get", cells, true, false},
		{"the same imports", func() { write(main, "package main\n\nimport (\n\t\"fmt\"\n)\n\nfunc main() { fmt.Println(2) }\n") }, "get", cells, false, false},
		{"another import", func() { write(main, "package main\n\nimport (\n\t\"os\"\n)\n\nfunc main() { os.Exit(2) }\n") }, "get", cells, true, false},
		{"again", func() {}, "get", cells, false, false},
		{"one import, without parentheses", func() { write(main, "package main\n\nimport \"io\"\n\nvar _ = io.EOF\n") }, "get", cells, true, false},
		{"another requirement", func() {
			write(filepath.Join(cells, "go.mod"), "module cell\n\nrequire a v1.0.0\n")
		}, "get", cells, true, false},
		{"another requirement of the library", func() { write(filepath.Join(library, "go.mod"), "module library\n\nrequire a v1.0.0\n") }, "get", cells, true, false},
		{"another requirement of a library in a folder with a space", func() { write(filepath.Join(spaced, "go.mod"), "module spaced\n\nrequire a v1.0.0\n") }, "get", cells, true, false},
		{"a failure", func() { write(dir+"/offline", ""); write(main, "package main\n\nimport \"net\"\n") }, "get", cells, true, true},
		{"after a failure", func() { os.Remove(dir + "/offline") }, "get", cells, true, false},
		{"with a package", func() {}, "get a", cells, true, false},
		{"another command", func() {}, "env GOROOT", cells, true, false},
		{"another folder", func() {}, "get", library, true, false},
		{"a new go.mod", func() { write(filepath.Join(cells, "go.mod"), "module cell\n") }, "get", cells, true, false},
		{"gonbui", func() { write(main, "package main\n\nimport \""+gonb+"/gonbui\"\n") }, "get", cells, true, false},
	} {
		step.do()
		c := exec.Command(path, strings.Fields(step.arguments)...)
		c.Dir = step.in
		if out, err := c.CombinedOutput(); (err != nil) != step.fails {
			t.Errorf("%s: %v\n%s", step.what, err, out)
		}
		if step.asks {
			asked++
		}
		if step.what == "gonbui" {
			asked++ // it first requires the library's GoNB
		}
		all, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		if lines := strings.Split(strings.TrimSpace(string(all)), "\n"); len(lines) != asked || step.asks && lines[asked-1] != step.arguments {
			t.Fatalf("%s: the go command was called with %q, %d times expected", step.what, lines, asked)
		}
	}
	if all, _ := os.ReadFile(calls); !strings.HasSuffix(string(all), "mod edit -require="+gonb+"@v0.11.4\nget\n") {
		t.Errorf("the go command was called with %s", all)
	}
}

package command

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The program of runs/FAMILY.md, in its own module with a copy of the family of notebooks/mixture,
// is the command line with that family.
func TestFamilyFromOutside(t *testing.T) {
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	module := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(module, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page := read("runs/FAMILY.md")
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindStringSubmatch(page)
	if program == nil {
		t.Fatal("FAMILY.md has no program")
	}
	const own = "example.org/you"
	write("main.go", program[1])
	for _, name := range []string{"mixture.go", "family.go"} {
		write("mixture/"+name, read("notebooks/mixture/"+name))
	}
	ours := "github.com/helmholtz-go/helmholtz"
	write("go.mod", strings.Replace(read("go.mod"), "module "+ours+"\n", "module "+own+"\n\nrequire "+ours+" v0.0.0\n\nreplace "+ours+" => "+root+"\n", 1))
	write("go.sum", read("go.sum"))

	build := exec.Command("go", "build", "-mod=mod", "-o", "own", ".")
	build.Dir = module
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(args ...string) string {
		t.Helper()
		c := exec.Command(filepath.Join(module, "own"), args...)
		c.Dir = module
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	// The commands of the page, on data that need no download.
	commands := regexp.MustCompile(`(?m)^    go run \. (.*)$`).FindAllStringSubmatch(page, -1)
	if len(commands) < 6 {
		t.Fatalf("FAMILY.md has %d commands", len(commands))
	}
	write("components.toml", "base = \"runs/mixture/experiment.toml\"\n[grid]\ncomponents = [1, 3]\n")
	for _, command := range commands {
		run(strings.Fields(strings.ReplaceAll(command[1], "--dataset minimnist", "--dataset miniglyphs --subset 200"))...)
	}
	if said := run("train", "mixture", "--help"); !strings.Contains(said, "--components K") {
		t.Errorf("the help is %q", said)
	}
	for _, image := range []string{"means.png", "curves.svg"} {
		if _, err := os.Stat(filepath.Join(module, image)); err != nil {
			t.Error(err)
		}
	}
}

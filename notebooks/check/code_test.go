package check

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/imports"
)

var (
	importing = regexp.MustCompile(`(?ms)^import (?:\(.*?^\)|[^(\n]*$)`)
	mainLine  = regexp.MustCompile(`(?m)^%%.*\n?`)
	special   = regexp.MustCompile(`(?m)^[%!].*$`) // lines for GoNB, its session or a shell
)

// program returns the code of a notebook's cells as one file, with the code that each cell runs in
// a function, and all imports at the top, including the standard library's, which GoNB adds.
func program(n *Notebook) ([]byte, error) {
	var imported, declared, run strings.Builder
	for i, cell := range n.Cells {
		if cell.Type != "code" {
			continue
		}
		source := string(cell.Source)
		for _, of := range importing.FindAllString(source, -1) {
			imported.WriteString(of + "\n")
		}
		parts := mainLine.Split(importing.ReplaceAllString(source, ""), 2)
		fmt.Fprintf(&declared, "// cell %d\n%s\n", i+1, special.ReplaceAllString(parts[0], ""))
		if len(parts) == 2 {
			fmt.Fprintf(&run, "func cell%d() {\n%s\n}\n", i+1, special.ReplaceAllString(parts[1], ""))
		}
	}
	text := "package cells\n" + imported.String() + declared.String() + run.String()
	return imports.Process("", []byte(text), nil)
}

// The cells of every notebook compile with the current library.
func TestCodeOfTheNotebooks(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	build := []string{"build", "-overlay=" + filepath.Join(dir, "overlay.json")}
	for _, folder := range []string{"..", "../course"} {
		for path, notebook := range notebooksIn(t, folder) {
			name := strings.TrimSuffix(filepath.Base(path), ".ipynb")
			if strings.Contains(string(notebook.Cells[1].Source), "!*go get") {
				t.Logf("%s has modules of its own: its cells are not compiled here", path)
				continue
			}
			code, err := program(notebook)
			if err != nil {
				t.Errorf("%s: %v", path, err)
				continue
			}
			file := filepath.Join(dir, name+".go")
			if err := os.WriteFile(file, code, 0o666); err != nil {
				t.Fatal(err)
			}
			overlay.Replace[filepath.Join(root, "notebooks", "code-of-"+name, "main.go")] = file
			build = append(build, "./notebooks/code-of-"+name)
		}
	}
	if len(build) < 20 {
		t.Fatalf("code is found in %d notebooks only", len(build)-2)
	}
	text, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	command := exec.Command("go", build...)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

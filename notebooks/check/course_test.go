package check

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/notebooks/cell"
	"github.com/helmholtz-go/helmholtz/notebooks/thesis"
)

// chapters returns the notebooks of the course and their file names, in the order of their numbers.
func chapters(t *testing.T) ([]string, map[string]*Notebook) {
	t.Helper()
	var names []string
	all := map[string]*Notebook{}
	for path, notebook := range notebooksIn(t, "../course") {
		name := filepath.Base(path)
		names, all[name] = append(names, name), notebook
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(values(a)[0], values(b)[0]) })
	return names, all
}

// headings returns the headings of a notebook, with the number of folded cells below each.
func headings(n *Notebook) (texts []string, folded map[string]int) {
	folded = map[string]int{}
	for _, cell := range n.Cells {
		if cell.Type == "code" {
			if cell.Metadata.Jupyter.SourceHidden && cell.Metadata.Jupyter.OutputsHidden && len(texts) > 0 {
				folded[texts[len(texts)-1]]++
			}
			continue
		}
		for line := range strings.Lines(string(cell.Source)) {
			if heading, is := strings.CutPrefix(strings.TrimSpace(line), "#"); is {
				texts = append(texts, strings.TrimLeft(heading, "# "))
			}
		}
	}
	return texts, folded
}

// Every chapter has the same shape: question, model, prediction, run, published results,
// enumeration, what to notice, and three exercises with folded solutions. The model has at most
// five lines.
func TestChaptersHaveOneShape(t *testing.T) {
	names, all := chapters(t)
	if len(names) != 15 {
		t.Errorf("%d chapters, want 15", len(names))
	}
	index, err := os.ReadFile("../course/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("%d-", i+1); !strings.HasPrefix(name, want) {
			t.Errorf("%s: want a name that begins with %s", name, want)
		}
		texts, folded := headings(all[name])
		want := []string{
			fmt.Sprintf("Chapter %d: ", i+1), "Question", "The model in five lines", "Predict", "Run", "Measured beside published",
			"Small enough to enumerate", "What to notice", "Exercises", "Solution 1", "Solution 2", "Solution 3",
		}
		for k := range max(len(want), len(texts)) {
			if k >= len(texts) || k >= len(want) || !strings.HasPrefix(texts[k], want[k]) {
				t.Errorf("%s: the headings are %q, want %q", name, texts, want)
				break
			}
		}
		for _, solution := range want[len(want)-3:] {
			if folded[solution] == 0 {
				t.Errorf("%s: %s has no folded cell", name, solution)
			}
		}
		if lines := linesOfModel(all[name]); lines == 0 || lines > 5 {
			t.Errorf("%s: the model in five lines has %d of code", name, lines)
		}
		for i, cell := range all[name].Cells {
			if source := string(cell.Source); strings.HasPrefix(source, "## Solution ") && !strings.Contains(source, "<details><summary>In words</summary>\n\n") {
				t.Errorf("%s, cell %d: the words of a solution are not folded", name, i+1)
			}
		}
		effort := regexp.MustCompile(`\n\n\*About (two|three|four) hours with the exercises\. Mathematics: [^\n]+\.\*\n\n## Question\n`).
			FindStringSubmatch(string(all[name].Cells[0].Source))
		if effort == nil {
			t.Errorf("%s does not begin with its hours and the mathematics that it assumes", name)
			continue
		}
		question, _ := strings.CutPrefix(texts[0], want[0])
		hours := map[string]int{"two": 2, "three": 3, "four": 4}[effort[1]]
		entry := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d\. \[%s\]\(%s\).*\| %d \|`, i+1, regexp.QuoteMeta(question), regexp.QuoteMeta(name), hours))
		if !entry.Match(index) {
			t.Errorf("course/README.md does not match %s", entry)
		}
	}
}

// linesOfModel returns the number of code lines, without comments, in the cell under "The model in
// five lines".
func linesOfModel(n *Notebook) (lines int) {
	under := false
	for _, cell := range n.Cells {
		if cell.Type != "code" {
			under = strings.HasPrefix(string(cell.Source), "## The model in five lines")
			continue
		}
		if code, runs := strings.CutPrefix(string(cell.Source), "%%\n"); under && runs {
			for line := range strings.Lines(code) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					lines++
				}
			}
		}
	}
	return lines
}

// enumerating are the chapters whose cells still have functions of more than eight lines, most of which enumerate.
var enumerating = []string{"2-geometry.ipynb", "8-boltzmann.ipynb", "12-five.ipynb", "13-lines.ipynb", "14-back-propagation.ipynb", "15-memory.ipynb"}

// No cell has a function with more than eight lines in its body: package cell or the library holds such functions.
func TestFunctionsOfTheCourseAreShort(t *testing.T) {
	names, all := chapters(t)
	for _, name := range names {
		code, err := program(all[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, name, code, 0)
		if err != nil {
			t.Fatal(err)
		}
		var long []string
		for _, declared := range file.Decls {
			f, is := declared.(*ast.FuncDecl)
			if !is || strings.HasPrefix(f.Name.Name, "cell") { // cell1 and so on are what the cells run
				continue
			}
			if lines := files.Position(f.End()).Line - files.Position(f.Body.Pos()).Line - 1; lines > 8 {
				long = append(long, fmt.Sprintf("%s has %d lines", f.Name.Name, lines))
			}
		}
		if is := long != nil; is != slices.Contains(enumerating, name) {
			t.Errorf("%s: long functions %q: move them to package cell, or correct the list of chapters", name, long)
		}
	}
}

// A chapter prints published results exactly as the catalogue has them, in at most eight rows.
func TestPublishedInTheCourse(t *testing.T) {
	id := regexp.MustCompile(`"((?:bihm|boltzmann|varady)/[^"]+|chorales)"(?:, "([^"]*)")?`)
	names, all := chapters(t)
	published := map[string][]string{} // what the catalogue has, by the arguments of Beside
	for _, name := range names {
		found := 0
		for i, c := range all[name].Cells {
			source := string(c.Source)
			if c.Type != "code" || !strings.Contains(source, "thesis.Beside(") {
				continue
			}
			var printed string
			for _, output := range c.Outputs {
				printed += string(output.Text)
			}
			for _, match := range id.FindAllStringSubmatch(source, -1) {
				if published[match[0]] == nil {
					for line := range strings.Lines(cell.Must(thesis.Beside(thesis.Row{ID: match[1], Number: match[2]}))) {
						if line = strings.TrimRight(strings.NewReplacer("[1] ", "", " [1]", "").Replace(line), " \n"); line != "" && line != "published        here" {
							published[match[0]] = append(published[match[0]], line)
						}
					}
				}
				for _, text := range published[match[0]] {
					if !strings.Contains(printed, text) {
						t.Errorf("%s, cell %d prints something else of %s than the catalogue, which has\n%s", name, i+1, match[1], text)
					}
				}
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s shows nothing that was published", name)
		}
	}
}

// In a student's copy and on the site, results below the prediction, their discussion and the solutions are folded. In
// a teacher's copy nothing is. All cells keep their code and their outputs.
func TestCopiesOfTheCourse(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("course.py needs Python: %v", err)
	}
	names, all := chapters(t)
	for _, whose := range []string{"student", "teacher", "site"} {
		dir := t.TempDir()
		if out, err := exec.Command(python, "../course.py", whose, dir).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, name := range append(names, "README.md", "LECTURES.md") {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		for _, name := range names {
			folded, predicted := cell.Must(Parse([]byte(read(t, filepath.Join(dir, name))))), false
			for i, c := range all[name].Cells {
				other, text := folded.Cells[i], string(c.Source)
				if c.Type == "code" {
					hidden := other.Metadata.Jupyter.OutputsHidden
					if whose == "site" {
						hidden = slices.Contains(other.Metadata.Tags, "hide-output") || slices.Contains(other.Metadata.Tags, "hide-cell")
					}
					if want := predicted && whose != "teacher" && len(c.Outputs) > 0; hidden != want {
						t.Errorf("%s, %s, cell %d: folded %t, want %t", whose, name, i+1, hidden, want)
					}
					if other.Source != c.Source || len(other.Outputs) != len(c.Outputs) {
						t.Errorf("%s, %s, cell %d is another", whose, name, i+1)
					}
					continue
				}
				predicted = predicted || strings.Contains(text, "**Your prediction**")
				discusses := strings.HasPrefix(text, "## What to notice") || strings.HasPrefix(text, "## Solution")
				if closed := strings.Contains(string(other.Source), "<details>"); closed != (discusses && whose != "teacher") {
					t.Errorf("%s, %s, cell %d: %.20q is folded: %t", whose, name, i+1, text, closed)
				}
			}
		}
	}
}

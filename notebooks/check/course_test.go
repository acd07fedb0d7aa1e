package check

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

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
		question, _ := strings.CutPrefix(texts[0], want[0])
		if entry := fmt.Sprintf("[%s](%s)", question, name); !strings.Contains(string(index), entry) {
			t.Errorf("course/README.md does not have %s", entry)
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

// A chapter prints published results exactly as the catalogue has them.
func TestPublishedInTheCourse(t *testing.T) {
	id := regexp.MustCompile(`"((?:bihm|boltzmann|varady)/[^"]+|chorales)"`)
	names, all := chapters(t)
	for _, name := range names {
		found := 0
		for i, cell := range all[name].Cells {
			if cell.Type != "code" || !strings.Contains(string(cell.Source), "thesis.Published(") {
				continue
			}
			var printed string
			for _, output := range cell.Outputs {
				printed += string(output.Text)
			}
			for _, match := range id.FindAllStringSubmatch(string(cell.Source), -1) {
				published, err := thesis.Published(match[1])
				if err != nil {
					t.Errorf("%s, cell %d: %v", name, i+1, err)
				} else if !strings.Contains(printed, published) {
					t.Errorf("%s, cell %d prints something else of %s than the catalogue, which is\n%s", name, i+1, match[1], published)
				}
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s shows nothing that was published", name)
		}
	}
}

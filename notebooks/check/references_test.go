package check

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// cited matches a source named by its authors and year: "Neal 2001", "Hinton, Osindero and Teh
	// 2006", "Goodfellow et al. 2016", "BiHM thesis 2016", "Glorot and Bengio (2010)".
	cited = regexp.MustCompile(`(\p{Lu}[\p{L}-]*\p{Ll}[\p{L}-]*(?:(?:, | and )\p{Lu}[\p{L}-]*\p{Ll}[\p{L}-]*)*(?: et al\.)?|BiHM thesis) \(?((?:19|20)\d\d)\b`)
	month = regexp.MustCompile(`^(?:January|February|March|April|May|June|July|August|September|October|November|December) `)

	// lineBreak matches a line break within a sentence of a text, a comment or a string.
	lineBreak = regexp.MustCompile("[ \t]*\n[ \t]*(?://|#|--|;)?[ \t]*")
	concat    = regexp.MustCompile(`" \+ "`)
)

// undated are the sources without a year, which are cited by name.
var undated = []string{"DBM slides", "On Helmholtz Machines"}

// citations returns the sources that a text cites, in the form of the list of references.
func citations(text string) (all []string) {
	text = concat.ReplaceAllString(lineBreak.ReplaceAllString(text, " "), "")
	for _, match := range cited.FindAllStringSubmatch(text, -1) {
		if source := match[1] + " " + match[2]; !month.MatchString(source) {
			all = append(all, source)
		}
	}
	for _, source := range undated {
		if strings.Contains(text, source) {
			all = append(all, source)
		}
	}
	return all
}

// references returns the sources listed in REFERENCES.md, in its order.
func references(t *testing.T) (sources []string) {
	t.Helper()
	for line := range strings.Lines(read(t, "../../REFERENCES.md")) {
		if item, is := strings.CutPrefix(line, "- "); is {
			source, _, _ := strings.Cut(item, ": ")
			sources = append(sources, source)
		}
	}
	return sources
}

// TestReferences compares REFERENCES.md with the citations everywhere else in this
// repository.
func TestReferences(t *testing.T) {
	sources, places := references(t), map[string]string{}
	filesOf(t, []string{".go", ".cu", ".py", ".sh", ".toml", ".md", ".ipynb"}, func(path string) {
		place, _ := filepath.Rel(root, path)
		if place == "REFERENCES.md" || filepath.Base(path) == "references_test.go" {
			return
		}
		text := read(t, path)
		if filepath.Ext(path) == ".ipynb" {
			notebook, err := Parse([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			text = ""
			for _, cell := range notebook.Cells {
				text += string(cell.Source) + "\n\n"
			}
		}
		for _, source := range citations(text) {
			places[source] = place
		}
	})
	for source, place := range places {
		if !slices.Contains(sources, source) {
			t.Errorf("%s cites %s, which REFERENCES.md does not list", place, source)
		}
	}
	for _, source := range sources {
		if places[source] == "" {
			t.Errorf("REFERENCES.md lists %s, which nothing cites", source)
		}
	}
	if !slices.IsSortedFunc(sources, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		t.Errorf("the references are not in the order of their names: %q", sources)
	}
}

// Citations are found in all forms in use, also across lines, and dates are not citations.
func TestCitations(t *testing.T) {
	for text, want := range map[string][]string{
		"importance sampling (Neal 2001; Salakhutdinov and Murray 2008)":                {"Neal 2001", "Salakhutdinov and Murray 2008"},
		"// nets (Hinton, Osindero\n// and Teh 2006; Goodfellow et al. 2016,\n// 20.3)": {"Hinton, Osindero and Teh 2006", "Goodfellow et al. 2016"},
		"as Glorot and Bengio (2010) scale them":                                        {"Glorot and Bengio 2010"},
		"# (BiHM thesis 2016, 3.6) and Várady 2025":                                     {"BiHM thesis 2016", "Várady 2025"},
		"(DBM slides), (On Helmholtz Machines,\n// 9)":                                  {"DBM slides", "On Helmholtz Machines"},
		`"(Várady " + "2025, 5.10)"`:                                                    {"Várady 2025"},
		"January 2006, Adaptive(2000), SC 2011, in 2020, RWS 2000":                      nil,
	} {
		got := citations(text)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%q cites %q, want %q", text, got, want)
		}
	}
}

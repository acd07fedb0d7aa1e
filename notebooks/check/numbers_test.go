package check

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

var (
	number   = regexp.MustCompile(`\d+(?:,\d{3})*(?:\.\d+)?(?:e[-+]\d+)?`)
	withUnit = regexp.MustCompile(`(\d+(?:,\d{3})*(?:\.\d+)?)\s?(nats|%|ms|s|MB)(?:[^\w*]|$)`)
	decimal  = regexp.MustCompile(`\d+(?:,\d{3})*\.\d+`)
	citation = regexp.MustCompile(`\([^()]*(?:Várady|BiHM thesis|Goodfellow et al\.) 20\d\d\b[^()]*\)`)
	code     = regexp.MustCompile("`[^`]*`|(?s:```.*?```)")
)

// values are all numbers of a text, without their signs.
func values(text string) (all []float64) {
	for _, digits := range number.FindAllString(text, -1) {
		all = append(all, value(digits))
	}
	return all
}

func value(digits string) float64 {
	v, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		panic(err) // the expressions let only numbers through
	}
	return v
}

// stands says whether a number as a text writes it is one of some values, rounded as the
// text rounds. A percentage may be that of a value between 0 and 1.
func stands(digits string, among []float64) bool {
	_, fraction, _ := strings.Cut(digits, ".")
	half := 0.5 * math.Pow10(-len(fraction))
	v := value(digits)
	for _, other := range among {
		if math.Abs(v-other) <= half*(1+1e-9) {
			return true
		}
	}
	return false
}

// claimed are the numbers of a text that it has to have from somewhere: those with a unit,
// and decimals. Sources in parentheses and code are not among them.
func claimed(text string) (all []string) {
	text = code.ReplaceAllString(citation.ReplaceAllString(text, ""), "")
	seen := map[string]bool{}
	add := func(digits string) {
		if !seen[digits] && digits != "0" && digits != "100" { // nothing and all
			seen[digits] = true
			all = append(all, digits)
		}
	}
	for _, match := range withUnit.FindAllStringSubmatch(text, -1) {
		add(match[1])
	}
	for _, digits := range decimal.FindAllString(text, -1) {
		add(digits)
	}
	return all
}

// unfounded are the claimed numbers of a notebook's text that stand in none of its cells
// and of what they wrote, and not elsewhere.
func unfounded(n *Notebook, elsewhere []float64) (all []string) {
	among := slices.Clone(elsewhere)
	for _, cell := range n.Cells {
		if cell.Type == "code" {
			among = append(among, values(string(cell.Source))...)
			for _, output := range cell.Outputs {
				among = append(among, values(string(output.Text))...)
			}
		}
	}
	for i, cell := range n.Cells {
		if cell.Type != "markdown" {
			continue
		}
		for _, digits := range claimed(string(cell.Source)) {
			if !stands(digits, among) {
				all = append(all, fmt.Sprintf("cell %d: %s", i+1, digits))
			}
		}
	}
	return all
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every number of a notebook's text is one that its cells have or wrote, or that was
// published; studies may also quote STUDIES.md.
func TestNumbersOfTheNotebooks(t *testing.T) {
	published := values(read(t, "../thesis/criteria.toml"))
	for folder, elsewhere := range map[string][]float64{
		"../course": published,
		"..":        append(values(read(t, "../STUDIES.md")), published...),
	} {
		for path, notebook := range notebooksIn(t, folder) {
			for _, number := range unfounded(notebook, elsewhere) {
				t.Errorf("%s, %s stands in no output: correct the text, or let a cell print it", path, number)
			}
		}
	}
}

// A number is found where it stands as rounded, and missed where a digit is another.
func TestUnfoundedNumbers(t *testing.T) {
	notebook := func(text string) *Notebook {
		return &Notebook{Cells: []Cell{
			{Type: "code", Source: "const rate = 0.02", Outputs: []Output{{Text: "log p(x) = -26.8249 ± 0.071\n1,692 steps, 12.5 %\n"}}},
			{Type: "markdown", Source: Text(text)},
		}}
	}
	for text, want := range map[string]int{
		"It reaches −26.82 ± 0.07 nats at η = 0.02.":                  0,
		"It reaches −26.83 nats.":                                     1,
		"It reaches 27 nats, or −26.8 nats.":                          0,
		"It reaches 28 nats.":                                         1,
		"That are 12 % or 13 % (BiHM thesis 2016, 3.7.2), not 1.3 %.": 1,
		"See Várady 2025 (Várady 2025, 5.37), `f(3.3)` and 7 layers.": 0,
		"In 1,692 s.":                   0,
		"In 1,693 s.":                   1,
		"3 samples and 100 % of 0 nats": 0,
	} {
		if got := unfounded(notebook(text), nil); len(got) != want {
			t.Errorf("%q: unfounded are %q, want %d", text, got, want)
		}
	}
}

// TestNumbersOfTheManual looks for every number with a unit in the README and in docs in
// SPEED.md, with the same unit. It computes the baseline of MNIST if MNIST is there.
func TestNumbersOfTheManual(t *testing.T) {
	measured := map[string][]float64{} // by unit
	for _, match := range withUnit.FindAllStringSubmatch(read(t, "../SPEED.md"), -1) {
		measured[match[2]] = append(measured[match[2]], value(match[1]))
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, page := range append(pages, "../../README.md") {
		text += code.ReplaceAllString(read(t, page), "")
	}
	baseline := regexp.MustCompile(`baseline of MNIST is −(\d+) nats`).FindStringSubmatch(text)
	if baseline == nil {
		t.Fatal("no page has the baseline of MNIST")
	}
	measured["nats"] = append(measured["nats"], value(baseline[1]))
	t.Run("the baseline of MNIST", func(t *testing.T) {
		if os.Getenv(dataset.Environment) == "" {
			t.Skipf("%s is not set: that it is −%s nats is not checked", dataset.Environment, baseline[1])
		}
		set, err := dataset.Open("mnist")
		if err != nil {
			t.Fatal(err)
		}
		if logP := factorized.Bernoulli(set.Train(), set.Validation()).Factorized.Value; !stands(baseline[1], []float64{-logP}) {
			t.Errorf("the manual has −%s nats for it, and it is %.2f", baseline[1], logP)
		}
	})
	matches := withUnit.FindAllStringSubmatch(text, -1)
	if len(matches) < 4 {
		t.Fatalf("%d numbers with units are found in the manual, want 4 or more", len(matches))
	}
	for _, match := range matches {
		if !stands(match[1], measured[match[2]]) {
			t.Errorf("%q stands nowhere in SPEED.md: correct the one or the other", match[0])
		}
	}
}

// The answers in front of a long page have no number that the sections behind them lack, and lead to every section.
func TestAnswersInFront(t *testing.T) {
	section := regexp.MustCompile(`(?m)^## (.+)$`)
	for page, others := range map[string][]string{
		"../STUDIES.md": {"Answers", "Words and settings"},
		"../SPEED.md":   {"Answers", "The machine"},
	} {
		before, rest, _ := strings.Cut(read(t, page), "## Answers\n")
		next := section.FindStringIndex(rest)
		if next == nil || strings.Contains(before, "\n## ") {
			t.Errorf("%s does not begin with answers", page)
			continue
		}
		answers, behind := rest[:next[0]], rest[next[0]:]
		among := values(behind)
		for _, digits := range claimed(answers) {
			if !stands(digits, among) {
				t.Errorf("%s: the answers have %s, which stands in no section", page, digits)
			}
		}
		for _, heading := range section.FindAllStringSubmatch(behind, -1) {
			anchor := strings.ReplaceAll(regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(heading[1]), ""), " ", "-")
			if !slices.Contains(others, heading[1]) && !strings.Contains(answers, "(#"+anchor+")") {
				t.Errorf("%s: no answer leads to %q (#%s)", page, heading[1], anchor)
			}
		}
	}
}

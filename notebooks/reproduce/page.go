package reproduce

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Report writes a page of the findings on the catalogue's entries: how each conclusion stands,
// which numbers were reached and what was found beyond; the evidence for and against each
// conclusion; then, for each entry, its numbers and claims with verdicts, figures, and its cost;
// then the entries that have not been made. The same findings give the same page. folder is the
// folder of the findings relative to the page; figures are in a subfolder.
func (c Catalog) Report(w io.Writer, conclusions Conclusions, made map[string]Made, folder string) error {
	p := &page{w: w}
	p.print("# Published results, made anew\n\n")
	p.questions(c, conclusions.Questions, made)
	p.summary(c, conclusions, made)
	p.legend(conclusions.Symbols, folder)
	p.print("## The evidence\n\n")
	p.evidence(c, conclusions.All, made)
	p.differing(c, conclusions.Differing, made)
	p.changes(conclusions.Changes)
	for _, e := range c {
		if m, there := made[e.ID]; there {
			p.entry(e, m, folder)
		}
	}
	p.missing(c, made)
	return p.err
}

// page writes until there is an error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) print(format string, values ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, values...)
	}
}

func (p *page) table(t *runs.Table) {
	if p.err == nil {
		p.err = t.WriteMarkdown(p.w)
	}
	p.print("\n")
}

// summary reports how much has been made, how the conclusions stand, which numbers have a verdict,
// and what was found beyond the claims.
func (p *page) summary(c Catalog, conclusions Conclusions, made map[string]Made) {
	var full, numbers, beyond []string
	beyondThem, without := 0, 0
	for _, e := range c {
		if e.Place == Beyond {
			beyondThem++
		}
		m, there := made[e.ID]
		if !there {
			continue
		}
		if m.Scale == Full {
			full = append(full, e.link())
		}
		of := map[Verdict]int{}
		for _, n := range e.Numbers {
			if v, ok := m.Value(n); ok {
				of[n.judge(v)]++
			}
		}
		without += of[Shown]
		var counts []string
		for _, v := range []Verdict{Reproduced, Met, Exceeded, Open, Missed} {
			if of[v] > 0 {
				counts = append(counts, fmt.Sprintf("%d %s", of[v], v))
			}
		}
		if len(counts) > 0 {
			numbers = append(numbers, fmt.Sprintf("%s %s", e.link(), strings.Join(counts, ", ")))
		}
		for _, sentence := range m.Beyond {
			beyond = append(beyond, fmt.Sprintf("%s (%s, %s)", runs.EscapeMarkdown(strings.TrimSuffix(sentence, ".")), e.link(), m.Scale))
		}
	}
	at := ""
	if len(full) > 0 {
		at = fmt.Sprintf(" (%s)", strings.Join(full, ", "))
	}
	p.print("Of %d published results and %d questions beyond them this page has %d, by criteria that were declared before the training that they judge (notebooks/thesis/criteria.toml): ", len(c)-beyondThem, beyondThem, len(made))
	p.print("%d at full length%s, and %d trained for less than that. Where training was shorter, log p gets no verdict, and a verdict on an order stands “so far”. Which criteria bear on which conclusion was written down after some of them had been measured.\n\n", len(full), at, len(made)-len(full))
	var marks []string
	for _, s := range sides {
		marks = append(marks, s.mark+" "+s.name)
	}
	p.print("%s. In brackets there is no verdict, since training was too short or other data stand in, and the mark says how the criterion stands on what there is. ¹ is by one seed:\n\n", strings.Join(marks, ", "))
	p.overview(c, conclusions.All, made)
	if len(numbers) > 0 {
		p.print("- **Numbers:** %s; %d more have no verdict, being of shorter training or of stand-in data.\n", strings.Join(numbers, "; "), without)
	}
	if len(beyond) > 0 {
		p.print("- **Found beyond the claims:** %s.\n", strings.Join(beyond, "; "))
	}
	p.print("\n")
}

// legend explains the words and signs of the page.
func (p *page) legend(symbols, folder string) {
	p.print("**How to read this.** A conclusion rests on claims and numbers of results, “in part” where some of these have no verdict, or the opposite one. A claim holds or fails by the criterion beside it, where a difference exceeds twice its standard error, and is open where it does not, unless the criterion sets a threshold of its own. Where it asks that there be no difference, it holds if none is seen, and one of up to twice the error may be there. Claims of many comparisons hold where all of them do, and fail by one, unless the criterion says how many. ")
	p.print("A claim has no verdict where it asks for more than an order and training was shorter, or where other data stand in: then the page says how the criterion stands “here”. A number is reproduced within its tolerance, exceeded where it is better, missed where it is worse, as is a difference that is too large; a bound is met or missed. A number outside of its tolerance by less than twice its standard error is open. Ratios of times do not depend on the length of training, and have a verdict at every scale. ")
	p.print("Log-likelihoods are in nats. “sd” is a standard deviation over seeds, “se” a standard error: of one seed over rows, of several over seeds. **Of one seed ± leaves out the chance of training**: another seed may reverse a difference of some tenths of a nat. Of two methods with three seeds each chance alone exceeds twice the standard error in one comparison of nine. Along curves the ± of one seed is that of the difference at their ends; between the ends of epochs curves by seconds are interpolated linearly. ")
	p.print("The scale full is training of the published length, or where none is stated of that which the criteria declare; laptop is shorter training, of which each result says how short. ")
	if symbols != "" {
		p.print("%s ", symbols)
	}
	p.print("`helmholtz` is the command of this module, and `helmholtz data` says where data sets are looked for. This page is written by `helmholtz reproduce report` of the findings in [%s](%s).\n\n", path.Base(folder), folder)
}

// changes writes the changes that were made after the measurements they concern.
func (p *page) changes(changes []Change) {
	if len(changes) == 0 {
		return
	}
	p.print("## Changed after it was measured\n\n")
	for _, c := range changes {
		commit := ""
		if c.Commit != "" {
			commit = ", commit " + c.Commit
		}
		p.print("- %s (%s%s). %s\n", c.What, c.Date, commit, c.Why)
	}
	p.print("\n")
}

// differing writes the numbers that were published with different values, with the values found
// here.
func (p *page) differing(c Catalog, conclusions []Conclusion, made map[string]Made) {
	if len(conclusions) == 0 {
		return
	}
	p.print("## Published values that differ\n\n")
	for _, conclusion := range conclusions {
		p.print("- %s\n", runs.EscapeMarkdown(conclusion.Says))
		for _, f := range c.findings(conclusion, made) {
			if f.made != nil {
				p.print("  - here, %s (%s, %s): %s %s\n", f.link(), f.made.Scale, f.entry.seeds(f.made.Scale), runs.EscapeMarkdown(f.Says), f.Evidence)
			}
		}
	}
	p.print("\n")
}

// entry writes the findings on an entry.
func (p *page) entry(e Entry, m Made, folder string) {
	p.print("## %s\n\n%s. Setting: %s.\n\n", e.heading(), e.Place, e.Setting)
	if e.Blocked != "" {
		p.print("Blocked in part: %s.\n\n", e.Blocked)
	}
	if e.Note != "" {
		p.print("%s\n\n", e.Note)
	}
	for _, t := range e.Tables(m) {
		p.table(t)
	}
	for _, f := range m.Figures {
		p.print("![%s](%s/figures/%s)\n\n", f.Caption, folder, f.File)
		p.print("%s.\n\n", strings.TrimSuffix(f.Caption, "."))
	}
	p.print("Scale %s", m.Scale)
	if lengths := e.lengths(m.Scale); len(lengths) > 0 {
		p.print(", %s", strings.Join(lengths, "; "))
	}
	p.print(":\n\n    helmholtz reproduce %s --scale %s\n\n", e.ID, m.Scale)
	p.print("Made on %s by %s", m.Made.Format("2006-01-02"), build(m.By))
	if m.Hardware != "" {
		p.print("; %s of training by %s, on %s", duration(m.Seconds), build(m.Version), m.Hardware)
		if m.Arithmetic != "" {
			p.print(", in %s", m.Arithmetic)
		}
	}
	p.print(".\n\n")
}

// heading returns the heading of the entry on the page, and anchor its link target by GitHub's
// rule.
func (e Entry) heading() string { return fmt.Sprintf("%s: %s", e.ID, e.Title) }

func (e Entry) anchor() string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ', r == '-':
			return '-'
		case r == '_', unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, e.heading())
}

// link returns a link to the entry on the page.
func (e Entry) link() string { return fmt.Sprintf("[%s](#%s)", e.ID, e.anchor()) }

// seeds returns the number of seeds of an entry's trainings: the smallest, if they differ.
func (e Entry) seeds(s Scale) string {
	var numbers []int
	for _, t := range (Catalog{e}).Trainings(s) {
		numbers = append(numbers, max(1, t.Seeds))
	}
	switch {
	case len(numbers) == 0:
		return "no training"
	case slices.Min(numbers) < slices.Max(numbers):
		return fmt.Sprintf("%s, %d where said", seeds(slices.Min(numbers)), slices.Max(numbers))
	}
	return seeds(slices.Min(numbers))
}

// oneSeed reports whether some training of an entry has a single seed.
func (e Entry) oneSeed(s Scale) bool { return strings.HasPrefix(e.seeds(s), seeds(1)) }

func seeds(n int) string {
	if n > 1 {
		return fmt.Sprintf("%d seeds", n)
	}
	return "one seed"
}

// lengths returns the lengths of an entry's trainings at a scale, with the published lengths and
// the number of seeds: "50 of 500 epochs with 3 seeds".
func (e Entry) lengths(s Scale) (lengths []string) {
	here, published := Catalog{e}.Trainings(s), Catalog{e}.Trainings(Full)
	for i, t := range here {
		length := names.Count(t.Experiment.Header().Epochs, "epoch")
		if s != Full && len(here) == len(published) {
			length = fmt.Sprintf("%d of %s", t.Experiment.Header().Epochs, names.Count(published[i].Experiment.Header().Epochs, "epoch"))
		}
		length += " with " + seeds(t.Seeds)
		if !slices.Contains(lengths, length) {
			lengths = append(lengths, length)
		}
	}
	return lengths
}

// build names versions of the program by their commits, including versions built without that
// information.
func build(version string) string {
	return strings.ReplaceAll(pseudo.ReplaceAllString(version, ""), "(devel)", "a build that did not record its commit")
}

// pseudo matches Go's pseudo-version between two tags, which adds nothing to the commit after it.
var pseudo = regexp.MustCompile(`v0\.0\.0-\d{14}-[0-9a-f]{12}, `)

// missing lists the entries that have not been made.
func (p *page) missing(c Catalog, made map[string]Made) {
	t := runs.NewTable("missing", "", runs.Column{Key: "id"}, runs.Column{Key: "title"}, runs.Column{Key: "why", Label: "waits for"})
	for _, e := range c {
		if _, there := made[e.ID]; there {
			continue
		}
		why := "its trainings"
		switch {
		case e.Make == nil:
			why = cmp.Or(e.Blocked, "code that makes it")
		case e.Blocked != "":
			why = "its trainings; blocked in part: " + e.Blocked
		}
		t.Add(e.ID, e.Title, why)
	}
	if len(t.Rows()) == 0 {
		return
	}
	p.print("## Not made yet\n\n")
	p.table(t)
}

// duration formats seconds as minutes or hours.
func duration(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}

// Tables returns the tables of a result's numbers and claims, published beside measured.
func (e Entry) Tables(m Made) []*runs.Table {
	var tables []*runs.Table
	if len(e.Numbers)+len(m.Beside) > 0 {
		tables = append(tables, e.numbers(m))
	}
	if len(e.Claims) > 0 {
		tables = append(tables, e.claims(m))
	}
	return tables
}

// List returns a table of the entries, with the epochs done at a scale: all epochs for a result
// that was made, wherever it was trained, and otherwise the epochs in the directory of its
// trainings.
func (c Catalog) List(made map[string]Made, dir string, s Scale) *runs.Table {
	t := runs.NewTable("results", "", runs.Column{Key: "id"}, runs.Column{Key: "title"}, runs.Column{Key: "epochs", Label: "epochs done", Kind: runs.Integer},
		runs.Column{Key: "needed", Label: "of", Kind: runs.Integer}, runs.Column{Key: "made"})
	for _, e := range c {
		if e.Make == nil {
			status := "cannot be made yet"
			if e.Blocked != "" {
				status = "blocked: " + e.Blocked
			}
			t.Add(e.ID, e.Title, nil, nil, status)
			continue
		}
		status := "not yet"
		if m, ok := made[e.ID]; ok {
			status = string(m.Scale)
		}
		done, needed, unusable := 0, 0, ""
		for _, job := range Jobs(Catalog{e}.Trainings(s), dir, s) {
			epochs, _, err := job.Done()
			if err != nil {
				unusable = cmp.Or(unusable, fmt.Sprintf("cannot use %s, seed %d", job.Name, job.Seed))
			}
			wanted := job.Experiment.Header().Epochs
			done += min(epochs, wanted)
			needed += wanted
		}
		if m, ok := made[e.ID]; ok && m.Scale == s {
			done = needed // elsewhere, if not in dir
		}
		t.Add(e.ID, e.Title, done, needed, cmp.Or(unusable, status))
	}
	return t
}

// Value returns the measured value of a number.
func (m Made) Value(n Number) (Value, bool) {
	return first(m.Values, func(v Value) bool { return v.Of == n.Of && v.Measure == n.Measure })
}

// measured returns the value measured under a name, for a number of the criteria or an additional
// one.
func (m Made) measured(of, measure string) (Value, bool) {
	return first(slices.Concat(m.Values, m.Beside), func(v Value) bool { return v.Of == of && v.Measure == measure })
}

// Verdict returns the finding on a claim.
func (m Made) Verdict(c Claim) (Judged, bool) {
	return first(m.Judged, func(j Judged) bool { return j.Says == c.Says })
}

// numbers returns the table of an entry's numbers, published beside measured.
func (e Entry) numbers(m Made) *runs.Table {
	published := "published (" + e.Place + ")"
	if !slices.ContainsFunc(e.Numbers, func(n Number) bool { return !n.isBound() }) {
		published = "bound"
	}
	t := runs.NewTable("numbers", "", runs.Column{Key: "of"}, runs.Column{Key: "measure"},
		runs.Column{Key: "published", Label: published, Kind: runs.Number, Decimals: 3}, runs.Column{Key: "ours", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "error", Label: "± (seeds)"}, runs.Column{Key: "difference", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "tolerance", Kind: runs.Number, Decimals: 2}, runs.Column{Key: "verdict"},
		runs.Column{Key: "data", Label: "data, binarisation"}, runs.Column{Key: "by"})
	for _, n := range e.Numbers {
		v, ok := m.Value(n)
		if !ok {
			missing := "not found"
			switch {
			case n.Blocked != "":
				missing = "blocked: " + n.Blocked
			case m.Diverged != "":
				missing = m.Diverged
			}
			t.Add(n.Of, n.Measure, n.Published, nil, nil, nil, n.Tolerance, missing, nil, nil)
			continue
		}
		by := v.By
		if v.Elsewhere != "" {
			by = strings.TrimPrefix(by+"; "+v.Elsewhere, "; ")
		}
		t.Add(n.Of, n.Measure, n.Published, v.Ours, v.uncertainty(), v.Ours-n.Published, n.Tolerance, Judged{Verdict: n.judge(v)}.String(), v.Data, by)
	}
	for _, v := range m.Beside {
		t.Add(v.Of, v.Measure, nil, v.Ours, v.uncertainty(), nil, nil, nil, v.Data, v.By)
	}
	return t
}

// uncertainty returns the spread over seeds, or the standard error.
func (v Value) uncertainty() string {
	switch {
	case v.SD != nil:
		return fmt.Sprintf("sd %.3f, %s", *v.SD, seeds(v.Seeds))
	case v.SE != nil:
		return fmt.Sprintf("se %.3f, %s", *v.SE, seeds(v.Seeds))
	}
	return seeds(v.Seeds)
}

// claims returns the table of an entry's claims.
func (e Entry) claims(m Made) *runs.Table {
	t := runs.NewTable("claims", "", runs.Column{Key: "says", Label: "claim"}, runs.Column{Key: "holds", Label: "holds if"}, runs.Column{Key: "verdict"}, runs.Column{Key: "evidence"})
	for _, c := range e.Claims {
		j, _ := m.Verdict(c)
		t.Add(c.Says, c.Holds, j.String(), j.Evidence)
	}
	return t
}

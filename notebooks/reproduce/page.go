package reproduce

import (
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Pages is a report: the page to read first, and the files that it links to.
type Pages struct {
	First []byte
	// Beside has these files by name, for the folder of the findings: evidence.md, all.md,
	// numbers.csv, and a page for each result.
	Beside map[string][]byte
}

// Report describes the findings on the catalogue's entries that have been made. The first page shows
// how each conclusion stands. evidence.md has the evidence for and against each conclusion, all.md lists all
// results with their lengths and verdicts, numbers.csv has all numbers, and each result has a page with its
// numbers, claims and figures. The same findings give the same pages. folder is the folder of the findings,
// relative to the first page; figures are in its folder figures.
func (c Catalog) Report(conclusions Conclusions, made map[string]Made, folder string) (Pages, error) {
	first := &page{folder: folder + "/"}
	first.print("# Published results, repeated\n\n")
	first.questions(c, conclusions.Questions, made)
	first.summary(c, made)
	first.overview(c, conclusions.All, made)
	first.print("## More\n\n")
	first.print("- [The evidence for and against each conclusion](%s/evidence.md), published values that differ, and findings beyond the claims.\n", folder)
	first.print("- [All results](%s/all.md), with their lengths and verdicts. Each has a page.\n", folder)
	first.print("- [All numbers as CSV](%s/numbers.csv).\n\n", folder)
	first.legend(conclusions.Symbols, folder)
	first.changes(conclusions.Changes)

	evidence := &page{}
	evidence.print("# The evidence\n\n")
	evidence.evidence(c, conclusions.All, made)
	evidence.differing(c, conclusions.Differing, made)
	evidence.beyond(c, made)

	all := &page{}
	all.print("# All results\n\n")
	all.lengths(c, made)
	all.list(c, made)
	all.missing(c, made)

	numbers := &page{}
	numbers.failed(c.numbers(made).WriteCSV(&numbers.Buffer))

	files := map[string]*page{"evidence.md": evidence, "all.md": all, "numbers.csv": numbers}
	for e, m := range c.among(made) {
		one := &page{}
		one.entry(e, m)
		files[e.file()] = one
	}
	pages := Pages{first.Bytes(), map[string][]byte{}}
	err := first.err
	for name, file := range files {
		pages.Beside[name] = file.Bytes()
		err = cmp.Or(err, file.err)
	}
	return pages, err
}

func (c Catalog) among(made map[string]Made) iter.Seq2[Entry, Made] {
	return func(yield func(Entry, Made) bool) {
		for _, e := range c {
			if m, there := made[e.ID]; there && !yield(e, m) {
				return
			}
		}
	}
}

type page struct {
	bytes.Buffer
	folder string // folder of the results' pages, as a prefix of links
	err    error
}

func (p *page) failed(err error) { p.err = cmp.Or(p.err, err) }

func (p *page) print(format string, values ...any) { fmt.Fprintf(p, format, values...) }

func (p *page) table(t *runs.Table) {
	var text bytes.Buffer
	p.failed(t.WriteMarkdown(&text))
	p.print("%s\n", marker.ReplaceAllString(text.String(), fmt.Sprintf("[$2](%s$1)", p.folder)))
}

// linked returns a marker for a table cell, which page.table replaces by a link to the entry's page.
func (e Entry) linked() string { return "\uE000" + e.file() + "\uE001" + e.ID + "\uE002" }

var marker = regexp.MustCompile("\uE000(.*?)\uE001(.*?)\uE002")

func (e Entry) file() string { return fileName(e.ID) + ".md" }

func (p *page) link(e Entry) string { return fmt.Sprintf("[%s](%s%s)", e.ID, p.folder, e.file()) }

func (p *page) summary(c Catalog, made map[string]Made) {
	beyond, full, of := 0, 0, map[string]int{}
	for _, e := range c {
		if e.beyond() {
			beyond++
		}
		if m, there := made[e.ID]; there && !e.shorter(m) {
			full++
			of[e.kind(m)]++
		}
	}
	var divided []string
	for _, kind := range kinds[:len(kinds)-1] {
		divided = append(divided, fmt.Sprintf("%d %s", of[kind], kind))
	}
	p.print("The catalogue has %d published results and %d questions beyond them. %d are made: %d at full length (%s), %d with shorter training or fewer seeds. Criteria are declared before the training that they judge (notebooks/thesis/criteria.toml), with the exceptions [listed below](#changed-after-it-was-measured); which criteria bear on which conclusion was decided after some had been measured. ",
		len(c)-beyond, beyond, len(made), full, strings.Join(divided, ", "), len(made)-full)
	p.print("If training was shorter, log p gets no verdict, and a verdict on an order is “at a shortened length” and stands “so far”.\n\n")
	var marks []string
	for _, s := range sides {
		marks = append(marks, s.mark+" "+s.name)
	}
	p.print("%s. “Not found” means that the result was made, but has no value for this, because a training diverged, something that it needs is missing, or the claim was declared later. A mark in brackets has no verdict, because training was too short, samples were too few, or other data stand in; it shows how the criterion stands so far. ¹ means one seed, at least in part, ² shorter training or fewer seeds.\n\n", strings.Join(marks, ", "))
}

func (p *page) beyond(c Catalog, made map[string]Made) {
	var found []string
	for e, m := range c.among(made) {
		for _, sentence := range m.Beyond {
			found = append(found, fmt.Sprintf("- %s (%s, %s).\n", runs.EscapeMarkdown(strings.TrimSuffix(sentence, ".")), p.link(e), m.Scale))
		}
	}
	if found != nil {
		p.print("## Found beyond the claims\n\n%s\n", strings.Join(found, ""))
	}
}

// list writes a table of the results that have been made, with the length of training and the number of
// verdicts of each kind on numbers and on claims.
func (p *page) list(c Catalog, made map[string]Made) {
	t := runs.NewTable("all", "", runs.Column{Key: "result"}, runs.Column{Key: "title"}, runs.Column{Key: "scale"}, runs.Column{Key: "length", Label: "trained for"},
		runs.Column{Key: "numbers"}, runs.Column{Key: "claims"})
	for e, m := range c.among(made) {
		var numbers, claims []Judged
		for _, n := range e.Numbers {
			if v, ok := e.value(m, n); ok {
				numbers = append(numbers, Judged{Verdict: n.judge(v)})
			}
		}
		for _, claim := range e.Claims {
			if j, ok := e.verdict(m, claim); ok {
				claims = append(claims, j)
			}
		}
		length := strings.Join(e.lengths(m), "; ")
		t.Add(e.linked(), e.Title, string(m.Scale), cmp.Or(length, noRun), counted(numbers, false), counted(claims, e.shorter(m)))
	}
	p.table(t)
}

const noRun = "no run kept"

// kinds are the kinds of lengths of training. The last is less than full length.
var kinds = [...]string{"as printed", "until convergence by our rule", "of our own choice", "without training", "shorter, or fewer seeds"}

// kind returns the kind of the length of training of a result that was made.
func (e Entry) kind(m Made) string {
	switch {
	case e.shorter(m):
		return kinds[4]
	case m.Seconds == 0:
		return kinds[3]
	}
	return e.length()
}

// lengths writes a table that counts the results made, by the kind of their length of training.
func (p *page) lengths(c Catalog, made map[string]Made) {
	entries, seconds, processors := map[string]int{}, map[string]float64{}, map[string][]string{}
	for e, m := range c.among(made) {
		kind := e.kind(m)
		entries[kind]++
		seconds[kind] += m.Seconds
		processors[kind] = append(processors[kind], strings.Split(m.Hardware, "; ")...)
	}
	t := runs.NewTable("lengths", "", runs.Column{Key: "length", Label: "length of training"}, runs.Column{Key: "results", Kind: runs.Integer}, runs.Column{Key: "hours", Label: "hours, what results share counted for each"}, runs.Column{Key: "processors"})
	for _, kind := range kinds {
		t.Add(kind, entries[kind], fmt.Sprintf("%.1f", seconds[kind]/3600), distinct(processors[kind]))
	}
	p.table(t)
}

// counted counts verdicts: "1 reproduced, 2 open".
func counted(all []Judged, shortened bool) string {
	var counts []string
	for _, v := range []Verdict{Reproduced, Met, Exceeded, Holds, Open, Missed, Fails, Shown} {
		n := 0
		for _, j := range all {
			if j.Verdict == v {
				n++
			}
		}
		if n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", n, Judged{Verdict: v, shortened: shortened}))
		}
	}
	return strings.Join(counts, ", ")
}

func (c Catalog) numbers(made map[string]Made) *runs.Table {
	number := func(key string) runs.Column { return runs.Column{Key: key, Kind: runs.Number} }
	t := runs.NewTable("numbers", "", runs.Column{Key: "id"}, runs.Column{Key: "of"}, runs.Column{Key: "measure"}, number("published"), number("ours"), number("sd"), number("se"),
		runs.Column{Key: "seeds", Kind: runs.Integer}, number("tolerance"), runs.Column{Key: "verdict"}, runs.Column{Key: "scale"}, runs.Column{Key: "data"}, runs.Column{Key: "by"})
	for e, m := range c.among(made) {
		for _, n := range e.Numbers {
			if v, ok := e.value(m, n); ok {
				t.Add(e.ID, n.Of, n.Measure, n.Published, v.Ours, v.SD, v.SE, v.Seeds, n.Tolerance, Judged{Verdict: n.judge(v)}.String(), string(m.Scale), v.Data, v.By)
			}
		}
		for _, v := range m.Beside {
			t.Add(e.ID, v.Of, v.Measure, nil, v.Ours, v.SD, v.SE, v.Seeds, nil, nil, string(m.Scale), v.Data, v.By)
		}
	}
	return t
}

func (p *page) legend(symbols, folder string) {
	p.print("## How to read this\n\n")
	for _, rule := range []string{
		"A conclusion rests on claims and numbers of results. It is confirmed or contradicted “in part” if some of these have no verdict, or the opposite one.",
		"A claim holds or fails by the criterion beside it if a difference exceeds twice its standard error, and is open otherwise, unless the criterion sets a threshold of its own. A claim that there is no difference holds if none is seen, so a difference of up to twice the error may exist. A claim about many comparisons holds if all of them do, and fails by one, unless the criterion says how many.",
		"A claim has no verdict if it asks for more than an order and training was shorter or samples were fewer, or if other data stand in. The page then says how the criterion stands “here”. A verdict on an order after shorter training, or with fewer seeds, is “at a shortened length”.",
		"A number is reproduced within its tolerance, exceeded if it is better, missed if it is worse or if a difference is too large; a bound is met or missed. A number outside its tolerance by less than twice its standard error is open. Ratios of times do not depend on the length of training, and have a verdict at every scale.",
		"Log-likelihoods are in nats. “sd” is a standard deviation over seeds. “se” is a standard error: over rows for one seed, over seeds for several. **With one seed, ± omits the chance of training**: another seed may reverse a difference of some tenths of a nat. Between two methods with three seeds each, chance alone exceeds twice the standard error in one comparison of nine. Along curves of one seed, ± is the error of the difference at their ends. Curves by seconds are interpolated linearly between the ends of epochs.",
		"At the scale full, training is as long as printed, or until convergence by our rule (600 epochs, then 50, for the machine of the BiHM thesis), or has a length of our own if the document prints none or other data stand in. The scale laptop is shorter, or has fewer samples. Each result says which.",
	} {
		p.print("- %s\n", rule)
	}
	if symbols != "" {
		p.print("- %s\n", symbols)
	}
	p.print("\n`helmholtz` is the command of this module, and `helmholtz data` lists where it looks for data sets. `helmholtz reproduce report` writes these pages from the findings in the folder %s.\n\n", path.Base(folder))
}

func (p *page) changes(changes []Change) {
	p.print("## Changed after it was measured\n\n")
	for _, c := range changes {
		commit := ""
		if c.Commit != "" {
			commit = ", commit " + c.Commit
		}
		p.print("- %s (%s%s). %s\n", c.What, c.Date, commit, c.Why)
	}
	if len(changes) == 0 {
		p.print("Nothing.\n")
	}
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
				p.print("  - here, %s (%s, %s): %s %s\n", p.found(f), f.made.Scale, f.entry.seeds(f.made.Scale), runs.EscapeMarkdown(f.Says), f.Evidence)
			}
		}
	}
	p.print("\n")
}

func (p *page) entry(e Entry, m Made) {
	p.print("# %s: %s\n\n%s. Setting: %s.\n\n", e.ID, e.Title, e.Place, e.Setting)
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
		p.print("![%s](figures/%s)\n\n", f.Caption, f.File)
		p.print("%s.\n\n", strings.TrimSuffix(f.Caption, "."))
	}
	p.print("Scale %s", m.Scale)
	if lengths := e.lengths(m); len(lengths) > 0 {
		p.print(", %s, where the scale full is %s", strings.Join(lengths, "; "), e.length())
	}
	p.print(":\n\n    helmholtz reproduce %s --scale %s\n\n", e.ID, m.Scale)
	p.print("Made on %s by %s", m.Made.Format("2006-01-02"), build(m.By))
	if m.Hardware != "" {
		p.print("; %s of training by %s, on %s", duration(m.Seconds), build(m.Version), m.Hardware)
		if m.Arithmetic != "" {
			p.print(", in %s", strings.ReplaceAll(m.Arithmetic, "fixed", "fixed point"))
		}
	}
	p.print(".\n")
	for _, r := range m.Rejudged {
		p.print("\nJudged anew on %s by %s: %s; %s.\n", r.Date, build(r.By), r.Reason, cmp.Or(runs.EscapeMarkdown(strings.Join(r.Changed, "; ")), "nothing changed"))
	}
	var lost []string
	if m.Hardware != "" && m.Runs == nil {
		lost = append(lost, "the hashes of its data and checkpoints")
	}
	if slices.ContainsFunc(m.Judged, func(j Judged) bool { return j.On == nil && j.Verdict != Shown && m.Diverged == "" }) {
		lost = append(lost, "the quantities behind its verdicts, so that these cannot be judged anew")
	}
	if lost != nil {
		p.print("\nNot recorded: %s.\n", strings.Join(lost, "; "))
	}
}

// seeds describes how many seeds the trainings of an entry have. If the numbers differ, it gives the smallest
// and the largest.
func (e Entry) seeds(s Scale) string {
	var numbers []int
	for _, t := range (Catalog{e}).Trainings(s) {
		numbers = append(numbers, max(1, t.Seeds))
	}
	switch {
	case len(numbers) == 0:
		return noRun
	case slices.Min(numbers) < slices.Max(numbers):
		return fmt.Sprintf("%s, %d where said", seeds(slices.Min(numbers)), slices.Max(numbers))
	}
	return seeds(slices.Min(numbers))
}

func (e Entry) oneSeed(s Scale) bool { return strings.HasPrefix(e.seeds(s), seeds(1)) }

func seeds(n int) string {
	if n > 1 {
		return fmt.Sprintf("%d seeds", n)
	}
	return "one seed"
}

// lengths returns the lengths of the trainings of a result that was made, with the full lengths if these are
// longer, and the number of seeds: "50 of 500 epochs with 3 seeds".
func (e Entry) lengths(m Made) (lengths []string) {
	here, full := Catalog{e}.Trainings(m.Scale), Catalog{e}.Trainings(Full)
	for i, t := range here {
		epochs := m.epochs(t)
		length := names.Count(epochs, "epoch")
		if len(here) == len(full) && epochs < full[i].Experiment.Header().Epochs {
			length = fmt.Sprintf("%d of %s", epochs, names.Count(full[i].Experiment.Header().Epochs, "epoch"))
		}
		length += " with " + seeds(t.Seeds)
		if !slices.Contains(lengths, length) {
			lengths = append(lengths, length)
		}
	}
	return lengths
}

// shorter reports whether the trainings of a result that was made are shorter than at the scale full, or have fewer
// seeds or other settings. A result without trainings is shorter at every other scale.
func (e Entry) shorter(m Made) bool {
	here, full := Catalog{e}.Trainings(m.Scale), Catalog{e}.Trainings(Full)
	if len(here) != len(full) || len(here) == 0 {
		return m.Scale != Full
	}
	for i, t := range here {
		if t.Seeds < full[i].Seeds || t.Experiment.Hash() != full[i].Experiment.Hash() || m.epochs(t) < full[i].Experiment.Header().Epochs {
			return true
		}
	}
	return false
}

// epochs returns for how many epochs a training ran: those that the catalogue asks for, or fewer if the result
// records fewer for all seeds, and neither patience nor divergence ended them.
func (m Made) epochs(t Training) int {
	wanted, recorded := t.Experiment.Header().Epochs, 0
	for _, r := range m.Runs {
		switch {
		case r.Training != t.Name:
		case r.Diverged:
			return wanted
		default:
			recorded = max(recorded, r.Epochs)
		}
	}
	if recorded == 0 || t.Experiment.Header().Patience > 0 {
		return wanted
	}
	return min(wanted, recorded)
}

// build shortens versions of the program to their commits, and explains versions that recorded no commit.
func build(version string) string {
	return strings.ReplaceAll(pseudo.ReplaceAllString(version, ""), "(devel)", "a build that did not record its commit")
}

// pseudo matches Go's pseudo-version, which adds nothing to the commit after it.
var pseudo = regexp.MustCompile(`v0\.0\.0-\d{14}-[0-9a-f]{12}, `)

func (p *page) missing(c Catalog, made map[string]Made) {
	t := runs.NewTable("missing", "", runs.Column{Key: "id"}, runs.Column{Key: "title"}, runs.Column{Key: "why", Label: "waits for"})
	for _, e := range c {
		if _, there := made[e.ID]; there {
			continue
		}
		why := "its trainings"
		if e.Trainings != nil && len(e.Trainings(Full)) == 0 {
			why = "its command, which needs no training"
		}
		switch {
		case e.Make == nil:
			why = cmp.Or(e.Blocked, "code that makes it")
		case e.Blocked != "":
			why += "; blocked in part: " + e.Blocked
		}
		t.Add(e.ID, e.Title, why)
	}
	if len(t.Rows()) == 0 {
		return
	}
	p.print("## Not made yet\n\n")
	p.table(t)
}

func duration(seconds float64) string {
	switch {
	case seconds < 120:
		return fmt.Sprintf("%.0f s", seconds)
	case seconds < 7200:
		return fmt.Sprintf("%.0f min", seconds/60)
	}
	return fmt.Sprintf("%.1f h", seconds/3600)
}

// Tables returns the tables of a result's numbers and claims, with published next to measured values.
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

// List returns a table of the entries, with the epochs done at a scale. For a result that was made, these are
// all epochs, wherever it was trained. Otherwise they are the epochs in the directory dir.
func (c Catalog) List(made map[string]Made, dir string, s Scale) *runs.Table {
	t := runs.NewTable("results", "", runs.Column{Key: "id"}, runs.Column{Key: "title"}, runs.Column{Key: "epochs", Label: "epochs done", Kind: runs.Integer},
		runs.Column{Key: "needed", Label: "of", Kind: runs.Integer}, runs.Column{Key: "made"}, runs.Column{Key: "length", Label: "length of training"})
	for _, e := range c {
		if e.Make == nil {
			status := "cannot be made yet"
			if e.Blocked != "" {
				status = "blocked: " + e.Blocked
			}
			t.Add(e.ID, e.Title, nil, nil, status, nil)
			continue
		}
		status, length := "not yet", any(nil)
		if m, ok := made[e.ID]; ok {
			status, length = string(m.Scale), e.kind(m)
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
			done = needed // these epochs were done elsewhere if they are not in dir
		}
		t.Add(e.ID, e.Title, done, needed, cmp.Or(unusable, status), length)
	}
	return t
}

// Value returns the measured value of a number.
func (m Made) Value(n Number) (Value, bool) {
	return first(m.Values, func(v Value) bool { return v.Of == n.Of && v.Measure == n.Measure })
}

// measured returns the measured value with the given subject and measure, which need not be in the criteria.
func (m Made) measured(of, measure string) (Value, bool) {
	return first(slices.Concat(m.Values, m.Beside), func(v Value) bool { return v.Of == of && v.Measure == measure })
}

// value returns the measured value of a number, and in Elsewhere why it gets no verdict.
func (e Entry) value(m Made, n Number) (Value, bool) {
	v, found := m.Value(n)
	v.Elsewhere = e.elsewhere(m, n, v.Elsewhere)
	return v, found
}

func (c Claim) names(j Judged) bool { return j.Says == c.Says || j.Says == c.Broader }

// Verdict returns the finding on a claim.
func (m Made) Verdict(c Claim) (Judged, bool) { return first(m.Judged, c.names) }

// verdict returns the finding on a claim, under the claim's present name, and as far as the length of training allows.
func (e Entry) verdict(m Made, c Claim) (Judged, bool) {
	j, judged := m.Verdict(c)
	if j.Says, j.shortened = c.Says, e.shorter(m); judged && j.shortened && c.Amount {
		j.show()
	}
	return j, judged
}

func (e Entry) numbers(m Made) *runs.Table {
	published := "published (" + e.Place + ")"
	if e.beyond() {
		published = "published, or a goal"
	}
	if !slices.ContainsFunc(e.Numbers, func(n Number) bool { return !n.isBound() }) {
		published = "bound"
	}
	t := runs.NewTable("numbers", "", runs.Column{Key: "of"}, runs.Column{Key: "measure"},
		runs.Column{Key: "published", Label: published, Kind: runs.Number, Decimals: 3}, runs.Column{Key: "ours", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "error", Label: "± (seeds)"}, runs.Column{Key: "difference", Kind: runs.Number, Decimals: 3},
		runs.Column{Key: "tolerance", Kind: runs.Number, Decimals: 2}, runs.Column{Key: "verdict"},
		runs.Column{Key: "data", Label: "data, binarisation"}, runs.Column{Key: "by"})
	for _, n := range e.Numbers {
		v, ok := e.value(m, n)
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
	return t.WithoutMissing()
}

func (v Value) uncertainty() string {
	switch {
	case v.SD != nil:
		return fmt.Sprintf("sd %.3f, %s", *v.SD, seeds(v.Seeds))
	case v.SE != nil:
		return fmt.Sprintf("se %.3f, %s", *v.SE, seeds(v.Seeds))
	}
	return seeds(v.Seeds)
}

func (e Entry) claims(m Made) *runs.Table {
	t := runs.NewTable("claims", "", runs.Column{Key: "says", Label: "claim"}, runs.Column{Key: "holds", Label: "holds if"}, runs.Column{Key: "verdict"}, runs.Column{Key: "evidence"})
	for _, c := range e.Claims {
		j, _ := e.verdict(m, c)
		if c.Broader != "" && !e.beyond() {
			c.Says = fmt.Sprintf("%s (Of “%s”)", c.Says, c.Broader)
		}
		t.Add(c.Says, c.Holds, j.String(), j.Evidence)
	}
	return t
}

package reproduce

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/helmholtz-go/helmholtz/internal/lists"
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
	var err error
	render := func(of *template.Template, name string, data any) []byte {
		var text bytes.Buffer
		err = cmp.Or(err, of.ExecuteTemplate(&text, name, data))
		return text.Bytes()
	}
	all, beside := report{c, conclusions, made, folder}, pagesBeside("")
	pages := Pages{render(pagesBeside(folder+"/"), "first", all), map[string][]byte{}}
	for _, name := range []string{"evidence.md", "all.md"} {
		pages.Beside[name] = render(beside, name, all)
	}
	for e, m := range all.Among() {
		pages.Beside[e.file()] = render(beside, "entry", madeEntry{e, m})
	}
	var numbers bytes.Buffer
	err = cmp.Or(err, all.numbers().WriteCSV(&numbers))
	pages.Beside["numbers.csv"] = numbers.Bytes()
	return pages, err
}

//go:embed pages.tmpl
var templates string

// pagesBeside returns the templates of the pages. prefix leads from the pages to the folder of the results' pages.
func pagesBeside(prefix string) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"table": func(t *runs.Table) (string, error) {
			var text bytes.Buffer
			err := t.WriteMarkdown(&text)
			return marker.ReplaceAllString(text.String(), fmt.Sprintf("[$2](%s$1)", prefix)), err
		},
		"link":     func(e Entry) string { return fmt.Sprintf("[%s](%s%s)", e.ID, prefix, e.file()) },
		"escape":   names.Markdown,
		"undotted": func(text string) string { return strings.TrimSuffix(text, ".") },
		"join":     strings.Join,
		"base":     path.Base,
		"replace":  strings.ReplaceAll,
		"build":    build,
		"duration": duration,
		"seeds":    Entry.seeds,
		"standing": standing,
		"unmade":   unmadeIn,
		"sides":    func() any { return sides },
	}).Parse(templates))
}

// linked returns a marker for a table cell, which the template function table replaces by a link to the entry's page.
func (e Entry) linked() string { return "\uE000" + e.file() + "\uE001" + e.ID + "\uE002" }

var marker = regexp.MustCompile("\uE000(.*?)\uE001(.*?)\uE002")

func (e Entry) file() string { return fileName(e.ID) + ".md" }

// report is what the pages about all results show.
type report struct {
	Catalog
	Conclusions Conclusions
	Made        map[string]Made
	Folder      string
}

// Among returns the entries that have been made.
func (r report) Among() iter.Seq2[Entry, Made] {
	return func(yield func(Entry, Made) bool) {
		for _, e := range r.Catalog {
			if m, there := r.Made[e.ID]; there && !yield(e, m) {
				return
			}
		}
	}
}

// Counts counts the results by their origin and by the kinds of their lengths of training.
func (r report) Counts() (of struct {
	Published, Beyond, Full, Shorter int
	Kinds                            string
}) {
	byKind := map[string]int{}
	for _, e := range r.Catalog {
		if e.beyond() {
			of.Beyond++
		}
		if m, there := r.Made[e.ID]; there && !e.shorter(m) {
			of.Full++
			byKind[e.kind(m)]++
		}
	}
	divided := lists.Map(kinds[:len(kinds)-1], func(kind string) string { return fmt.Sprintf("%d %s", byKind[kind], kind) })
	of.Published, of.Shorter, of.Kinds = len(r.Catalog)-of.Beyond, len(r.Made)-of.Full, strings.Join(divided, ", ")
	return of
}

// List returns a table of the results that have been made, with the length of training and the number of
// verdicts of each kind on numbers and on claims.
func (r report) List() *runs.Table {
	t := runs.NewTable("all", "", runs.Column{Key: "result"}, runs.Column{Key: "title"}, runs.Column{Key: "scale"}, runs.Column{Key: "length", Label: "trained for"},
		runs.Column{Key: "numbers"}, runs.Column{Key: "claims"})
	for e, m := range r.Among() {
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
	return t
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

// Lengths returns a table that counts the results made, by the kind of their length of training.
func (r report) Lengths() *runs.Table {
	entries, seconds, processors := map[string]int{}, map[string]float64{}, map[string][]string{}
	for e, m := range r.Among() {
		kind := e.kind(m)
		entries[kind]++
		seconds[kind] += m.Seconds
		processors[kind] = append(processors[kind], strings.Split(m.Hardware, "; ")...)
	}
	t := runs.NewTable("lengths", "", runs.Column{Key: "length", Label: "length of training"}, runs.Column{Key: "results", Kind: runs.Integer}, runs.Column{Key: "hours", Label: "hours, what results share counted for each"}, runs.Column{Key: "processors"})
	for _, kind := range kinds {
		t.Add(kind, entries[kind], fmt.Sprintf("%.1f", seconds[kind]/3600), distinct(processors[kind]))
	}
	return t
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

func (r report) numbers() *runs.Table {
	number := func(key string) runs.Column { return runs.Column{Key: key, Kind: runs.Number} }
	t := runs.NewTable("numbers", "", runs.Column{Key: "id"}, runs.Column{Key: "of"}, runs.Column{Key: "measure"}, number("published"), number("ours"), number("sd"), number("se"),
		runs.Column{Key: "seeds", Kind: runs.Integer}, number("tolerance"), runs.Column{Key: "verdict"}, runs.Column{Key: "scale"}, runs.Column{Key: "data"}, runs.Column{Key: "by"})
	for e, m := range r.Among() {
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

// madeEntry is what the page of a result shows.
type madeEntry struct {
	Entry Entry
	Made  Made
}

func (x madeEntry) Tables() []*runs.Table { return x.Entry.Tables(x.Made) }
func (x madeEntry) Lengths() []string     { return x.Entry.lengths(x.Made) }
func (x madeEntry) Length() string        { return x.Entry.length() }

// Lost lists what older versions of the program did not record.
func (x madeEntry) Lost() (lost []string) {
	if x.Made.Hardware != "" && x.Made.Runs == nil {
		lost = append(lost, "the hashes of its data and checkpoints")
	}
	if slices.ContainsFunc(x.Made.Judged, func(j Judged) bool { return j.On == nil && j.Verdict != Shown && x.Made.Diverged == "" }) {
		lost = append(lost, "the quantities behind its verdicts, so that these cannot be judged anew")
	}
	return lost
}

// seeds describes how many seeds the trainings of an entry have. If the numbers differ, it gives the smallest
// and the largest.
func (e Entry) seeds(s Scale) string {
	numbers := lists.Map((Catalog{e}).Trainings(s), func(t Training) int { return max(1, t.Seeds) })
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

// Missing returns a table of the results that have not been made, or nil if there are none.
func (r report) Missing() *runs.Table {
	t := runs.NewTable("missing", "", runs.Column{Key: "id"}, runs.Column{Key: "title"}, runs.Column{Key: "why", Label: "waits for"})
	for _, e := range r.Catalog {
		if _, there := r.Made[e.ID]; there {
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
	return t
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

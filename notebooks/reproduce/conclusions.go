package reproduce

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Conclusion is a conclusion of a document, with the claims and numbers that bear on it.
type Conclusion struct {
	Says  string `toml:"says"`
	Place string `toml:"place"` // chapters or sections
	Note  string `toml:"note"`  // in Markdown: more that a reader must know
	Told  []Told `toml:"told"`
}

// Told names a result that bears on a conclusion: a claim, or a number with its subject and measure.
type Told struct {
	ID      string `toml:"id"`
	Claim   string `toml:"claim"`
	Of      string `toml:"of"`
	Measure string `toml:"measure"`
}

// Question is a reader's question: whether one method is ahead of another, in several settings.
type Question struct {
	Asks     string    `toml:"asks"`
	Less     string    `toml:"less"` // the difference: "NRWS − RWS"
	Note     string    `toml:"note"` // in Markdown
	Settings []Setting `toml:"setting"`
}

// Setting is a setting in which a question is asked. The answer is a number that is a difference, or the
// difference between two numbers, and claims about which method is ahead by epochs and by time. The numbers
// need not be in the criteria.
type Setting struct {
	Is      string `toml:"is"`
	ID      string `toml:"id"`
	Of      string `toml:"of"`
	Over    string `toml:"over"` // empty if the number is a difference
	Measure string `toml:"measure"`
	Epochs  *Told  `toml:"epochs"`
	Time    *Told  `toml:"time"`
}

// Conclusions are the conclusions of documents, the readers' first questions, and numbers that
// documents publish with different values.
type Conclusions struct {
	Symbols   string       `toml:"symbols"` // meaning of the settings' symbols
	Questions []Question   `toml:"question"`
	All       []Conclusion `toml:"conclusion"`
	Differing []Conclusion `toml:"differing"`
	Changes   []Change     `toml:"changed"`
}

// Change is a change of a rule, a verdict or a wording that was made after the measurements it
// concerns.
type Change struct {
	Date   string `toml:"date"`
	Commit string `toml:"commit"` // empty for the commit that adds this entry
	What   string `toml:"what"`   // in Markdown
	Why    string `toml:"why"`    // in Markdown
}

// ParseConclusions reads conclusions from TOML, with the arrays conclusion, question, differing and changed.
// It refuses conclusions and questions that refer to something that no result of the catalogue has. name
// names the text in errors.
func (c Catalog) ParseConclusions(name string, text []byte) (Conclusions, error) {
	var all Conclusions
	if err := decode(name, text, &all); err != nil {
		return all, err
	}
	rests := func(says string, on ...Told) error {
		for _, told := range on {
			if _, _, found := c.told(told); !found {
				return fmt.Errorf("%s: %q rests on %+v, which no result has: copy the id, and claim or of and measure, from the criteria", name, says, told)
			}
		}
		return nil
	}
	for _, conclusion := range slices.Concat(all.All, all.Differing) {
		if err := rests(conclusion.Says, conclusion.Told...); err != nil {
			return all, err
		}
	}
	for _, q := range all.Questions {
		for _, s := range q.Settings {
			if !slices.ContainsFunc(c, func(e Entry) bool { return e.ID == s.ID }) {
				return all, fmt.Errorf("%s: %q is asked of %q, which is not a result", name, q.Asks, s.ID)
			}
			for _, told := range []*Told{s.Epochs, s.Time} {
				if told != nil {
					if err := rests(q.Asks, *told); err != nil {
						return all, err
					}
				}
			}
		}
	}
	return all, nil
}

func (c Catalog) told(t Told) (claim Claim, number Number, found bool) {
	e := c.entry(t.ID)
	if claim, found = first(e.Claims, func(c Claim) bool { return t.Claim != "" && c.Says == t.Claim }); !found {
		number, found = e.Number(t.Of, t.Measure)
	}
	return claim, number, found
}

// first returns the first element that satisfies is, and reports whether there is one.
func first[T any](all []T, is func(T) bool) (one T, found bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return one, false
}

type finding struct {
	Judged
	Entry Entry
	Made  *Made // nil if the result has not been made
}

func (c Catalog) finding(t Told, made map[string]Made) (f finding) {
	f.Entry = c.entry(t.ID)
	m, there := made[t.ID]
	if !there {
		return f
	}
	f.Made = &m
	claim, number, _ := c.told(t)
	if t.Claim != "" {
		var judged bool
		if f.Judged, judged = f.Entry.verdict(m, claim); !judged {
			f.Judged = Judged{Says: claim.Says, Evidence: "declared after this result was made"}
		}
		return f
	}
	f.Judged = Judged{Says: number.String(), Evidence: cmp.Or(number.Blocked, m.Diverged)}
	if v, found := f.Entry.value(m, number); found {
		f.Verdict, f.Evidence = number.judge(v), fmt.Sprintf("%.3f", v.Ours)
		if !number.isBound() {
			f.Evidence += fmt.Sprintf(", published %.3f", number.Published)
		}
	}
	return f
}

// Findings returns the findings on a conclusion.
func (r report) Findings(of Conclusion) []finding {
	return lists.Map(of.Told, func(told Told) finding { return r.finding(told, r.Made) })
}

// Sorted returns the findings on a conclusion: first the findings for it, then those against it, then the others.
func (r report) Sorted(of Conclusion) []finding {
	return slices.SortedStableFunc(slices.Values(r.Findings(of)), func(a, b finding) int { return cmp.Compare(a.side(), b.side()) })
}

type side int

const (
	speaksFor side = iota
	against
	undecided // within its error, or open for a reason in its evidence
	unjudged  // measured, without a verdict
	unfound   // blocked or diverged, though the result was made
	unmade
)

var sides = [...]struct{ Mark, Name string }{
	speaksFor: {"✓", "for"}, against: {"✗", "against"}, undecided: {"?", "open"}, unjudged: {"·", noVerdict}, unfound: {"○", "not found"}, unmade: {"–", "not made yet"},
}

func (f finding) side() side {
	switch {
	case f.Made == nil:
		return unmade
	case slices.Contains([]Verdict{Holds, Reproduced, Met, Exceeded}, f.Verdict):
		return speaksFor
	case slices.Contains([]Verdict{Fails, Missed}, f.Verdict):
		return against
	case f.Verdict == Open:
		return undecided
	case f.Verdict == Shown:
		return unjudged
	}
	return unfound
}

// mark returns the mark of the finding's side. If the finding has no verdict, but its criterion holds or
// fails here, mark returns the mark for this in brackets.
func (f finding) mark() string {
	switch {
	case f.side() == unjudged && f.Here == Holds:
		return "(" + sides[speaksFor].Mark + ")"
	case f.side() == unjudged && f.Here == Fails:
		return "(" + sides[against].Mark + ")"
	}
	return sides[f.side()].Mark
}

// marked returns the mark and the result, linked for a table, with ¹ if it has one seed and ² if
// training was shorter or had fewer seeds.
func (f finding) marked() string {
	if f.Made == nil {
		return f.mark() + " " + f.Entry.ID
	}
	text := f.mark() + " " + f.Entry.linked()
	if f.Entry.oneSeed(f.Made.Scale) {
		text += "¹"
	}
	if f.Entry.shorter(*f.Made) {
		text += "²"
	}
	return text
}

// standing describes how a conclusion stands by its findings: "confirmed" or "contradicted". It adds "in
// part" if not all findings agree with this, and "so far" if none that agrees is from training at full
// length.
func standing(findings []finding) string {
	var of, full [len(sides)]int
	for _, f := range findings {
		of[f.side()]++
		if f.Made != nil && !f.Entry.shorter(*f.Made) {
			full[f.side()]++
		}
	}
	var stands []string
	for _, s := range []struct {
		side side
		word string
	}{{speaksFor, "confirmed"}, {against, "contradicted"}} {
		if of[s.side] == 0 {
			continue
		}
		if of[s.side] < len(findings) {
			s.word += " in part"
		}
		if full[s.side] == 0 {
			s.word += ", so far"
		}
		stands = append(stands, s.word)
	}
	switch {
	case len(stands) > 0:
		return strings.Join(stands, "; ")
	case of[undecided] > 0:
		return sides[undecided].Name
	case of[unjudged] > 0:
		return sides[unjudged].Name
	}
	return sides[unmade].Name
}

func (c Catalog) entry(id string) Entry {
	e, _ := first(c, func(e Entry) bool { return e.ID == id })
	return e
}

// Answers returns a table of the answers to a question, in the settings whose results have been made.
func (r report) Answers(q Question) *runs.Table {
	t := runs.NewTable("question", "", runs.Column{Key: "setting"}, runs.Column{Key: "length", Label: "trained for"},
		runs.Column{Key: "ours", Label: q.Less + ", nats"}, runs.Column{Key: "published", Kind: runs.Number, Decimals: 2},
		runs.Column{Key: "epochs", Label: "ahead by epochs"}, runs.Column{Key: "time", Label: "ahead by time"})
	mark := func(of *Told) string {
		if of == nil {
			return ""
		}
		return r.finding(*of, r.Made).marked()
	}
	for _, s := range q.Settings {
		if m, there := r.Made[s.ID]; there {
			e := r.entry(s.ID)
			ours, with := s.ours(m)
			trained := slices.DeleteFunc(e.lengths(m), func(length string) bool { return !strings.HasSuffix(length, with) })
			t.Add(s.Is, strings.Join(trained, "; "), ours, s.published(e), mark(s.Epochs), mark(s.Time))
		}
	}
	return t
}

func (s Setting) ours(m Made) (difference, with string) {
	a, found := m.measured(s.Of, s.Measure)
	if !found {
		return "", ""
	}
	se := a.SE
	if s.Over != "" {
		b, found := m.measured(s.Over, s.Measure)
		if !found {
			return "", ""
		}
		a.Ours -= b.Ours
		se = nil // for one seed on common rows, the difference has a smaller error than this sum
		if a.SD != nil && b.SD != nil {
			se = new(math.Hypot(*a.SD/math.Sqrt(float64(a.Seeds)), *b.SD/math.Sqrt(float64(b.Seeds))))
		}
	}
	if se == nil {
		return fmt.Sprintf("%+.2f", a.Ours), seeds(a.Seeds)
	}
	return fmt.Sprintf("%+.2f ± %.2f", a.Ours, *se), seeds(a.Seeds)
}

func (s Setting) published(e Entry) *float64 {
	a, found := e.Number(s.Of, s.Measure)
	b, both := e.Number(s.Over, s.Measure)
	if !found || s.Over != "" && !both {
		return nil
	}
	return new(a.Published - b.Published)
}

// Overview returns a table of how each conclusion stands.
func (r report) Overview() *runs.Table {
	t := runs.NewTable("conclusions", "", runs.Column{Key: "says", Label: "conclusion"}, runs.Column{Key: "stands"}, runs.Column{Key: "by"})
	for _, conclusion := range r.Conclusions.All {
		findings := r.Findings(conclusion)
		var by []string
		for _, f := range findings {
			if one := f.marked(); !slices.Contains(by, one) {
				by = append(by, one)
			}
		}
		t.Add(conclusion.Says, standing(findings), strings.Join(by, ", "))
	}
	return t
}

// Named returns the name of the finding's side, or its verdict if it has none.
func (f finding) Named() string {
	switch {
	case f.side() == unjudged:
		return f.Judged.String()
	case f.Entry.shorter(*f.Made) && f.side() != undecided:
		return sides[f.side()].Name + ", so far"
	}
	return sides[f.side()].Name
}

// Claims returns what the finding is about, without a full stop.
func (f finding) Claims() string {
	return strings.TrimPrefix(strings.TrimSuffix(f.Says, "."), "(shown) ")
}

// unmadeIn lists the results among findings that have not been made.
func unmadeIn(findings []finding) string {
	var ids []string
	for _, f := range findings {
		if f.Made == nil && !slices.Contains(ids, f.Entry.ID) {
			ids = append(ids, f.Entry.ID)
		}
	}
	return strings.Join(ids, ", ")
}

// Result is a published figure, table or number in a text, with the criteria by which it counts as
// reproduced. The criteria were declared before the training that they judge.
type Result struct {
	ID      string   `toml:"id"`    // document and figure, such as varady/fig5.6
	Place   string   `toml:"place"` // page, or section
	Title   string   `toml:"title"`
	Setting string   `toml:"setting"` // data, machine, method, length
	Length  Length   `toml:"length"`  // of training at the scale full
	Blocked string   `toml:"blocked"` // why not all of it can be made here, or empty
	Note    string   `toml:"note"`
	Numbers []Number `toml:"number"`
	Claims  []Claim  `toml:"claim"`
}

// Number returns the number with the given subject and measure, if the result has it.
func (r Result) Number(of, measure string) (n Number, has bool) {
	return first(r.Numbers, func(n Number) bool { return n.Of == of && n.Measure == measure })
}

// Length is the reason why training at the scale full is as long as it is.
type Length string

const (
	Printed     Length = "" // as printed
	Convergence Length = "until convergence"
	Own         Length = "own" // the document prints no length, or the data differ
)

func (r Result) length() string {
	switch {
	case r.Length == Convergence:
		return kinds[1]
	case r.Length == Own || r.beyond():
		return kinds[2]
	}
	return kinds[0]
}

// Beyond begins the place of a result that no document has. Such a result answers a question that this library
// asks.
const Beyond = "beyond the theses"

func (r Result) beyond() bool { return strings.HasPrefix(r.Place, Beyond) }

// Number is a published number with the tolerance within which it counts as
// reproduced: log-probabilities in nats, seconds as ratios.
type Number struct {
	Of        string   `toml:"of"`
	Measure   string   `toml:"measure"`
	Published float64  `toml:"published"`
	Tolerance *float64 `toml:"tolerance"` // nil if the number is blocked
	Blocked   string   `toml:"blocked"`   // what is missing, or empty
	// AnyLength reports whether the number gets a verdict at every length of training, because every scale reaches
	// its epoch or it needs no training.
	AnyLength bool `toml:"any_length"`
}

// Claim is a conclusion of a document, with the measurement for which it holds.
type Claim struct {
	Says    string `toml:"says"`
	Broader string `toml:"broader"` // a broader claim, of which Says is the part that Holds tests; older findings name it
	Holds   string `toml:"holds"`
	Amount  bool   `toml:"amount"` // whether Holds asks for more than an order; then shorter training gives no verdict
}

// ParseCriteria reads results from TOML, each a table of the array result. name names the
// text in errors.
func ParseCriteria(name string, text []byte) ([]Result, error) {
	var file struct {
		Results []Result `toml:"result"`
	}
	if err := decode(name, text, &file); err != nil {
		return nil, err
	}
	return file.Results, nil
}

func decode(name string, text []byte, into any) error {
	if err := runs.DecodeTOML(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

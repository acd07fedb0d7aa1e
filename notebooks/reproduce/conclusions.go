package reproduce

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Conclusion is what a document concludes, and which claims and numbers of its results
// bear on it.
type Conclusion struct {
	Says  string `toml:"says"`
	Place string `toml:"place"` // chapters or sections
	Note  string `toml:"note"`  // in Markdown: what a reader has to know beside it
	Told  []Told `toml:"told"`
}

// Told names what bears on a conclusion: a claim of a result, or one of its numbers by
// what it is of and its measure.
type Told struct {
	ID      string `toml:"id"`
	Claim   string `toml:"claim"`
	Of      string `toml:"of"`
	Measure string `toml:"measure"`
}

// Conclusions are what documents conclude, and what they publish with different values.
type Conclusions struct {
	Symbols   string       `toml:"symbols"` // what those of settings mean
	All       []Conclusion `toml:"conclusion"`
	Differing []Conclusion `toml:"differing"`
}

// ParseConclusions reads conclusions from TOML, each a table of the array conclusion or of the
// array differing, and refuses one that names what no result of the catalogue has. name is that of the
// text, for errors.
func (c Catalog) ParseConclusions(name string, text []byte) (Conclusions, error) {
	var all Conclusions
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&all)
	if err != nil {
		return all, fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return all, fmt.Errorf("%s: unknown keys %v", name, unknown)
	}
	for _, conclusion := range slices.Concat(all.All, all.Differing) {
		for _, told := range conclusion.Told {
			if _, _, found := c.told(told); !found {
				return all, fmt.Errorf("%s: %q rests on %+v, which no result has: write its id, and claim or of and measure, as the criteria have them", name, conclusion.Says, told)
			}
		}
	}
	return all, nil
}

// told finds the claim or the number that bears on a conclusion.
func (c Catalog) told(t Told) (claim Claim, number Number, found bool) {
	i := slices.IndexFunc(c, func(e Entry) bool { return e.ID == t.ID })
	if i < 0 {
		return claim, number, false
	}
	for _, claim := range c[i].Claims {
		if t.Claim != "" && claim.Says == t.Claim {
			return claim, number, true
		}
	}
	for _, number := range c[i].Numbers {
		if t.Of != "" && number.Of == t.Of && number.Measure == t.Measure {
			return claim, number, true
		}
	}
	return claim, number, false
}

// A finding is what has been found of what bears on a conclusion.
type finding struct {
	Judged
	entry Entry
	made  *Made // nil where it has not been made
}

// finding is what has been found of what bears on a conclusion.
func (c Catalog) finding(t Told, made map[string]Made) (f finding) {
	f.entry = c[slices.IndexFunc(c, func(e Entry) bool { return e.ID == t.ID })]
	m, there := made[t.ID]
	if !there {
		return f
	}
	f.made = &m
	claim, number, _ := c.told(t)
	if t.Claim != "" {
		f.Judged, _ = m.Verdict(claim)
		return f
	}
	f.Judged = Judged{Says: number.String(), Evidence: cmp.Or(number.Blocked, m.Diverged)}
	if v, found := m.Value(number); found {
		f.Verdict, f.Evidence = number.judge(v), fmt.Sprintf("%.3f", v.Ours)
		if !number.isBound() {
			f.Evidence += fmt.Sprintf(", published %.3f", number.Published)
		}
	}
	return f
}

// findings are those that bear on a conclusion.
func (c Catalog) findings(conclusion Conclusion, made map[string]Made) (all []finding) {
	for _, told := range conclusion.Told {
		all = append(all, c.finding(told, made))
	}
	return all
}

// A side is where a finding stands to a conclusion.
type side int

const (
	speaksFor side = iota
	against
	undecided // too near for its error, or for a reason that its evidence gives
	unjudged  // measured, without a verdict
	unfound   // made, but for what is blocked, or has diverged
	unmade
)

// sides are the mark and the name of each.
var sides = [...]struct{ mark, name string }{
	speaksFor: {"✓", "for"}, against: {"✗", "against"}, undecided: {"?", "open"}, unjudged: {"·", noVerdict}, unfound: {"–", "not found"}, unmade: {"–", "not made yet"},
}

func (f finding) side() side {
	switch {
	case f.made == nil:
		return unmade
	case slices.Contains([]Verdict{Holds, Reproduced, Exceeded}, f.Verdict):
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

// mark is that of the finding's side, in brackets that of how its criterion stands here where it
// has no verdict.
func (f finding) mark() string {
	switch {
	case f.side() == unjudged && f.Here == Holds:
		return "(" + sides[speaksFor].mark + ")"
	case f.side() == unjudged && f.Here == Fails:
		return "(" + sides[against].mark + ")"
	}
	return sides[f.side()].mark
}

// standing says how a conclusion stands by its findings: in part where there are others beside
// those that confirm or contradict it, so far where none of these is of the published length.
func standing(findings []finding) string {
	var of, full [len(sides)]int
	for _, f := range findings {
		of[f.side()]++
		if f.made != nil && f.made.Scale == Full {
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
		return sides[undecided].name
	case of[unjudged] > 0:
		return sides[unjudged].name
	}
	return sides[unmade].name
}

// overview writes a table of the conclusions, and how each stands.
func (p *page) overview(c Catalog, conclusions []Conclusion, made map[string]Made) {
	t := runs.NewTable("conclusions", "",
		runs.Column{Key: "says", Label: "conclusion", Kind: runs.Text},
		runs.Column{Key: "stands", Label: "stands", Kind: runs.Text},
		runs.Column{Key: "by", Label: "by", Kind: runs.Text},
	)
	for _, conclusion := range conclusions {
		findings := c.findings(conclusion, made)
		var by []string
		for _, f := range findings {
			if one := f.mark() + " " + f.entry.ID; !slices.Contains(by, one) {
				by = append(by, one)
			}
		}
		t.Add(conclusion.Says, standing(findings), strings.Join(by, ", "))
	}
	p.table(t)
}

// link names the result of a finding, and leads to it where there is one.
func (f finding) link() string {
	if f.made == nil {
		return runs.EscapeMarkdown(f.entry.ID)
	}
	return f.entry.link()
}

// evidence writes an item for each conclusion: what findings speak for it and against it, what
// leaves it open, and what is to come.
func (p *page) evidence(c Catalog, conclusions []Conclusion, made map[string]Made) {
	for _, conclusion := range conclusions {
		findings := c.findings(conclusion, made)
		p.print("- **%s** (%s): %s.", runs.EscapeMarkdown(conclusion.Says), runs.EscapeMarkdown(conclusion.Place), standing(findings))
		if conclusion.Note != "" {
			p.print(" %s", conclusion.Note)
		}
		p.print("\n")
		slices.SortStableFunc(findings, func(a, b finding) int { return cmp.Compare(a.side(), b.side()) })
		var missing []string
		for _, f := range findings {
			if f.made == nil {
				if !slices.Contains(missing, f.link()) {
					missing = append(missing, f.link())
				}
				continue
			}
			name := sides[f.side()].name
			if f.side() == unjudged {
				name = f.Judged.String()
			}
			p.print("  - %s: %s (%s, %s): %s: %s\n", name, f.link(), f.made.Scale, f.entry.seeds(f.made.Scale),
				runs.EscapeMarkdown(strings.TrimPrefix(strings.TrimSuffix(f.Says, "."), "(shown) ")), runs.EscapeMarkdown(f.Evidence))
		}
		if len(missing) > 0 {
			p.print("  - %s: %s\n", sides[unmade].name, strings.Join(missing, ", "))
		}
	}
	p.print("\n")
}

package reproduce

import (
	"bytes"
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

// ParseConclusions reads conclusions from TOML, each a table of the array conclusion,
// and refuses one that names what no result of the catalogue has. name is that of the
// text, for errors.
func (c Catalog) ParseConclusions(name string, text []byte) ([]Conclusion, error) {
	var file struct {
		Conclusions []Conclusion `toml:"conclusion"`
	}
	meta, err := toml.NewDecoder(bytes.NewReader(text)).Decode(&file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return nil, fmt.Errorf("%s: unknown keys %v", name, unknown)
	}
	for _, conclusion := range file.Conclusions {
		for _, told := range conclusion.Told {
			if _, _, found := c.told(told); !found {
				return nil, fmt.Errorf("%s: %q rests on %+v, which no result has: write its id, and claim or of and measure, as the criteria have them", name, conclusion.Says, told)
			}
		}
	}
	return file.Conclusions, nil
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

// finding is what has been found of what bears on a conclusion, the empty verdict where
// nothing has.
func (c Catalog) finding(t Told, made map[string]Made) (verdict Verdict, evidence string) {
	m, there := made[t.ID]
	if !there {
		return "", ""
	}
	claim, number, _ := c.told(t)
	from := fmt.Sprintf("(%s, %s)", t.ID, m.Scale)
	if t.Claim != "" {
		j, _ := m.Verdict(claim)
		return j.Verdict, fmt.Sprintf("%s %s: %s", strings.TrimSuffix(claim.Says, "."), from, j.Evidence)
	}
	if v, ok := m.Value(number); ok {
		return number.judge(v), fmt.Sprintf("%v %s: %.3f, published %.3f", number, from, v.Ours, number.Published)
	}
	return "", ""
}

// conclusions writes an item for each: what findings speak for it and against it, and
// which results would tell more.
func (p *page) conclusions(c Catalog, conclusions []Conclusion, made map[string]Made) {
	for _, conclusion := range conclusions {
		var speakFor, against, more []string
		soFar := ", so far"
		for _, told := range conclusion.Told {
			verdict, evidence := c.finding(told, made)
			if !slices.Contains([]Verdict{"", Open, Shown}, verdict) && made[told.ID].Scale == Full {
				soFar = ""
			}
			switch verdict {
			case Holds, Reproduced, Exceeded:
				speakFor = append(speakFor, evidence)
			case Fails, Missed:
				against = append(against, evidence)
			default: // open, without a verdict, or not made
				if !slices.Contains(more, told.ID) {
					more = append(more, told.ID)
				}
			}
		}
		stands := "open"
		switch {
		case len(speakFor) > 0 && len(against) > 0:
			stands = "for and against" + soFar
		case len(speakFor) > 0:
			stands = "for" + soFar
		case len(against) > 0:
			stands = "against" + soFar
		}
		p.print("- **%s** (%s): %s\n", runs.EscapeMarkdown(conclusion.Says), runs.EscapeMarkdown(conclusion.Place), stands)
		for _, evidence := range speakFor {
			p.print("  - for: %s\n", runs.EscapeMarkdown(evidence))
		}
		for _, evidence := range against {
			p.print("  - against: %s\n", runs.EscapeMarkdown(evidence))
		}
		if len(more) > 0 {
			p.print("  - would tell more: %s\n", strings.Join(more, ", "))
		}
	}
	p.print("\n")
}

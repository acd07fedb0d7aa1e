package reproduce

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Tables are those of the numbers and of the claims of a result, published beside
// what was found.
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

// List is a table of the entries, with what there is of them at a scale in the
// directory of their trainings.
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
		t.Add(e.ID, e.Title, done, needed, cmp.Or(unusable, status))
	}
	return t
}

// Value is what was measured of a number.
func (m Made) Value(n Number) (Value, bool) {
	return first(m.Values, func(v Value) bool { return v.Of == n.Of && v.Measure == n.Measure })
}

// measured is what was measured under a name, of a number of the criteria or beside them.
func (m Made) measured(of, measure string) (Value, bool) {
	return first(slices.Concat(m.Values, m.Beside), func(v Value) bool { return v.Of == of && v.Measure == measure })
}

// Verdict is what was found of a claim.
func (m Made) Verdict(c Claim) (Judged, bool) {
	return first(m.Judged, func(j Judged) bool { return j.Says == c.Says })
}

// numbers is the table of an entry's numbers, published beside measured.
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

// uncertainty is the spread over seeds, or the standard error.
func (v Value) uncertainty() string {
	switch {
	case v.SD != nil:
		return fmt.Sprintf("sd %.3f, %s", *v.SD, seeds(v.Seeds))
	case v.SE != nil:
		return fmt.Sprintf("se %.3f, %s", *v.SE, seeds(v.Seeds))
	}
	return seeds(v.Seeds)
}

// claims is the table of an entry's claims.
func (e Entry) claims(m Made) *runs.Table {
	t := runs.NewTable("claims", "", runs.Column{Key: "says", Label: "claim"}, runs.Column{Key: "holds", Label: "holds if"}, runs.Column{Key: "verdict"}, runs.Column{Key: "evidence"})
	for _, c := range e.Claims {
		j, _ := m.Verdict(c)
		t.Add(c.Says, c.Holds, j.String(), j.Evidence)
	}
	return t
}

package hm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Groups is a number of equal categorical variables of the visible layer: consecutive groups of
// units, at most one of which is on (softmax). Its text is COUNT*UNITS, such as 42*3, or UNITS for a
// single variable. A + at the end adds a category in which no unit of a group is on: 60*3+ is 60
// variables of four values with three units each, and 1+ is a Bernoulli unit. The zero value, whose
// text is data, stands for the columns of the data set.
type Groups struct {
	Count, Units int
	Rest         bool // no unit on is one more category
}

func (g Groups) String() string {
	text := engine.Group{Units: g.Units, Rest: g.Rest}.String()
	switch {
	case g == Groups{}:
		return "data"
	case g.Count == 1:
		return text
	}
	return fmt.Sprintf("%d*%s", g.Count, text)
}

// MarshalText returns the text of groups.
func (g Groups) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

var groupsText = regexp.MustCompile(`^(?:(\d{1,6})\*)?(\d{1,6})(\+?)$`)

// UnmarshalText parses text written by MarshalText.
func (g *Groups) UnmarshalText(text []byte) error {
	if string(text) == "data" {
		*g = Groups{}
		return nil
	}
	parts := groupsText.FindStringSubmatch(string(text))
	if parts == nil {
		return fmt.Errorf("groups %q: write count*units, such as 42*3, with + at the end if no unit of a group may be on, or data for the columns of the data set", text)
	}
	*g = Groups{Count: 1, Rest: parts[3] == "+"}
	if parts[1] != "" {
		g.Count, _ = strconv.Atoi(parts[1]) // six digits
	}
	g.Units, _ = strconv.Atoi(parts[2])
	return nil
}

// groupsOf returns the groups of the columns of a set.
func groupsOf(set *dataset.Set) (all []Groups, err error) {
	for _, c := range set.Columns() {
		g := Groups{1, c.Units, c.Rest || c.Kind == dataset.BinaryColumn}
		switch last := len(all) - 1; {
		case c.Units == 0:
		case c.Kind == dataset.RealColumn && c.Units == 1:
			return nil, fmt.Errorf("groups = data for %s, whose column %s is one real number: divide it into ranges with columns = %q and binarization = fixed", set.Name(), c.Name, c.Name+"=real:4")
		case last >= 0 && all[last].Units == g.Units && all[last].Rest == g.Rest:
			all[last].Count++
		default:
			all = append(all, g)
		}
	}
	if all == nil {
		return nil, fmt.Errorf("groups = data for %s, which has no columns: write the groups out, such as 42*3, or omit them", set.Name())
	}
	return all, nil
}

// withGroupsOf returns the description with the groups of a set in place of data.
func (s MachineSpec) withGroupsOf(set *dataset.Set) (MachineSpec, error) {
	switch {
	case !slices.Contains(s.Groups, Groups{}):
		return s, nil
	case len(s.Groups) > 1:
		return s, fmt.Errorf("groups = %v: data stands alone, for all columns of the data set", s.Groups)
	}
	groups, err := groupsOf(set)
	s.Groups = groups
	return s, err
}

// addGroups adds the groups of the visible layer to an architecture.
func (s MachineSpec) addGroups(a *engine.Architecture) {
	if len(s.Groups) == 0 {
		return
	}
	groups, units := []engine.Group{}, 0
	for _, of := range s.Groups {
		for k := 0; k < of.Count && units <= a.Units[0]; k++ {
			groups = append(groups, engine.Group{Units: of.Units, Rest: of.Rest})
			units += max(1, of.Units)
		}
	}
	if a.Kinds == nil {
		a.Kinds = []Kind{Bernoulli}
	}
	a.Kinds[0], a.Groups = engine.Categorical, [][]engine.Group{groups}
}

// checkGroups returns an error for groups that do not suit the machine, the method or the rows.
func (e Experiment) checkGroups(a engine.Architecture, set *dataset.Set) error {
	m, s := e.Machine, e.Method
	switch binarization := e.Dataset.Binarization; {
	case len(m.Groups) == 0:
		return nil
	case len(m.Units) > 0 && m.Units[0] != Bernoulli:
		return fmt.Errorf("groups with units = %v: the visible units of groups are categorical; omit the groups, or write bernoulli for the visible layer", m.Units)
	case binarization == dataset.Stochastic || binarization == dataset.Gray || binarization == dataset.Real:
		return fmt.Errorf("groups with the binarization %v: at most one unit of a group is 1, and the others are 0; use fixed", binarization)
	case s.Entropy != 0 || s.EntropyEstimator != 0:
		return fmt.Errorf("an entropy regulariser with groups: it is defined for Bernoulli units; omit it, or the groups")
	case s.Metric == Kronecker:
		return fmt.Errorf("metric = %v with groups: it treats the units of a group as independent; use block, which has one block per group, or diagonal", s.Metric)
	}
	for _, rows := range []dataset.Split{set.Train(), set.Validation(), set.Test()} {
		if err := checkStates(a, rows); err != nil {
			return err
		}
	}
	return nil
}

// checkStates returns an error if a row of a split is in no category, or in several, of a group.
func checkStates(a engine.Architecture, rows dataset.Split) error {
	if len(a.Groups) == 0 {
		return nil
	}
	states := make([]uint8, rows.Shape.Units())
	for r := range rows.Rows {
		for j, v := range rows.Row(r) {
			states[j] = v / 128
		}
		if err := a.CheckStates(0, states); err != nil {
			return fmt.Errorf("row %d of the %s rows has %w: a group has exactly one unit on, or with + at most one; use other groups", r+1, rows.Name, err)
		}
	}
	return nil
}

// startOfGroups returns the values, 0 or 255, with which the missing units of a mask start: off, or
// in the first category of a group that needs one. It returns an error for a mask that hides a part
// of a group.
func (m *Model) startOfGroups(mask dataset.Mask) ([]uint8, error) {
	start, first := make([]uint8, len(mask)), 0
	if a := m.Architecture(); len(a.Groups) > 0 {
		for k, g := range a.Groups[0] {
			hidden := mask[first : first+g.Units]
			if slices.Contains(hidden, true) && slices.Contains(hidden, false) {
				return nil, fmt.Errorf("the mask hides some of the %d units of group %d: hide all or none of them", g.Units, k+1)
			}
			if hidden[0] && !g.Rest {
				start[first] = 255
			}
			first += g.Units
		}
	}
	return start, nil
}

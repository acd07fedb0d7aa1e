package hm

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Groups describes Count categorical variables of a layer. Each is a group of consecutive units, of
// which at most one is on (softmax). Its text is COUNT*UNITS, such as 42*3, or UNITS for a single
// variable. A + at the end adds a category in which no unit of a group is on: 60*3+ is 60 variables
// with three units and four categories each, and 1+ is a Bernoulli unit. An r at the end makes the
// units real numbers: 3r is three Gaussian units. The prefix hL: puts the groups into hidden layer L,
// as in h1:25*4; without a prefix, they are visible. The zero value, whose text is data, stands for
// the columns of the data set.
type Groups struct {
	Count, Units int
	Rest         bool // each variable has one more category, in which no unit is on
	Layer        int  // 0 for the visible layer
	Real         bool // the units are Gaussian
}

func (g Groups) String() string {
	if g == (Groups{}) {
		return "data"
	}
	text := engine.Group{Units: g.Units, Rest: g.Rest, Real: g.Real}.String()
	if g.Count != 1 {
		text = fmt.Sprintf("%d*%s", g.Count, text)
	}
	if g.Layer != 0 {
		text = fmt.Sprintf("h%d:%s", g.Layer, text)
	}
	return text
}

func (g Groups) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

var groupsText = regexp.MustCompile(`^(?:h([1-9]\d{0,5}):)?(?:(\d{1,6})\*)?(\d{1,6})(\+?)(r?)$`)

func (g *Groups) UnmarshalText(text []byte) error {
	if string(text) == "data" {
		*g = Groups{}
		return nil
	}
	parts := groupsText.FindStringSubmatch(string(text))
	if parts == nil {
		return fmt.Errorf("groups %q: write count*units, such as 42*3, with + at the end if no unit of a group may be on or r for real numbers, and h1: before it for hidden layer 1, or data for the columns of the data set", text)
	}
	*g = Groups{Count: 1, Rest: parts[4] != "", Real: parts[5] != ""}
	g.Layer, _ = strconv.Atoi(parts[1]) // at most six digits, or none
	if parts[2] != "" {
		g.Count, _ = strconv.Atoi(parts[2])
	}
	g.Units, _ = strconv.Atoi(parts[3])
	return nil
}

func groupsOf(set *dataset.Set) (all []Groups, err error) {
	for _, c := range set.Columns() {
		g := Groups{Count: 1, Units: c.Units, Rest: c.Rest || c.Kind == dataset.BinaryColumn}
		number := c.Kind == dataset.RealColumn && c.Units == 1 && set.Spec().Binarization == dataset.Real
		switch last := len(all) - 1; {
		case c.Units == 0:
		case c.Units == 1 && !g.Rest && !number && constant(set.Train(), c.First):
			return nil, fmt.Errorf("groups = data for %s, whose column %s is one unit that is the same in all training rows: leave it out with columns = %q (--columns) or, if its numbers differ, divide them into more ranges or categories, such as columns = %q or %q",
				set.Name(), c.Name, c.Name+"=skip", c.Name+"=real:20", c.Name+"=categorical")
		case c.Kind == dataset.RealColumn && c.Units == 1 && !number:
			return nil, fmt.Errorf("groups = data for %s, whose column %s is one real number: keep it with binarization = real, or divide it into ranges with columns = %q", set.Name(), c.Name, c.Name+"=real:4")
		case number && last >= 0 && all[last].Real:
			all[last].Units++
		case number:
			all = append(all, Groups{Count: 1, Units: 1, Real: true})
		case last >= 0 && !all[last].Real && all[last].Units == g.Units && all[last].Rest == g.Rest:
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

// constant reports whether a unit has the same value in all rows.
func constant(rows dataset.Split, unit int) bool {
	for r := range rows.Rows {
		if rows.At(r*rows.Shape.Units()+unit) != rows.At(unit) {
			return false
		}
	}
	return true
}

// withGroupsOf returns the description, in which the groups of the set's columns replace the entry data.
func (s MachineSpec) withGroupsOf(set *dataset.Set) (MachineSpec, error) {
	i := slices.Index(s.Groups, Groups{})
	if i < 0 {
		return s, nil
	}
	others := slices.Delete(slices.Clone(s.Groups), i, i+1)
	if slices.ContainsFunc(others, func(g Groups) bool { return g.Layer == 0 }) {
		return s, fmt.Errorf("groups = %v: data describes all visible units; omit the other visible groups", s.Groups)
	}
	groups, err := groupsOf(set)
	s.Groups = append(groups, others...)
	return s, err
}

func (s MachineSpec) addGroups(a *engine.Architecture) {
	for _, group := range s.Groups {
		if group.Layer < 0 || group.Layer > a.Depth() {
			continue // checkGroups returns an error
		}
		for len(a.Kinds) <= group.Layer {
			a.Kinds = append(a.Kinds, Bernoulli)
		}
		for len(a.Groups) <= group.Layer {
			a.Groups = append(a.Groups, nil)
		}
		a.Kinds[group.Layer] = engine.Categorical
		groups := &a.Groups[group.Layer]
		if *groups == nil {
			*groups = []engine.Group{}
		}
		for k := 0; k < group.Count && len(*groups) <= a.Units[group.Layer]; k++ {
			*groups = append(*groups, engine.Group{Units: group.Units, Rest: group.Rest, Real: group.Real})
		}
	}
}

func (e Experiment) checkGroups(a engine.Architecture, set *dataset.Set) error {
	m, s := e.Machine, e.Method
	if len(m.Groups) == 0 {
		return nil
	}
	depth := len(m.Convolutions) + len(m.Layers)
	for _, g := range m.Groups {
		switch {
		case g.Layer < 0 || g.Layer > depth:
			return fmt.Errorf("groups %v of hidden layer %d: the machine has %d hidden layers, except for a label", g, g.Layer, depth)
		case len(m.Units) == 1 && m.Units[0] != Bernoulli || len(m.Units) > g.Layer && m.Units[g.Layer] != Bernoulli:
			return fmt.Errorf("groups %v with units = %v: the units of groups are categorical; omit the groups, or write bernoulli for their layer", g, m.Units)
		case g.Layer > 0 && s.Phases == JointStochastic:
			return fmt.Errorf("groups %v of a hidden layer with the phases jsa, whose chains hold binary states: use other phases", g)
		}
	}
	binarization := e.Dataset.Binarization
	switch {
	case a.Kind(0) == engine.Categorical && !a.Binary(0) && binarization != dataset.Real:
		return fmt.Errorf("groups of real numbers with the binarization %v, which makes them 0 or 1: use real", binarization)
	case a.Kind(0) == engine.Categorical && a.Binary(0) && (binarization == dataset.Stochastic || binarization == dataset.Gray || binarization == dataset.Real):
		return fmt.Errorf("groups with the binarization %v: at most one unit of a group is 1, and the others are 0; use fixed, or real together with groups of real numbers such as 3r", binarization)
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

// checkStates returns an error if the rows of a split do not suit the visible groups: if a row is in
// no category of a group or in several, or if the rows are real numbers and no unit is, or the reverse.
func checkStates(a engine.Architecture, rows dataset.Split) error {
	switch {
	case a.Kind(0) != engine.Categorical || rows.Rows == 0:
		return nil
	case rows.AreReal() && a.Binary(0):
		return fmt.Errorf("the %s rows are real numbers, but the visible units are in groups: open the set with the binarization fixed", rows.Name)
	case !rows.AreReal() && !a.Binary(0):
		return fmt.Errorf("the %s rows are not real numbers, but some visible units are: open the set with the binarization real", rows.Name)
	}
	states, real := make([]uint8, rows.Shape.Units()), []bool{}
	for _, g := range a.Variables(0) {
		real = append(real, slices.Repeat([]bool{g.Real}, g.Units)...)
	}
	for r := range rows.Rows {
		mask := rows.Mask(r)
		start, err := startOfGroups(a, mask)
		if err != nil {
			return fmt.Errorf("row %d of the %s rows: %w", r+1, rows.Name, err)
		}
		for j := range states {
			v := rows.At(r*len(states) + j)
			if mask != nil && mask[j] {
				v = float64(start[j]) / 255
			}
			if states[j] = 0; v >= 0.5 {
				states[j] = 1
			}
			if rows.AreReal() && !real[j] && v != float64(states[j]) {
				return fmt.Errorf("row %d of the %s rows has %v in unit %d, which belongs to a categorical group: give it 0 or 1, or make it a real number by a group such as 1r", r+1, rows.Name, v, j+1)
			}
		}
		if err := a.CheckStates(0, states); err != nil {
			return fmt.Errorf("row %d of the %s rows has %w: a group has exactly one unit on, or with + at most one; use other groups", r+1, rows.Name, err)
		}
	}
	return nil
}

// startOfGroups returns the initial values of the units that a mask hides: 255 for the first unit of a
// group that must have a unit on, and 0 for all others. It returns an error if the mask hides only part
// of a categorical group. A mask that is nil hides nothing.
func startOfGroups(a engine.Architecture, mask dataset.Mask) ([]uint8, error) {
	if mask == nil {
		return nil, nil
	}
	start, first := make([]uint8, len(mask)), 0
	for k, g := range a.Variables(0) {
		hidden := mask[first : first+g.Units]
		if slices.Contains(hidden, true) && slices.Contains(hidden, false) && !g.Real {
			return nil, fmt.Errorf("the mask hides some of the %d units of group %d: hide all or none of them", g.Units, k+1)
		}
		if hidden[0] && !g.Rest && !g.Real {
			start[first] = 255
		}
		first += g.Units
	}
	return start, nil
}

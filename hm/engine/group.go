package engine

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Group is a categorical variable: consecutive units of a layer, at most one of which is on. With
// outputs a, unit k is on with probability eᵃᵏ/Σ eᵃ (softmax).
type Group struct {
	Units int `json:"units"`
	// Rest adds a category in which no unit is on, with output 0, such as the fourth value of a
	// variable that has three units. A unit alone, with Rest, is a Bernoulli unit.
	Rest bool `json:"rest,omitempty"`
}

// Categories returns the number of categories.
func (g Group) Categories() int {
	if g.Rest {
		return g.Units + 1
	}
	return g.Units
}

func (g Group) String() string {
	if g.Rest {
		return fmt.Sprintf("%d+", g.Units)
	}
	return fmt.Sprint(g.Units)
}

// groups returns the groups of layer i, or nil.
func (a Architecture) groups(i int) []Group {
	if i < len(a.Groups) {
		return a.Groups[i]
	}
	return nil
}

// Variables returns the categorical variables of layer i, or nil for units of another kind.
func (a Architecture) Variables(i int) []Group {
	switch groups := a.groups(i); {
	case a.Kind(i) != Categorical:
		return nil
	case groups == nil:
		return []Group{{Units: a.Units[i]}}
	default:
		return groups
	}
}

// EndOfVariables returns the first number of units of layer i, from the given one on, after which no
// group is incomplete.
func (a Architecture) EndOfVariables(i, units int) int {
	end := 0
	for _, g := range a.groups(i) {
		if end >= units {
			break
		}
		end += g.Units
	}
	return max(end, units)
}

// checkGroups returns an error for groups that do not fit the units of their layers.
func (a Architecture) checkGroups() error {
	if len(a.Groups) > len(a.Units) {
		return fmt.Errorf("groups of %d layers for a machine of %d: use at most one list per layer", len(a.Groups), len(a.Units))
	}
	for i, groups := range a.Groups {
		if groups == nil {
			continue
		}
		if a.Kind(i) != Categorical {
			return fmt.Errorf("groups of layer %d, whose units are of kind %v: only categorical units have groups", i, a.Kind(i))
		}
		units := 0
		for k, g := range groups {
			if g.Units < 1 || g.Units > a.Units[i] || g.Categories() < 2 {
				return fmt.Errorf("group %d of layer %d has %s and %d categories: use at least 2 categories", k+1, i, names.Count(g.Units, "unit"), g.Categories())
			}
			units += g.Units
		}
		if units != a.Units[i] {
			return fmt.Errorf("the groups of layer %d have %d units, the layer %d: each unit belongs to one group", i, units, a.Units[i])
		}
		for _, c := range []int{i - 1, i} {
			if c >= 0 && c < len(a.Convolutions) && a.Convolutions[c] != (Convolution{}) {
				return fmt.Errorf("groups of layer %d, which a convolution connects to another: connect it densely", i)
			}
		}
	}
	return nil
}

// CheckStates returns an error if states of layer i, 1 for on and 0 for off, have a variable with
// several units on, or with none that has no Rest.
func (a Architecture) CheckStates(i int, states []uint8) error {
	for k, g := range a.Variables(i) {
		on := 0
		for _, s := range states[:g.Units] {
			on += int(s)
		}
		if on > 1 || on == 0 && !g.Rest {
			return fmt.Errorf("%d of the %d units of group %d on", on, g.Units, k+1)
		}
		states = states[g.Units:]
	}
	return nil
}

// EqualGroups reports whether two machines have the same groups.
func (a Architecture) EqualGroups(b Architecture) bool {
	return slices.EqualFunc(a.Groups, b.Groups, slices.Equal[[]Group])
}

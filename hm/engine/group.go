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
	// Rest adds a category in which no unit is on, and whose output is 0. For example, a variable
	// with three units and Rest has four values. A single unit with Rest is a Bernoulli unit.
	Rest bool `json:"rest,omitempty"`
	// Real makes the units independent Gaussian units instead of a categorical variable. Their
	// outputs are first all μ, then all a.
	Real bool `json:"real,omitempty"`
}

// Outputs returns the number of outputs of the units.
func (g Group) Outputs() int {
	if g.Real {
		return g.Units * Gaussian.Outputs()
	}
	return g.Units
}

// Categories returns the number of categories.
func (g Group) Categories() int {
	if g.Rest {
		return g.Units + 1
	}
	return g.Units
}

func (g Group) String() string {
	text := fmt.Sprint(g.Units)
	if g.Rest {
		text += "+"
	}
	if g.Real {
		text += "r"
	}
	return text
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

// Binary reports whether all units of layer i are either on or off.
func (a Architecture) Binary(i int) bool {
	return a.Kind(i) != Gaussian && !slices.ContainsFunc(a.groups(i), func(g Group) bool { return g.Real })
}

// Outputs returns the number of outputs of the units of layer i.
func (a Architecture) Outputs(i int) (outputs int) {
	if a.groups(i) == nil {
		return a.Units[i] * a.Kind(i).Outputs()
	}
	for _, g := range a.groups(i) {
		outputs += g.Outputs()
	}
	return outputs
}

// Deviations reports, for each output at one position of layer i, whether it is the a of a Gaussian
// unit. outputs is the number of outputs at that position.
func (a Architecture) Deviations(i, outputs int) (all []bool) {
	groups := a.groups(i)
	if groups == nil {
		groups = []Group{{Units: outputs / a.Kind(i).Outputs(), Real: a.Kind(i) == Gaussian}}
	}
	for _, g := range groups {
		for k := range g.Outputs() {
			all = append(all, k >= g.Units)
		}
	}
	return all
}

// Blocks returns the number of consecutive outputs in each Fisher block of layer i, or nil if the
// layer has no groups. The units of a categorical variable share one block.
func (a Architecture) Blocks(i int) (sizes []int) {
	for _, g := range a.groups(i) {
		if g.Real {
			sizes = append(sizes, slices.Repeat([]int{1}, g.Outputs())...)
		} else {
			sizes = append(sizes, g.Units)
		}
	}
	return sizes
}

// EndOfVariables returns the smallest number n, at least outputs, such that the first n outputs of
// layer i split no group.
func (a Architecture) EndOfVariables(i, outputs int) int {
	end := 0
	for _, g := range a.groups(i) {
		if end >= outputs {
			break
		}
		end += g.Outputs()
	}
	return max(end, outputs)
}

// checkGroups returns an error if some groups do not fit the units of their layer.
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
			switch {
			case g.Units > a.Units[i]:
				return fmt.Errorf("group %d of layer %d has %d units, but the layer has %d: each unit belongs to one group", k+1, i, g.Units, a.Units[i])
			case g.Rest && g.Real:
				return fmt.Errorf("group %d of layer %d, %v: real numbers have no category without a unit: omit + or r", k+1, i, g)
			case g.Units < 1 || g.Categories() < 2 && !g.Real:
				return fmt.Errorf("group %d of layer %d has %s and %d categories: use at least 2 categories", k+1, i, names.Count(g.Units, "unit"), g.Categories())
			}
			units += g.Units
		}
		if units != a.Units[i] {
			return fmt.Errorf("the groups of layer %d have %d units, but the layer has %d: each unit belongs to one group", i, units, a.Units[i])
		}
		if blocks := drawBlocks(groups); blocks > 1<<16 {
			return fmt.Errorf("a draw of the groups of layer %d needs %d blocks of random numbers: a layer has %d; join neighbouring groups of real numbers", i, blocks, 1<<16)
		}
		for _, c := range []int{i - 1, i} {
			if c >= 0 && c < len(a.Convolutions) && a.Convolutions[c] != (Convolution{}) {
				return fmt.Errorf("groups of layer %d, which a convolution connects to another: connect it densely", i)
			}
		}
	}
	return nil
}

// drawBlocks returns the number of blocks of four random words that a draw of groups uses. Each group
// of real numbers begins a block, and so do the categorical variables after it.
func drawBlocks(groups []Group) (blocks int) {
	variables := 0
	for _, g := range groups {
		if !g.Real {
			variables++
			continue
		}
		blocks += (variables+3)/4 + (g.Units+3)/4
		variables = 0
	}
	return blocks + (variables+3)/4
}

// CheckStates returns an error if a categorical variable of layer i has several units on, or has
// none on although it has no Rest. states holds the states of the layer, 1 for on and 0 for off.
func (a Architecture) CheckStates(i int, states []uint8) error {
	for k, g := range a.Variables(i) {
		on := 0
		for _, s := range states[:g.Units] {
			on += int(s)
		}
		if (on > 1 || on == 0 && !g.Rest) && !g.Real {
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

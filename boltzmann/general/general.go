// Package general trains Boltzmann machines with any connections (Ackley, Hinton and Sejnowski 1985;
// Goodfellow et al. 2016, 20.1). They must be small, with few enough hidden units to sum out. All units
// x = (v,h) are 0 or 1, and any two may be connected:
//
//	p(x) = e^(−E(x))/Z,   E(x) = −xᵀUx − bᵀx.
//
// Given all other units, unit i is on with probability σ(b_i + U_ii + Σ_(j≠i) (U_ij + U_ji) x_j). So only the
// sums W_ij = U_ij + U_ji matter, one for each pair, and U_ii is part of the bias.
//
//	lines, err := dataset.Open("3by3")
//	experiment := general.Family.Experiment(lines)
//	experiment.Settings.Machine.Hidden = 6
//	run, err := experiment.Train(ctx, lines, "runs/general")
//	logP, err := run.Model().LogP(ctx, lines.Test())
//
// The gradient of log p(v) with respect to W_ij is E[x_i x_j|v] − E[x_i x_j]. The first mean is a sum over
// the states of the hidden units. The second mean is a sum over the states of all units if there are at most
// 20; otherwise persistent Gibbs chains estimate it. Restricted machines connect only visible units with
// hidden units; package boltzmann trains them far faster.
package general

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Connections selects which units are connected.
type Connections int

const (
	// All connects each unit to every other.
	All Connections = iota
	// SemiRestricted connects all units, except hidden units with each other (Osindero and Hinton 2008).
	SemiRestricted
	// Restricted connects only visible units with hidden units.
	Restricted
	// Listed connects the pairs of MachineSpec.Pairs.
	Listed
)

var connectionNames = names.New("connections", "all", "semi-restricted", "restricted", "listed")

func (c Connections) String() string                { return connectionNames.Name(int(c)) }
func (c Connections) MarshalText() ([]byte, error)  { return connectionNames.Marshal(int(c)) }
func (c *Connections) UnmarshalText(t []byte) error { return connectionNames.Parse((*int)(c), t) }

// Pair holds the indices of two connected units, the smaller first. Visible units are counted from 0 in the
// order of a row, and hidden units follow.
type Pair [2]int

// MachineSpec describes a machine. Its visible units are the values of a row.
type MachineSpec struct {
	Hidden      int         `toml:"hidden" json:"hidden"`
	Connections Connections `toml:"connections" json:"connections"` // all, semi-restricted, restricted or listed
	Pairs       []Pair      `toml:"pairs,omitempty" json:"pairs,omitempty"`
}

// enumerable is the largest number of units for which log Z and the gradient are sums over the states of all
// units. mostHidden is the largest number of hidden units, since every sum runs over all their states.
// mostUnits is the largest number of units in all.
const (
	enumerable = 20
	mostHidden = 16
	mostUnits  = 4096
)

func (s MachineSpec) connected(visible int) (pairs []Pair) {
	if s.Connections == Listed {
		pairs = slices.Clone(s.Pairs)
		slices.SortFunc(pairs, func(a, b Pair) int { return slices.Compare(a[:], b[:]) })
		return pairs
	}
	for i := range visible + s.Hidden {
		for j := i + 1; j < visible+s.Hidden; j++ {
			hidden, crossing := i >= visible, i < visible && j >= visible
			if s.Connections == All || crossing || s.Connections == SemiRestricted && !hidden {
				pairs = append(pairs, Pair{i, j})
			}
		}
	}
	return pairs
}

func (s MachineSpec) check(visible int) error {
	if err := runs.Nameless(s); err != nil {
		return err
	}
	n := visible + s.Hidden
	switch {
	case visible < 1 || n > mostUnits:
		return fmt.Errorf("%d visible and %d hidden units: give rows of at least one value, and at most %d units in all", visible, s.Hidden, mostUnits)
	case s.Hidden < 0:
		return fmt.Errorf("%d hidden units: give 0 to %d", s.Hidden, mostHidden)
	case s.Hidden > mostHidden:
		return fmt.Errorf("%d hidden units: give 0 to %d, since every sum runs over their states; a restricted machine of package boltzmann can have more", s.Hidden, mostHidden)
	case s.Connections != Listed && len(s.Pairs) > 0:
		return fmt.Errorf("%s with connections = %v: only connections = listed takes pairs; omit one of them", names.Count(len(s.Pairs), "pair"), s.Connections)
	}
	seen := map[Pair]bool{}
	for _, p := range s.Pairs {
		if p[0] < 0 || p[0] >= p[1] || p[1] >= n {
			return fmt.Errorf("the pair %v: give two of the units 0 to %d, the smaller of the two first; visible units are counted before hidden units", p, n-1)
		}
		if seen[p] {
			return fmt.Errorf("the pair %v is listed twice: give it once", p)
		}
		seen[p] = true
	}
	if len(s.connected(visible)) == 0 {
		return fmt.Errorf("connections = %v and %s: no units are connected; give pairs, hidden units or other connections", s.Connections, names.Count(s.Hidden, "hidden unit"))
	}
	return nil
}

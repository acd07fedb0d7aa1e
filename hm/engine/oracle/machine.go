package oracle

import (
	"fmt"
	"iter"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// maxUnits bounds the sums over all states to a few million terms.
const maxUnits = 22

// Machine is a Helmholtz machine that is small enough to enumerate.
type Machine struct{ *Networks }

// New copies the parameters of a machine. It returns an error if the machine has Gaussian units, or
// more than 22 units in all layers together.
func New(p *engine.Parameters) (*Machine, error) {
	total := 0
	for i, units := range p.Architecture.Units {
		if !p.Architecture.Binary(i) {
			return nil, fmt.Errorf("layers of kinds %v: the oracle enumerates only binary units", p.Architecture.Kinds)
		}
		total += units
	}
	if total > maxUnits {
		return nil, fmt.Errorf("layers %v have %d units, 2^%d states: the oracle enumerates at most %d units",
			p.Architecture.Units, total, total, maxUnits)
	}
	return &Machine{NewNetworks(p)}, nil
}

// Visible yields every x.
func (m *Machine) Visible() iter.Seq[[]bool] {
	return func(yield func([]bool) bool) {
		for s := range m.states(0, 0) {
			if !yield(s[0]) {
				return
			}
		}
	}
}

// States yields every state whose visible layer is x, one for each h.
func (m *Machine) States(x []bool) iter.Seq[State] {
	return func(yield func(State) bool) {
		for s := range m.states(1, m.Architecture.Depth()) {
			s[0] = slices.Clone(x)
			if !yield(s) {
				return
			}
		}
	}
}

// states yields every possible configuration of the layers from first to last, each as a new state
// in which all other units are off. The binary digits of a counter set the units.
func (m *Machine) states(first, last int) iter.Seq[State] {
	units := 0
	for _, n := range m.Architecture.Units[first : last+1] {
		units += n
	}
	return func(yield func(State) bool) {
		for number := range 1 << units {
			s := m.blank()
			digits := number
			for _, layer := range s[first : last+1] {
				for j := range layer {
					layer[j] = digits&1 == 1
					digits >>= 1
				}
			}
			if m.possible(s, first, last) && !yield(s) {
				return
			}
		}
	}
}

// possible reports whether every categorical variable of some layers is in one category.
func (m *Machine) possible(s State, first, last int) bool {
	for i := first; i <= last; i++ {
		states := make([]uint8, len(s[i]))
		for j, on := range s[i] {
			if on {
				states[j] = 1
			}
		}
		if m.Architecture.CheckStates(i, states) != nil {
			return false
		}
	}
	return true
}

// explanations holds all states of one x with their log-probabilities.
type explanations struct {
	states     []State
	logP, logQ []float64 // log p(x,h), log q(h|x)
}

func (m *Machine) explain(x []bool) explanations {
	states := slices.Collect(m.States(x))
	logP, logQ := m.logs(states)
	return explanations{states, logP, logQ}
}

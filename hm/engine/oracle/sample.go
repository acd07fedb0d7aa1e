package oracle

import (
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Random returns parameters drawn from a normal distribution of mean 0 and standard deviation 0.7,
// which makes the two networks differ visibly without saturating their units.
func Random(a engine.Architecture, seed uint64) *engine.Parameters {
	rng := rand.New(philox.NewStream(seed, philox.Initialize, 0))
	p := engine.NewParameters(a)
	for i := range p.Flat {
		p.Flat[i] = float32(0.7 * rng.NormFloat64())
	}
	return p
}

// Recognize draws a state h ~ q(h|x).
func (n *Networks) Recognize(x []bool, rng *rand.Rand) State {
	s := n.blank()
	copy(s[0], x)
	v := n.valuesOf(s)
	for _, u := range n.Recognition {
		n.draw(u, v, rng)
	}
	return Bits(v)
}

// draw draws a unit or, if u is its first unit, a categorical variable, given its parents.
func (n *Networks) draw(u Unit, v Values, rng *rand.Rand) {
	if u.Index != u.first {
		return
	}
	units, left := u.ofVariable(), rng.Float64()
	for k, unit := range units {
		left -= n.On(unit, v)
		last := u.Kind == engine.Categorical && !u.variable.Rest && k == len(units)-1
		if left < 0 || last {
			v[unit.Layer][unit.Index] = 1
			return
		}
	}
}

// Dream draws a state x, h ~ p(x,h), from the prior downward.
func (n *Networks) Dream(rng *rand.Rand) State {
	v := n.valuesOf(n.blank())
	for _, u := range slices.Backward(n.Generative) {
		n.draw(u, v, rng)
	}
	return Bits(v)
}

// blank returns the state in which all units are off.
func (n *Networks) blank() State {
	s := make(State, len(n.Architecture.Units))
	for i, units := range n.Architecture.Units {
		s[i] = make([]bool, units)
	}
	return s
}

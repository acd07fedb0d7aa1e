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

// Recognize draws h ~ q(h|x).
func (n *Networks) Recognize(x []float64, rng *rand.Rand) Values {
	v := n.blank()
	v[0] = x
	for _, u := range n.Recognition {
		n.draw(u, v, rng)
	}
	return v
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

// Dream draws x, h ~ p(x,h), from the prior downward.
func (n *Networks) Dream(rng *rand.Rand) Values {
	v := n.blank()
	for _, u := range slices.Backward(n.Generative) {
		n.draw(u, v, rng)
	}
	return v
}

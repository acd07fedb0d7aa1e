package oracle

import (
	"math/rand/v2"

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

// blank returns the state in which all units are off.
func (n *Networks) blank() State {
	s := make(State, len(n.Architecture.Units))
	for i, units := range n.Architecture.Units {
		s[i] = make([]bool, units)
	}
	return s
}

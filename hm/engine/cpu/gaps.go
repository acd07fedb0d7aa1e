package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// gap describes a row with missing units. The visible units are independent given h¹, so p(x,h) summed over the missing
// units is p without their factors.
type gap struct {
	of             units // distribution of the observed units
	units, outputs []int // the observed units, and their outputs
	hidden         []int // the outputs of the missing units
	states, row    []float32
}

// newGap returns the gap of a row of data, or nil for a complete row, whose mask is nil.
func (w *weights) newGap(mask []bool) *gap {
	if mask == nil {
		return nil
	}
	a := w.architecture
	groups := a.Variables(0)
	switch a.Kind(0) {
	case engine.Bernoulli:
		groups = []engine.Group{{Units: len(mask)}}
	case engine.Gaussian:
		positions := generative.Connection(a, 0).Positions
		for range positions {
			groups = append(groups, engine.Group{Units: len(mask) / positions, Real: true})
		}
	}
	g, kept, unit, output := &gap{}, []engine.Group{}, 0, 0
	for _, of := range groups {
		n := len(g.units)
		for first := 0; first < of.Outputs(); first += of.Units { // all μ, and then all a of real numbers
			for k := range of.Units {
				if mask[unit+k] {
					g.hidden = append(g.hidden, output+first+k)
					continue
				}
				if g.outputs = append(g.outputs, output+first+k); first == 0 {
					g.units = append(g.units, unit+k)
				}
			}
		}
		if observed := len(g.units) - n; observed > 0 {
			kept = append(kept, engine.Group{Units: observed, Rest: of.Rest, Real: of.Real})
		}
		unit, output = unit+of.Units, output+of.Outputs()
	}
	if g.of = newGroups(kept); a.Kind(0) == engine.Bernoulli {
		g.of = bernoulli{a.Off(0)}
	}
	g.states, g.row = make([]float32, len(g.units)), make([]float32, len(g.outputs))
	return g
}

// score returns log p of the observed units. row holds the outputs of all units, and then the residuals, 0 for missing
// units, if todo asks for them.
func (g *gap) score(todo int, states, row []float32) float64 {
	for k, j := range g.units {
		g.states[k] = states[j]
	}
	for k, j := range g.outputs {
		g.row[k] = row[j]
	}
	logP := g.of.do(todo, g.states, g.row, 0, philox.Counter{})
	for k, j := range g.outputs {
		row[j] = g.row[k]
	}
	g.clear(row)
	return logP
}

// clear sets the numbers of the missing units' outputs to 0.
func (g *gap) clear(row []float32) {
	for _, j := range g.hidden {
		row[j] = 0
	}
}

// open makes room for rows with gaps in a pass.
func (v *pass) open() {
	v.seen, v.gaps = newInputs(v.data, v.seen.Cols), make([]*gap, v.data)
}

// gap returns the gap of sample r, or nil if it is complete or if layer i of the network is not p(x|h¹).
func (v *pass) gap(n network, i, r int) *gap {
	if n != generative || i != 0 || v.gaps == nil {
		return nil
	}
	return v.gaps[r/v.samples]
}

// hide shows datum d to q, with the mean of each unit that mask hides in its place.
func (v *pass) hide(d int, mask []bool, means []float32) {
	seen := kernels.Row(v.seen, d)[1:]
	copy(seen, v.units(0, d*v.samples))
	for j, missing := range mask {
		if missing {
			seen[j] = means[j]
		}
	}
}

// drawMissing writes draws of the units that a mask hides, given their outputs, into a row of d.
func (v *pass) drawMissing(d *engine.Draws, row int, mask []bool, outputs []float32, at philox.Counter, key philox.Key) {
	units := make([]float32, len(mask))
	v.weights.units[generative][0].do(kernels.Draws, units, outputs, key, at)
	for j, missing := range mask {
		switch k := row*len(mask) + j; {
		case !missing:
		case d.Values[0] != nil:
			d.Values[0][k] = units[j]
		case units[j] > 0:
			d.States[0][k] = 1
		default:
			d.States[0][k] = 0
		}
	}
}

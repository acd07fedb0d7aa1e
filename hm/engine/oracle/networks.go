// Package oracle computes the quantities of a tiny Helmholtz machine exactly: every expectation is
// a sum over all states, in float64, written as close to its formula as Go allows. Tests compare
// engines with it, so clarity comes before speed everywhere.
//
// Networks evaluates a machine of any size on given states, and enumerates the states of a tiny one.
// Gradients are ascent directions of log-probabilities, laid out as engine.Parameters.Flat.
// Logarithms are natural, so log-probabilities and bounds are in nats.
package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Unit is one unit of one network, with the location of its parameters.
type Unit struct {
	Layer, Index int // the unit is number Index of layer hᴸᵃʸᵉʳ
	Parents      int // its parents are all units of this layer; for the prior it is M+1, a layer without units
	Start, Width int // its parameters are Flat[Start : Start+Width], bias first
	// Deviation is the start of the Width parameters of the output a of a Gaussian unit. The
	// parameters of μ start at Start.
	Deviation int
	Kind      engine.Kind
	variable  engine.Group         // the variable that a categorical unit belongs to
	first     int                  // the first unit of the variable; Index for a unit of another kind
	column    func(parent int) int // the column of a parent's weight, or 0 if it has none
	besideX   bool                 // its parents are all units of x and of h¹, in this order
	tanh      []tanhLayer          // the tanh layers of its conditional, from the parents to the unit
}

// tanhLayer is a deterministic layer: the start of its parameters, its number of units, and the number of
// parameters per unit.
type tanhLayer struct{ start, units, width int }

// inputOf returns the vector that the parameters of u multiply, given the values of its parents.
func (n *Networks) inputOf(u Unit, parents []float64) []float64 {
	if len(u.tanh) == 0 {
		return u.input(parents)
	}
	return n.inputs(u, parents)[len(u.tanh)]
}

// inputs returns the vectors that the parameters of a conditional with tanh layers multiply:
// [1; parents] and [1; z] of each tanh layer. The last is the input of u.
func (n *Networks) inputs(u Unit, parents []float64) [][]float64 {
	all := [][]float64{append([]float64{1}, parents...)}
	for _, layer := range u.tanh {
		z, below := []float64{1}, all[len(all)-1]
		for j := range layer.units {
			z = append(z, math.Tanh(floats.Dot(n.Flat[layer.start+j*layer.width:][:layer.width], below)))
		}
		all = append(all, z)
	}
	return all
}

// addGradient adds the derivatives of an output of u, times a factor, with respect to all
// parameters of its conditional. The output's own parameters begin at start.
func (n *Networks) addGradient(gradient []float64, u Unit, start int, parents []float64, factor float64) {
	floats.AddScaled(gradient[start:][:u.Width], factor, n.inputOf(u, parents))
	if len(u.tanh) == 0 {
		return
	}
	inputs, slopes := n.inputs(u, parents), make([]float64, u.Width) // slopes: of the output, by the inputs of the current layer
	floats.AddScaled(slopes, factor, n.Flat[start:][:u.Width])
	for k := len(u.tanh) - 1; k >= 0; k-- {
		layer, z := u.tanh[k], inputs[k+1]
		below := make([]float64, layer.width)
		for j := range layer.units {
			slope := slopes[1+j] * (1 - z[1+j]*z[1+j])
			start := layer.start + j*layer.width
			floats.AddScaled(gradient[start:][:layer.width], slope, inputs[k])
			floats.AddScaled(below, slope, n.Flat[start:][:layer.width])
		}
		slopes = below
	}
}

// input returns [1; parents], the vector that the parameters of u multiply without tanh layers.
func (u Unit) input(parents []float64) []float64 {
	input := make([]float64, u.Width)
	input[0] = 1
	for k, v := range parents {
		if column := u.column(k); column > 0 {
			input[column] = v
		}
	}
	return input
}

// Networks is a Helmholtz machine as a list of units: p(x,h) is the product of the conditional
// probabilities of the generative units, and q(h|x) the product over the recognition units.
type Networks struct {
	Architecture engine.Architecture
	Flat         []float64 // the parameters, laid out as engine.Parameters.Flat
	Generative   []Unit    // the units of x, h¹ … hᴹ
	Recognition  []Unit    // the units of h¹ … hᴹ
	below, label []Unit    // the units of q(h|x) below the label, and the units of the label if there is one
}

// NewNetworks copies the parameters of a machine of any size.
func NewNetworks(p *engine.Parameters) *Networks {
	n := &Networks{Architecture: p.Architecture, Flat: kernels.Doubles(p.Flat)}
	start := 0
	for i := range p.Architecture.Units {
		n.Generative = append(n.Generative, layer(p.Architecture, i, i+1, &start)...)
	}
	addTanh(n.Generative, p.Architecture, &start)
	for i := 1; i <= p.Architecture.Depth(); i++ {
		n.Recognition = append(n.Recognition, layer(p.Architecture, i, i-1, &start)...)
	}
	addTanh(n.Recognition, p.Architecture, &start)
	last := len(n.Recognition)
	if p.Architecture.TopLabels() {
		last -= p.Architecture.Labels()
	}
	n.below, n.label = n.Recognition[:last], slices.Concat(n.Recognition[last:], classifier(p.Architecture, start))
	return n
}

// addTanh adds the tanh layers to the conditionals of the units of a network. Their parameters begin
// at *start, and addTanh moves *start past them.
func addTanh(units []Unit, a engine.Architecture, start *int) {
	for k, size := range a.Tanh {
		layer, last := tanhLayer{units: size}, -1
		for j := range units {
			u := &units[j]
			if u.Parents > a.Depth() {
				continue // the prior
			}
			if u.Layer != last {
				layer.start, layer.width, last = *start, 1+a.Units[u.Parents], u.Layer
				if k > 0 {
					layer.width = 1 + a.Tanh[k-1]
				}
				*start += layer.units * layer.width
			}
			u.tanh = append(u.tanh, layer)
		}
	}
}

// logs returns log p(x,h) and log q(h|x) of each state.
func (n *Networks) logs(states []Values) (logP, logQ []float64) {
	for _, v := range states {
		logP, logQ = append(logP, n.LogJointOf(v)), append(logQ, n.LogRecognitionOf(v))
	}
	return logP, logQ
}

// ofVariable lists the units of the categorical variable that u belongs to.
func (u Unit) ofVariable() (units []Unit) {
	for k := range u.variable.Units {
		unit := u
		unit.Index = u.first + k
		unit.Start += (unit.Index - u.Index) * u.Width
		units = append(units, unit)
	}
	return units
}

// SameVariable reports whether two units belong to one variable.
func (u Unit) SameVariable(other Unit) bool { return u.Layer == other.Layer && u.first == other.first }

// Rows returns rows of data as values of the visible units. Binary units are on where a value is at least ½.
func (n *Networks) Rows(data engine.Data) [][]float64 {
	all := make([][]float64, data.Rows)
	for k := range data.Rows * data.Units {
		x := data.At(k)
		if n.Architecture.Binary(0) {
			x = n.value(0, x >= 0.5)
		}
		all[k/data.Units] = append(all[k/data.Units], x)
	}
	return all
}

// value returns the number that a unit of a layer passes to the next layer.
func (n *Networks) value(layer int, on bool) float64 {
	if on {
		return 1
	}
	return float64(n.Architecture.Off(layer))
}

// logBernoulli returns the log-probability of the state of a unit that is on with probability σ(a),
// from log σ(a) = −log(1+e⁻ᵃ).
func logBernoulli(on bool, a float64) float64 {
	if !on {
		a = -a
	}
	return -statistics.Softplus(-a)
}

// normalize turns log-weights into weights of sum one.
func normalize(logWeights []float64) []float64 {
	total := floats.LogSumExp(logWeights)
	return lists.Map(logWeights, func(w float64) float64 { return math.Exp(w - total) })
}

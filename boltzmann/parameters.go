package boltzmann

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Parameters are the weights and biases of a restricted Boltzmann machine.
type Parameters struct {
	Flat          []float32      // all of them; the others are views of it, in this order
	Weights       blas32.General // W, visible × hidden
	VisibleBiases []float32      // b
	HiddenBiases  []float32      // c
	LogVariances  []float32      // log σ² of Gaussian visible units, nil of others
	Categories    int            // of a variable of categorical visible units, 0 of others
	Doubled       Doubled        // of a layer that is trained for a deep machine
	Classes       int            // of the label, whose units are the last visible ones, 0 without labels
	// HiddenUnits is the kind of the hidden units, and HiddenCategories that of a variable of
	// categorical ones, 0 of others.
	HiddenUnits      Kind
	HiddenCategories int
	// Layers are the numbers of units of v and of each hidden layer of a deep Boltzmann
	// machine, whose even layers, v the first, are the visible units here, one layer after
	// the other, and whose odd layers are the hidden ones. nil of a restricted one.
	Layers []int
}

// size is the number of parameters of a machine.
func size(visible, hidden int, kind Kind) int {
	n := visible*hidden + visible + hidden
	if kind == Gaussian {
		n += visible
	}
	return n
}

func newParameters(visible, hidden int, kind Kind, categories int) *Parameters {
	flat := make([]float32, size(visible, hidden, kind))
	rest := flat
	take := func(n int) (taken []float32) {
		taken, rest = rest[:n:n], rest[n:]
		return taken
	}
	p := &Parameters{
		Flat:          flat,
		Weights:       kernels.Matrix{Rows: visible, Cols: hidden, Stride: hidden, Data: take(visible * hidden)},
		VisibleBiases: take(visible),
		HiddenBiases:  take(hidden),
		Categories:    categories,
	}
	if kind == Gaussian {
		p.LogVariances = rest
	}
	return p
}

// zeros are parameters of the same shape.
func (p *Parameters) zeros() *Parameters {
	z := newParameters(p.Visible(), p.Hidden(), p.Kind(), p.Categories)
	z.Layers, z.Classes, z.Doubled = p.Layers, p.Classes, p.Doubled
	z.HiddenUnits, z.HiddenCategories = p.HiddenUnits, p.HiddenCategories
	return z
}

func (p *Parameters) clone() *Parameters {
	c := p.zeros()
	copy(c.Flat, p.Flat)
	return c
}

// Kind is the kind of the visible units.
func (p *Parameters) Kind() Kind {
	switch {
	case p.gaussian():
		return Gaussian
	case p.Categories > 0:
		return Categorical
	}
	return Bernoulli
}

// machine describes what the parameters are of.
func (p *Parameters) machine() MachineSpec {
	s := MachineSpec{
		Hidden: p.Hidden(), Visible: p.Kind(), Categories: p.Categories, Classes: p.Classes,
		HiddenUnits: p.HiddenUnits, HiddenCategories: p.HiddenCategories, Doubled: p.Doubled,
	}
	if p.Layers != nil {
		s.Hidden, s.Above = p.Layers[1], p.Layers[2:]
	}
	return s
}

// Visible is the number of visible units, and of those of the label or of even layers that stand
// beside them.
func (p *Parameters) Visible() int { return p.Weights.Rows }

// Hidden is the number of hidden units, of a deep machine of those of odd layers.
func (p *Parameters) Hidden() int { return p.Weights.Cols }

// visibleMeans returns the means of visible units with inputs.
func (p *Parameters) visibleMeans(inputs []float32) []float64 {
	means := make([]float64, len(inputs))
	for i, a := range inputs {
		means[i] = float64(a)
		if p.Kind() == Bernoulli {
			means[i] = float64(kernels.Sigmoid(a))
		}
	}
	if p.Categories > 0 {
		softmax(means, p.Categories)
	}
	return means
}

// freeEnergy is F(v) in double precision, of a deep machine the variational one of the means
// of its even hidden layers, and with the label summed out where there is one. It writes the
// inputs of the hidden units into inputs.
func (p *Parameters) freeEnergy(v []float32, inputs []float64) float64 {
	if p.Classes > 0 {
		return -floats.LogSumExp(p.logClasses(v, inputs))
	}
	return p.ownEnergy(v, inputs) - p.hiddenPartition(inputs) - p.latentEntropy(v)
}

// ownEnergy is the energy of visible units by themselves, the first ones or all. It writes
// the inputs of the hidden units given them into inputs.
func (p *Parameters) ownEnergy(v []float32, inputs []float64) (energy float64) {
	for j, c := range p.HiddenBiases {
		inputs[j] = float64(c)
	}
	for i, x := range v {
		x, b := float64(x), float64(p.VisibleBiases[i])
		if p.gaussian() {
			precision := math.Exp(-float64(p.LogVariances[i]))
			energy += (x - b) * (x - b) / 2 * precision
			x *= precision
		} else {
			energy -= b * x
		}
		if x != 0 {
			accumulate(inputs, x, kernels.Row(p.Weights, i))
		}
	}
	return energy
}

// accumulate adds a factor times x to sum in double precision.
func accumulate(sum []float64, factor float64, x []float32) {
	sum = sum[:len(x)]
	for j, value := range x {
		sum[j] += factor * float64(value)
	}
}

// logPartition is Σ_j log(1 + e^(a_j)), the logarithm of the sum over all states of
// Bernoulli units with inputs a.
func logPartition(inputs []float64) float64 {
	sum, product := 0.0, 1.0 // of some 1 + e^(−|a|), so that one logarithm serves for them all
	for _, a := range inputs {
		sum += max(a, 0)
		if product *= 1 + math.Exp(-math.Abs(a)); product > 1e300 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}

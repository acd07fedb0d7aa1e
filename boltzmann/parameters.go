package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Parameters are the weights and biases of a restricted Boltzmann machine.
type Parameters struct {
	Spec          MachineSpec    // the machine that they are of
	Flat          []float32      // all of them; the others are views of it, in this order
	Weights       blas32.General // W, visible × hidden; the units of a label are the last visible ones
	VisibleBiases []float32      // b
	HiddenBiases  []float32      // c
	LogVariances  []float32      // log σ² of Gaussian visible units, nil of others
	// Layers are the numbers of units of v and of each hidden layer of a deep Boltzmann
	// machine, whose even layers, v the first, are the visible units here, one layer after
	// the other, and whose odd layers are the hidden ones. nil of a restricted one.
	Layers []int
}

// size is the number of parameters of a machine.
func (s MachineSpec) size(visible int) int {
	even, odd := sides(s.layers(visible + s.Classes))
	return even*odd + even + odd + s.Visible.aspects().variances*even
}

// parameters of the machine for rows of visible units, all 0.
func (s MachineSpec) parameters(visible int) *Parameters {
	even, odd := sides(s.layers(visible + s.Classes))
	flat := make([]float32, s.size(visible))
	rest := flat
	take := func(n int) (taken []float32) {
		taken, rest = rest[:n:n], rest[n:]
		return taken
	}
	p := &Parameters{
		Spec:          s,
		Flat:          flat,
		Weights:       kernels.Matrix{Rows: even, Cols: odd, Stride: odd, Data: take(even * odd)},
		VisibleBiases: take(even),
		HiddenBiases:  take(odd),
	}
	if len(rest) > 0 {
		p.LogVariances = rest
	}
	if len(s.Above) > 0 {
		p.Layers = s.layers(visible)
	}
	return p
}

// zeros are parameters of the same shape.
func (p *Parameters) zeros() *Parameters { return p.Spec.parameters(p.observed()) }

func (p *Parameters) clone() *Parameters {
	c := p.zeros()
	copy(c.Flat, p.Flat)
	return c
}

// visibleUnits returns the units of the data, of the label and of even hidden layers.
func (p *Parameters) visibleUnits() visibleUnits {
	if of, is := p.Spec.data(); is {
		return p.Spec.beside(of, p.observed())
	}
	return &normal{Parameters: p}
}

// hiddenUnits returns the units of odd hidden layers, the first among them.
func (p *Parameters) hiddenUnits() hiddenUnits {
	return p.Spec.HiddenUnits.aspects().units(p.Spec.HiddenCategories)
}

// Visible is the number of visible units, and of those of the label or of even layers that stand
// beside them.
func (p *Parameters) Visible() int { return p.Weights.Rows }

// Hidden is the number of hidden units, of a deep machine of those of odd layers.
func (p *Parameters) Hidden() int { return p.Weights.Cols }

// freeEnergy is F(v) in double precision, of a deep machine the variational one of the means
// of its even hidden layers, and with the label summed out where there is one. It writes the
// inputs of the hidden units into inputs.
func (p *Parameters) freeEnergy(v []float32, inputs []float64) float64 {
	if p.Spec.labelled() {
		return -floats.LogSumExp(p.logClasses(v, inputs))
	}
	return p.ownEnergy(v, inputs) - p.hiddenUnits().partition(inputs) - p.latentEntropy(v)
}

// ownEnergy is the energy of visible units by themselves, the first ones or all. It writes
// the inputs of the hidden units given them into inputs.
func (p *Parameters) ownEnergy(v []float32, inputs []float64) float64 {
	for j, c := range p.HiddenBiases {
		inputs[j] = float64(c)
	}
	units := p.visibleUnits()
	for i, x := range v {
		if x := float64(x) * units.precision(i); x != 0 {
			accumulate(inputs, x, kernels.Row(p.Weights, i))
		}
	}
	return units.energy(v, p.VisibleBiases)
}

// accumulate adds a factor times x to sum in double precision.
func accumulate(sum []float64, factor float64, x []float32) {
	sum = sum[:len(x)]
	for j, value := range x {
		sum[j] += factor * float64(value)
	}
}

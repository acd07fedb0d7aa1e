package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Parameters holds the weights and biases of a Boltzmann machine.
type Parameters struct {
	Spec          MachineSpec    // the machine that has these parameters
	Flat          []float32      // all parameters; the other fields are views of it, in this order
	Weights       blas32.General // W, visible × hidden; the units of a label are the last visible ones
	VisibleBiases []float32      // b
	HiddenBiases  []float32      // c
	LogVariances  []float32      // log σ² of Gaussian visible units, otherwise nil
	// Layers holds the number of units in v and in each hidden layer of a deep Boltzmann machine; it is nil for
	// a restricted one. Layer 0 is v. In the fields above, the visible units are the even layers, one after the
	// other, and the hidden units are the odd layers.
	Layers []int

	given []float64 // the biases of the hidden units instead, given observed visible units: see restOf
}

func (s MachineSpec) size(visible int) int {
	even, odd := sides(s.layers(visible + s.Classes))
	return even*odd + even + odd + s.Visible.aspects().variances*visible
}

// parameters returns the parameters of the machine, all 0. visible is the number of units in a row of data.
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

func (p *Parameters) zeros() *Parameters { return p.Spec.parameters(p.observed()) }

func (p *Parameters) clone() *Parameters {
	c := p.zeros()
	copy(c.Flat, p.Flat)
	return c
}

// visibleUnits returns the units of the data, of the label and of even hidden layers.
func (p *Parameters) visibleUnits() visibleUnits {
	var of visibleUnits = &normal{Parameters: p}
	if data, is := p.Spec.data(); is {
		of = data
	}
	if p.Spec.labelled() {
		of = labelled{of, p.observed(), p.Spec.label()}
	}
	return of
}

// hiddenUnits returns the units of the odd hidden layers, including the first.
func (p *Parameters) hiddenUnits() hiddenUnits {
	return p.Spec.HiddenUnits.aspects().units(p.Spec.HiddenCategories)
}

// Visible returns the number of visible units, including the units of the label or of even hidden layers.
func (p *Parameters) Visible() int { return p.Weights.Rows }

// Hidden returns the number of hidden units. In a deep machine these are the units of odd layers.
func (p *Parameters) Hidden() int { return p.Weights.Cols }

// freeEnergy returns F(v) in double precision, with a label summed out. In a deep machine, v also holds the
// means of the even hidden layers, and freeEnergy returns the variational free energy for these means. It
// writes the inputs of the hidden units into inputs.
func (p *Parameters) freeEnergy(v []float32, inputs []float64) float64 {
	if p.Spec.labelled() {
		return -floats.LogSumExp(p.logClasses(v, inputs))
	}
	return p.ownEnergy(v, inputs) - p.hiddenUnits().partition(inputs) - p.latentEntropy(v)
}

// ownEnergy returns the energy of the visible units alone. v holds all of them, or only the observed ones,
// which come first. ownEnergy writes the inputs of the hidden units given v into inputs.
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

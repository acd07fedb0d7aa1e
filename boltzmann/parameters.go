package boltzmann

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// Parameters are the weights and biases of a restricted Boltzmann machine.
type Parameters struct {
	Flat          []float32      // all of them; the others are views of it, in this order
	Weights       kernels.Matrix // W, visible × hidden
	VisibleBiases []float32      // b
	HiddenBiases  []float32      // c
}

// size is the number of parameters of a machine.
func size(visible, hidden int) int { return visible*hidden + visible + hidden }

func newParameters(visible, hidden int) *Parameters {
	flat := make([]float32, size(visible, hidden))
	weights, biases := flat[:visible*hidden:visible*hidden], flat[visible*hidden:]
	return &Parameters{
		Flat:          flat,
		Weights:       kernels.Matrix{Rows: visible, Cols: hidden, Stride: hidden, Data: weights},
		VisibleBiases: biases[:visible:visible],
		HiddenBiases:  biases[visible:],
	}
}

func (p *Parameters) clone() *Parameters {
	c := newParameters(p.Visible(), p.Hidden())
	copy(c.Flat, p.Flat)
	return c
}

// Visible is the number of visible units.
func (p *Parameters) Visible() int { return p.Weights.Rows }

// Hidden is the number of hidden units.
func (p *Parameters) Hidden() int { return p.Weights.Cols }

// freeEnergy is F(v) in double precision. It writes the inputs of the hidden units,
// c + Wᵀv, into inputs.
func (p *Parameters) freeEnergy(v []float32, inputs []float64) float64 {
	for j, c := range p.HiddenBiases {
		inputs[j] = float64(c)
	}
	linear := 0.0
	for i, x := range v {
		if x != 0 {
			linear += float64(x) * float64(p.VisibleBiases[i])
			add(inputs, float64(x), kernels.Row(p.Weights, i))
		}
	}
	return -linear - logPartition(inputs)
}

// add adds a factor times x to sum.
func add[T float32 | float64](sum []T, factor T, x []float32) {
	sum = sum[:len(x)]
	for j, value := range x {
		sum[j] += factor * T(value)
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

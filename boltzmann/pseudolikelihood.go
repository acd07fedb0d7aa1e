package boltzmann

import (
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// turnOff replaces inputs of hidden units by their means, negated, −σ(a), and returns
// Σ log(1 + e^a): the residuals and the log-probability, negated, of units that are off.
// off are as many zeros.
func turnOff(inputs, off []float32) float64 { return -kernels.Residual(inputs, off) }

// flipper measures states of visible units by flipping some of them.
type flipper struct {
	*Parameters
	inputs []float32 // room for those of the hidden units
	off    []float32 // as many zeros
}

func newFlipper(p *Parameters) flipper {
	return flipper{p, make([]float32, p.Hidden()), make([]float32, p.Hidden())}
}

// measure returns the free energy F(v) of visible states and an estimate of their
// log-pseudo-likelihood Σ_i log p(v_i | v_−i), in nats (Besag 1975): the mean of
// log p(v_i | v_−i) = log σ(F(v with unit i flipped) − F(v)) over n units, the first one
// and those at even distances from it, times the number of units. Where the first is
// drawn uniformly it has no bias. inputs, those of the hidden units, are replaced by
// their means, negated.
func (f flipper) measure(v, inputs []float32, first, n int) likelihood {
	units := len(v)
	n = min(n, units)
	flipped := make([]float64, n)
	for k := range flipped {
		copy(f.inputs, inputs)
		i := (first + k*units/n) % units
		δ := 1 - 2*v[i]
		add(f.inputs, δ, kernels.Row(f.Weights, i))
		flipped[k] = float64(δ*f.VisibleBiases[i]) + turnOff(f.inputs, f.off)
	}
	linear := blas32.Dot(vector(v), vector(f.VisibleBiases))
	partition := turnOff(inputs, f.off)
	l := likelihood{freeEnergy: -float64(linear) - partition}
	for _, change := range flipped {
		l.pseudo -= softplus(change-partition) * float64(units) / float64(n)
	}
	return l
}

// softplus is log(1 + e^a).
func softplus(a float64) float64 { return max(a, 0) + math.Log1p(math.Exp(-math.Abs(a))) }

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

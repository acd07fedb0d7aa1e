package boltzmann

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Steps of pl follow the gradient of the log-pseudo-likelihood Σ_i log p(v_i | v_−i). A minibatch uses k of the
// V units of each row. If v′ is the row v with unit i flipped, the gradient for unit i is the gradient of log
// σ(F(v′) − F(v)). So each of these units contributes
//
//	V/k · σ(F(v) − F(v′)) · (E[t|v] − E[t|v′]),   t = (vhᵀ, v, h).
//
// This is the difference between a positive phase with the state v and a negative phase with the state v′.
// Both are weighted by how much the model prefers v′.

// flipped describes the states v′ of a minibatch, which are rows of the chains. Rows k·r to k·r+k−1 belong to
// row r of the minibatch.
type flipped struct {
	units  []int     // the flipped unit i of each state
	counts []float32 // the weight of each state
}

// flip writes the k states v′ of row r into the chains, and the negated means of the hidden units given each
// v′. v holds the visible units of row r, and inputs the inputs of its hidden units. flip reads and writes
// only the chains that belong to this row.
func (t *trainer) flip(r int, v, inputs []float32) {
	k, units, at := t.method.Steps, len(v), place{key: t.key, purpose: philox.Negative, step: uint32(t.step)}
	first := int(uint64(at.key.Block(at.counter(r))[0]) * uint64(units) >> 32)
	off, room := make([]float32, len(inputs)), make([]float32, len(inputs))
	copy(room, inputs)
	partition := turnOff(room, off)
	for s := range k {
		i, row := (first+s*units/k)%units, r*k+s
		δ := 1 - 2*v[i]
		other, hidden := kernels.Row(t.chains.visible, row), kernels.Row(t.chains.hiddenInputs, row)
		copy(other, v)
		other[i] = 1 - v[i]
		copy(hidden, inputs)
		kernels.AddMultiple(hidden, δ, kernels.Row(t.parameters.Weights, i))
		preference := float32(float64(δ*t.parameters.VisibleBiases[i]) + turnOff(hidden, off) - partition)
		t.flipped.units[row], t.flipped.counts[row] = i, float32(units)/float32(k)*kernels.Sigmoid(preference)
	}
}

// pseudoGradient computes the gradients of the biases from the flips of a minibatch of n rows, and weights
// the rows of right so that leftᵀ·right is −n∇W.
func (t *trainer) pseudoGradient(n int) {
	k, g := t.method.Steps, t.gradient
	visible, hidden := t.data(n)
	clear(g.VisibleBiases)
	clear(g.HiddenBiases)
	for row := range n * k {
		i, count := t.flipped.units[row], t.flipped.counts[row]
		g.VisibleBiases[i] += count / float32(n) * (2*kernels.Row(visible, row/k)[i] - 1)
	}
	inParts(n, func(first, last int) {
		for r := first; r < last; r++ {
			total := float32(0)
			for row := r * k; row < r*k+k; row++ {
				count, other := t.flipped.counts[row], kernels.Row(t.chains.hiddenInputs, row)
				scaled(other, -count, other)
				total += count
			}
			scaled(kernels.Row(hidden, r), total, kernels.Row(hidden, r))
		}
	})
	for r := range n {
		kernels.AddMultiple(g.HiddenBiases, -1/float32(n), kernels.Row(hidden, r))
	}
	for row := range n * k {
		kernels.AddMultiple(g.HiddenBiases, -1/float32(n), kernels.Row(t.chains.hiddenInputs, row))
	}
}

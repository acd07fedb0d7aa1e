package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

type likelihood struct {
	objective  float64 // log-pseudo-likelihood, or score if the visible units are Gaussian
	freeEnergy float64
	label      float64      // log p(y|v) of the row's label, if the machine has labels
	mask       dataset.Mask // of the row; nil if it is complete
	mistaken   float64      // 1 if another label is likelier, 0 if none is, and the probability of a wrong guess in a tie
}

// meter measures rows of visible units. It is valid until the weights change.
type meter interface {
	// measure measures rows v of visible units. h holds the inputs of their hidden units; measure replaces these
	// inputs by the negated means. A pseudo-likelihood is estimated from a number of units, drawn at a place. A
	// score instead writes the means of the visible units, given the means of the hidden units, into a.
	measure(rows []likelihood, v, h, a kernels.Matrix, at place, units int)
}

func newMeter(w *products) meter { return w.seen.meter(w) }

// pseudoMeter estimates the log-pseudo-likelihood Σ_i log p(v_i | v_−i) in nats, conditional on the label if
// there is one. It sums over some of the variables and scales the sum to all variables. The estimate is
// unbiased, since the first variable is drawn uniformly. The sum leaves out missing variables, which were drawn. A doubled side counts as two copies of the units
// with equal states.
type pseudoMeter struct {
	*products
	discrete discrete
}

func (m pseudoMeter) measure(rows []likelihood, v, h, _ kernels.Matrix, at place, units int) {
	off, inputs, room := make([]float32, h.Cols), make([]float32, h.Cols), make([]float32, h.Cols)
	variables := m.observed() / max(1, m.discrete.categories())
	for r := range rows {
		x := kernels.Row(v, r)
		copy(inputs, kernels.Row(h, r))
		partition := m.latent.sumOut(kernels.Row(h, r), off)
		first := int(uint64(at.key.Block(at.counter(r))[0]) * uint64(variables) >> 32)
		logs := m.discrete.pseudo(m.products, x, inputs, partition, room, off, first, units)
		for k := range logs {
			if at := (first + k*variables/len(logs)) % variables; rows[r].mask != nil && rows[r].mask[at*m.observed()/variables] {
				logs[k] = 0
			}
		}
		rows[r].objective = floats.Sum(logs) * float64(variables) / float64(len(logs))
		linear := float64(m.upwards) * float64(blas32.Dot(vector(x), vector(m.VisibleBiases)))
		rows[r].freeEnergy = -linear - float64(m.downwards)*partition - m.latentEntropy(x)
	}
}

// reconstruct writes the inputs of the visible units given the means of the hidden units. hidden holds these
// means, negated.
func (w *products) reconstruct(inputs, hidden kernels.Matrix) {
	w.down(inputs, hidden) // b − Wh
	for r := range inputs.Rows {
		row := kernels.Row(inputs, r)
		for i, b := range w.VisibleBiases {
			row[i] = 2*b - row[i]
		}
	}
}

// turnOff replaces inputs of Bernoulli units by their negated means −σ(a), and returns Σ log(1 + e^a). These
// are the residuals and the negated log-probability of units that are off. off holds zeros, one per input.
func turnOff(inputs, off []float32) float64 { return -kernels.Residual(inputs, off) }

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

// Steps of pl follow the gradient of the log-pseudo-likelihood Σ_i log p(v_i | v_−i). A minibatch uses k of the
// V units of each row. If v′ is the row v with unit i flipped, the gradient for unit i is the gradient of log
// σ(F(v′) − F(v)). So each of these units contributes
//
//	V/k · σ(F(v) − F(v′)) · (E[t|v] − E[t|v′]),   t = (vhᵀ, v, h).
//
// This is the difference between a positive phase with the state v and a negative phase with the state v′.
// Both are weighted by how much the model prefers v′, p = σ(F(v) − F(v′)).
//
// Steps of rm go against the gradient of Σ_i p_i² (Hyvärinen 2007): each weight p becomes 2p·p(1−p).

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
		weight := kernels.Sigmoid(preference)
		if t.method.Algorithm == RatioMatching {
			weight *= 2 * weight * kernels.Sigmoid(-preference)
		}
		t.flipped.units[row], t.flipped.counts[row] = i, float32(units)/float32(k)*weight
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

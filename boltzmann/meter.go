package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// likelihood is what is measured of a row.
type likelihood struct {
	objective  float64 // log-pseudo-likelihood, or score where the visible units are Gaussian
	freeEnergy float64
	label      float64 // log p(y|v) of its label, where the machine has one
	mistaken   float64 // 1 where another label is likelier, and 0 where none is
}

// meter measures rows of visible units by the weights as they were when it was made.
type meter interface {
	// measure measures rows v of visible units, whose hidden units have the inputs h, which it
	// replaces by their means, negated. A pseudo-likelihood is by a number of units, which at draws
	// from; a score writes the means of visible units given those of the hidden ones into a.
	measure(rows []likelihood, v, h, a kernels.Matrix, at place, units int)
}

func newMeter(w *products) meter { return w.seen.meter(w) }

// pseudoMeter estimates the log-pseudo-likelihood Σ_i log p(v_i | v_−i) in nats, given the label where
// there is one, by some variables times the number of all: without bias, since the first of them is
// drawn uniformly.
type pseudoMeter struct {
	*products
	discrete discrete
}

func (m pseudoMeter) measure(rows []likelihood, v, h, _ kernels.Matrix, at place, units int) {
	off, inputs, room := make([]float32, h.Cols), make([]float32, h.Cols), make([]float32, h.Cols)
	variables, summed := m.discrete.variables(m.observed()), m.discrete.summed(m.products)
	for r := range rows {
		x := kernels.Row(v, r)
		copy(inputs, kernels.Row(h, r))
		partition := m.latent.sumOut(kernels.Row(h, r), off)
		first := int(uint64(at.key.Block(at.counter(r))[0]) * uint64(variables) >> 32)
		logs := m.discrete.pseudo(m.products, x, inputs, partition, room, off, first, units)
		rows[r].objective = floats.Sum(logs) * float64(variables) / float64(len(logs))
		summed(&rows[r], x, inputs, partition)
	}
}

// reconstruct writes the inputs of the visible units given the means of the hidden ones, of
// which hidden has the negatives.
func (w *products) reconstruct(inputs, hidden kernels.Matrix) {
	w.down(inputs, hidden) // b − Wh
	for r := range inputs.Rows {
		row := kernels.Row(inputs, r)
		for i, b := range w.VisibleBiases {
			row[i] = 2*b - row[i]
		}
	}
}

// turnOff replaces inputs of Bernoulli units by their means, negated, −σ(a), and returns
// Σ log(1 + e^a): the residuals and the log-probability, negated, of units that are off.
// off are as many zeros.
func turnOff(inputs, off []float32) float64 { return -kernels.Residual(inputs, off) }

func vector(x []float32) blas32.Vector { return blas32.Vector{N: len(x), Inc: 1, Data: x} }

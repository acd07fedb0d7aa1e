package boltzmann

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// likelihood is what is measured of a row.
type likelihood struct {
	objective  float64 // log-pseudo-likelihood, or score where the visible units are Gaussian
	freeEnergy float64
	label      float64 // log p(y|v) of its label, where the machine has one
	mistaken   float64 // 1 where another label is likelier, and 0 where none is
}

// meter measures rows of visible units.
type meter struct {
	*products
	curvatures []float64 // Σ_i W_ij²/σ_i⁴ of each hidden unit, where the visible ones are Gaussian
}

// newMeter returns a meter of the weights as they are now.
func newMeter(w *products) meter {
	if w.gaussian() {
		return meter{w, w.scoreCurvatures()}
	}
	return meter{w, nil}
}

// measure measures rows v of visible units, whose hidden units have the inputs h, which it
// replaces by their means, negated. The pseudo-likelihood is by a number of units, given the
// label where there is one, which the free energy has summed out. Of
// Gaussian units it writes the means given those of the hidden ones into a.
func (m meter) measure(rows []likelihood, v, h, a kernels.Matrix, at place, units int) {
	off := make([]float32, h.Cols)
	if m.gaussian() {
		for r := range rows {
			rows[r].freeEnergy = m.visibleEnergy(kernels.Row(v, r)) - m.sumOut(kernels.Row(h, r), off)
		}
		m.reconstruct(a, h)
		for r := range rows {
			rows[r].objective = m.score(kernels.Row(v, r), kernels.Row(a, r), kernels.Row(h, r))
		}
		return
	}
	inputs, room, given := make([]float32, h.Cols), make([]float32, h.Cols), kernels.NewMatrix(m.Classes, h.Cols)
	for r := range rows {
		x := kernels.Row(v, r)
		copy(inputs, kernels.Row(h, r))
		partition := m.sumOut(kernels.Row(h, r), off)
		variables := m.variables()
		first := int(uint64(at.key.Block(at.counter(r))[0]) * uint64(variables) >> 32)
		var logs []float64
		if m.Categories > 0 {
			logs = m.recategorise(x, inputs, room, off, first, units)
		} else {
			logs = m.flip(x, inputs, partition, room, off, first, units)
		}
		rows[r].objective = floats.Sum(logs) * float64(variables) / float64(len(logs))
		if m.Classes > 0 {
			rows[r].freeEnergy, rows[r].label, rows[r].mistaken = m.ofLabel(x, inputs, off, given)
			continue
		}
		rows[r].freeEnergy = m.summedOut(float64(blas32.Dot(vector(x), vector(m.VisibleBiases))), partition) - m.latentEntropy(x)
	}
}

// flip returns, of n Bernoulli units of visible states v, the first one and those at even
// distances from it, the logarithm of the probability of the unit given the others, log
// p(v_i | v_−i) = log σ(F(v with unit i flipped) − F(v)). Its mean over the units, times the
// number of all, estimates the log-pseudo-likelihood Σ_i log p(v_i | v_−i) in nats (Besag
// 1975): without bias where the first is drawn uniformly. Of a deep machine the means of even hidden
// layers stay, which know the unit: it is too high. Of a doubled side it is that of one of two copies,
// given the other. partition is what sumOut has of the inputs; room and off are as long as these.
func (p *Parameters) flip(v, inputs []float32, partition float64, room, off []float32, first, n int) []float64 {
	units := p.variables()
	n = min(n, units)
	logs := make([]float64, n)
	for k := range logs {
		copy(room, inputs)
		i := (first + k*units/n) % units
		δ := 1 - 2*v[i]
		kernels.AddMultiple(room, δ, kernels.Row(p.Weights, i))
		logs[k] = -statistics.Softplus(float64(δ*p.VisibleBiases[i]) + float64(p.downwards())*(p.sumOut(room, off)-partition))
	}
	return logs
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

package sequences

import (
	"math"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// blocksOf holds the inverses of the Fisher blocks. When training resumes, the blocks are recomputed from
// parameters, the parameters at the last refresh.
type blocksOf struct {
	parameters []float32
	inverses   [networks]inverses
}

// inverses has one inverse for all units of a network, or one per unit.
type inverses []*fisher.Inverse

func (v inverses) apply(gradient kernels.Matrix) {
	if len(v) == 1 {
		v[0].Apply(gradient, 0)
		return
	}
	for j, inverse := range v {
		inverse.Apply(kernels.Rows(gradient, j, j+1), 0)
	}
}

// gradient returns the mean over frames of the derivatives of log p and log q with respect to all parameters.
// Fisher's identity makes the derivative of log p(v₁ … v_T) an expectation under p(hₜ₋₁, hₜ|v₁ … v_T), which
// the smoothed particles approximate. q learns from the particles of the filter (q-wake phase).
func (m *Belief) gradient(f frames, r filtered, particles, lag int) *Belief {
	g := newBelief(m.shape, m.architecture, nil)
	smoothed := r.smoothed(f, particles, lag)
	for k, net := range g.nets {
		weights := smoothed
		if k == ofRecognition || k == ofDeepRecognition {
			weights = r.weights
		}
		perFrame := kernels.NewMatrix(f.v.Rows, net.Rows)
		work.Parts(f.v.Rows, rowsAPart, func(first, last int) {
			for i := first * particles; i < last*particles; i++ {
				row := kernels.Row(r.residuals[k], i)
				kernels.Scale(row, weights[i]/float64(f.v.Rows))
				kernels.AddMultiple(kernels.Row(perFrame, i/particles), 1, row)
			}
		})
		net.differentiate(perFrame, r.observed, r.residuals[k], r.state)
	}
	m.mask(g.nets[ofVisible])
	return g
}

// differentiate sets n to the derivatives with respect to the weights, given the derivatives with respect to
// the logits. perFrame has one row per frame, for the observed parents, and perState one row per state, for
// the hidden parents.
func (n network) differentiate(perFrame, observed, perState, state kernels.Matrix) {
	mulTN(kernels.Cols(n.Matrix, 0, n.inputs), 0, perFrame, kernels.Cols(observed, 0, n.inputs))
	mulTN(kernels.Cols(n.Matrix, n.inputs, n.Cols), 0, perState, n.parents(state))
}

// sleep computes the gradient of the recognition networks in the sleep phase: the gradient of log q(h|v), averaged
// over the frames of sequences drawn from p, which have the lengths in f (Dayan, Hinton, Neal and Zemel 1995).
func (m *Belief) sleep(g *Belief, f frames, d draws) {
	drawn := m.dream(frames{v: kernels.NewMatrix(f.v.Rows, f.v.Cols), start: f.start, rows: f.rows}, 0, kernels.Matrix{}, d)
	for _, k := range []int{ofRecognition, ofDeepRecognition} {
		a, h := m.nets[k].logits(drawn.observed, drawn.state), m.nets[k].units(drawn.state)
		for i := range a.Rows {
			kernels.Residual(kernels.Row(a, i), kernels.Row(h, i))
			kernels.Scale(kernels.Row(a, i), 1/float64(a.Rows))
		}
		g.nets[k].differentiate(a, drawn.observed, a, drawn.state)
	}
}

// mask sets to 0 the lateral weights that would make a visible unit depend on itself or on a later unit.
func (m *Belief) mask(visible network) {
	if m.lateral {
		for j := range visible.Rows {
			clear(kernels.Row(visible.Matrix, j)[m.pastWidth()+j : m.pastWidth()+m.shape.Width])
		}
	}
}

// estimates returns the samples from which the Fisher blocks of the networks are estimated. Scores of
// different units, and of different steps, have covariance 0 under the model, because each score has mean 0
// given everything earlier. So the Fisher matrix of a sequence consists of one block per unit, the sum over
// steps of
//
//	E[σ'(a) u uᵀ], u the parents of the unit at the step
//
// For the logarithm of the standard deviation of a Gaussian unit, 2 replaces σ'(a). For its mean, 1 replaces
// σ'(a): rescale accounts for the information 1/σ², so that damping does not depend on the scale of the data.
// The parents are the states of one particle per frame, drawn in proportion to the weights.
func (m *Belief) estimates(f frames, r filtered, particles, lag int, d draws) (all [networks]fisher.Estimate) {
	n := f.v.Rows
	weights := r.smoothed(f, particles, lag)
	state := kernels.NewMatrix(n, m.stateWidth())
	for frame := range n {
		u := d.key.Block(philox.Counter{Word: philox.Word{Purpose: philox.Pick, Unit: 1}, Datum: uint32(frame), Step: d.step, Sample: uint32(d.purpose)})
		particle := frame*particles + pick(weights[frame*particles:(frame+1)*particles], float64(philox.Uniform(u[0])))
		copy(kernels.Row(state, frame), kernels.Row(r.state, particle))
	}
	for k, net := range m.nets {
		e := fisher.Estimate{Parents: kernels.NewMatrix(n, net.Cols), Weights: kernels.NewMatrix(n, net.Rows)}
		fill(kernels.Cols(e.Parents, 0, net.inputs), kernels.Cols(r.observed, 0, net.inputs))
		fill(kernels.Cols(e.Parents, net.inputs, net.Cols), net.parents(state))
		kernels.MulNT(e.Weights, e.Parents, net.Matrix)
		for i, a := range e.Weights.Data {
			p := kernels.Sigmoid(a)
			information := p * (1 - p)
			switch {
			case k == ofDeviations:
				information = 2
			case k == ofVisible && m.gaussian:
				information = 1
			}
			e.Weights.Data[i] = information / float32(n)
		}
		all[k] = e
	}
	return all
}

// rescale multiplies the derivatives with respect to the weights of Gaussian units by σ², because estimates omits
// the factor 1/σ² from their Fisher blocks.
func (m *Belief) rescale(g *Belief) {
	for j, a := range m.nets[ofDeviations].Data {
		kernels.Scale(kernels.Row(g.nets[ofVisible].Matrix, j), math.Pow(math.Exp(float64(a))+smallest, 2))
	}
}

// bound changes the natural gradient x of ln σ so that a step at the given rate multiplies σ² by 1 +
// 2·rate·x, but by at least 0.1. This hardly changes small steps. Without it, an outlier would move ln σ by a
// multiple of the outlier's square.
func (n network) bound(rate float64) {
	for i, x := range n.Data {
		n.Data[i] = float32(math.Log1p(max(2*rate*float64(x), -0.9)) / 2 / rate)
	}
}

// lateralEstimate returns the part of the visible units' estimate that belongs to one lateral unit. In its
// parents, units that are not parents of this unit are 0.
func (m *Belief) lateralEstimate(e fisher.Estimate, unit int) fisher.Estimate {
	parents := kernels.Clone(e.Parents)
	for i := range parents.Rows {
		clear(kernels.Row(parents, i)[m.pastWidth()+unit : m.pastWidth()+m.shape.Width])
	}
	return fisher.Estimate{Parents: parents, Weights: kernels.Cols(e.Weights, unit, unit+1)}
}

// invert estimates the Fisher blocks at the model's parameters from filtered particles, and returns their
// inverses.
func (m *Belief) invert(f frames, r filtered, particles, lag int, s fisher.Settings, d draws) (all [networks]inverses, err error) {
	for k, e := range m.estimates(f, r, particles, lag, d) {
		lateral, parts := k == ofVisible && m.lateral, 1
		if lateral {
			parts = e.Weights.Cols
		}
		for j := range min(parts, e.Weights.Cols) {
			part := e
			if lateral {
				part = m.lateralEstimate(e, j)
			}
			v, err := fisher.NewInverse(part, s, nil)
			if err != nil {
				return all, err
			}
			all[k] = append(all[k], v)
		}
	}
	return all, nil
}

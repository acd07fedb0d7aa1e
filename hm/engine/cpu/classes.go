package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// classes scores all labels y of samples h ~ q(h|x) by
//
//	ℓ(y) = log √(p(x,h,y) q(y|h)/q(h|x)),
//
// so that B̃(x,y) = (1/K) Σ_h e^ℓ(y) (BiHM thesis 2016, 4.5, with its 1/K). For a separate
// classifier, p(y|x,h¹) = q(y|x,h¹) gives ℓ(y) = log √(p(x,h)/q(h|x)) + log q(y|x,h¹) (BiHM thesis
// 2016, 4.6).
type classes struct {
	weights *weights
	count   int
	top     bool // the label is the top layer

	// For a label at the top: prior[y] is log p(y). log p(hᴹ⁻¹|y) has two parts: logits[j·count+y]
	// is the logit of unit j, and off[y] is Σ_j log (1 − σ).
	prior, logits, off []float64

	// For a classifier: below holds its weights for [1; x], or only the biases if it does not see
	// x. hidden holds a 0 in place of the bias, and the weights for h¹.
	below, hidden *kernels.Packed
}

func newClasses(w *weights) *classes {
	a := w.architecture
	c := &classes{weights: w, count: a.Labels(), top: a.TopLabels()}
	if c.top {
		c.prior, c.off = make([]float64, c.count), make([]float64, c.count)
		c.logits = make([]float64, a.Units[a.Depth()-1]*c.count)
		return c
	}
	c.below = kernels.NewPacked(c.count, 1+a.ClassifierVisible())
	c.hidden = kernels.NewPacked(c.count, 1+a.Units[1])
	return c
}

// pack copies the parameters p.
func (c *classes) pack(p *engine.Parameters) {
	if !c.top {
		m, visible := matrix(p.Classifier), p.Architecture.ClassifierVisible()
		c.below.Pack(kernels.Clone(kernels.Cols(m, 0, 1+visible)), 0, c.count)
		hidden := kernels.NewMatrix(c.count, 1+p.Architecture.Units[1])
		for y := range c.count {
			copy(kernels.Row(hidden, y)[1:], kernels.Row(m, y)[1+visible:])
		}
		c.hidden.Pack(hidden, 0, c.count)
		return
	}
	depth := p.Architecture.Depth()
	prior := p.Generative[depth].Data // a column of biases
	total := kernels.LogSumExp(prior)
	layer := p.Generative[depth-1]
	clear(c.off)
	for y := range c.count {
		c.prior[y] = float64(prior[y]) - total
		for j := range layer.Units {
			row := layer.Row(j)
			a := float64(row[0]) + float64(row[1+y])
			c.logits[j*c.count+y] = a
			c.off[y] -= statistics.Softplus(a)
		}
	}
}

// classLogits computes the logits of q(y|h), or of the classifier, for the samples of a pass, one
// row per sample.
func (v *pass) classLogits(logits kernels.Matrix) {
	c := v.weights.classes
	if c.top {
		depth := len(v.states) - 1
		v.weights.logits(recognition, depth, logits, v.states[depth-1])
		return
	}
	below := kernels.NewMatrix(v.data, c.count)
	kernels.MulPacked(below, kernels.Cols(v.states[0], 0, 1+v.weights.architecture.ClassifierVisible()), c.below)
	kernels.MulPacked(logits, v.states[1], c.hidden)
	for r := range v.data * v.samples {
		row := kernels.Row(logits, r)
		for y, a := range kernels.Row(below, r/v.samples) {
			row[y] += a
		}
	}
}

// scoreClasses writes ℓ(y) of sample r to scores and log q(y|h) to logQ. logits holds the logits of
// the sample's classes. recognize and scoreStates(generative) must have run before.
func (v *pass) scoreClasses(scores, logQ []float64, r int, logits []float32) {
	c := v.weights.classes
	total := kernels.LogSumExp(logits)
	for y, a := range logits {
		logQ[y] = float64(a) - total
	}
	ratio := v.logP[r] - v.logQ[r]
	if !c.top {
		for y := range scores {
			scores[y] = ratio/2 + logQ[y]
		}
		return
	}
	depth := len(v.states) - 1
	for y := range scores {
		scores[y] = c.prior[y] + c.off[y]
	}
	for j, s := range v.units(depth-1, r) {
		if s > 0 {
			for y, a := range c.logits[j*c.count : (j+1)*c.count] {
				scores[y] += a
			}
		}
	}
	drawn := v.drawnClass(r)
	rest := ratio - scores[drawn] + logQ[drawn] // the contribution of the layers below y
	for y := range scores {
		scores[y] = (rest + scores[y] + logQ[y]) / 2
	}
}

// drawnClass returns the label of sample r of a pass.
func (v *pass) drawnClass(r int) int {
	for y, s := range v.units(len(v.states)-1, r) {
		if s > 0 {
			return y
		}
	}
	panic("cpu: a sample without a label")
}

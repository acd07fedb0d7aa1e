package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// entropy adds to an objective a term that raises the conditional entropies H of the units: for q
// in the wake samples, for p in the dreams.
type entropy struct {
	objective
	samples *samples
}

func (o entropy) weighResiduals(d int) {
	wake, dreams := o.samples.wake, o.samples.dreams
	for r := d * wake.samples; r < (d+1)*wake.samples; r++ {
		o.add(wake, recognition, r)
		o.add(dreams, generative, r)
	}
}

// add writes the weighted residuals of sample r of a lesson: the residuals times the sample's
// weight, plus the slopes of the entropies times their strength.
func (o entropy) add(of *lesson, n network, r int) {
	weight, slope := o.weight(of, n, r), float32(o.samples.warmth*o.samples.algorithm.Entropy)
	for i := int(n); i < len(of.states); i++ {
		row, residuals := kernels.Row(of.weighted[n][i], r), kernels.Row(of.residuals[n][i], r)
		copy(row, residuals)
		kernels.Scale(row, weight)
		for j, a := range kernels.Row(of.outputs[n][i], r) {
			row[j] += float32(slope * entropySlope(a, residuals[j]))
		}
	}
}

// entropySlope returns ∂H/∂a = −a σ'(a) of the entropy H(σ(a)), with σ' = |δ|(1−|δ|) from the
// residual δ = on − σ(a) of a draw.
func entropySlope(a, residual float32) float32 {
	d := float32(math.Abs(float64(residual)))
	return -a * d * (1 - d)
}

package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// makeSlopes makes room for the slopes of the entropies of what a pass draws
// with the logits of a network.
func (v *pass) makeSlopes(logits []kernels.Matrix) {
	v.slopes = make([]kernels.Matrix, len(v.states))
	for i := range v.slopes {
		v.slopes[i] = kernels.NewMatrix(logits[i].Rows, logits[i].Cols)
	}
}

// keepLogits copies the logits of sample r in layer i to where the slopes of
// their entropies will be, before drawing overwrites them.
func (v *pass) keepLogits(i, r int, logits []float32) []float32 {
	if v.slopes == nil {
		return nil
	}
	slopes := kernels.Row(v.slopes[i], r)
	copy(slopes, logits)
	return slopes
}

// entropySlopes turns logits a into the slopes ∂H/∂a = −a σ'(a) of the entropies
// H(σ(a)), from the residuals δ = on − σ(a) of a draw: σ' = |δ|(1−|δ|).
func entropySlopes(logits, residuals []float32) {
	for j, a := range logits {
		d := float32(math.Abs(float64(residuals[j])))
		logits[j] = -a * d * (1 - d)
	}
}

// entropyOfDreams turns the logits that dreams were drawn from into residuals,
// and notes the slopes of their entropies.
func (v *pass) entropyOfDreams() {
	for i := range v.states {
		for r := range v.data {
			logits := kernels.Row(v.generative[i], r)
			slopes := v.keepLogits(i, r, logits)
			kernels.Residual(logits, v.units(i, r))
			entropySlopes(slopes, logits)
		}
	}
}

// weightRow multiplies the residuals of sample r in layer i of a network by a
// factor, and adds the slopes of the entropies, where there are any, times
// another.
func (v *pass) weightRow(network []kernels.Matrix, i, r int, factor, slope float64) {
	row := kernels.Row(network[i], r)
	kernels.Scale(row, factor)
	if v.slopes == nil {
		return
	}
	by := float32(slope)
	for j, s := range kernels.Row(v.slopes[i], r) {
		row[j] += by * s
	}
}

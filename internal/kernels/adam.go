package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Adam has the settings of the optimiser Adam (Kingma and Ba 2015).
type Adam struct {
	Beta1, Beta2 float64 // decays of the running means of gradients and of their squares
	Epsilon      float64 // added to the root of the mean of squares
}

// Ascend moves parameters along a gradient for the n-th time, counted from 1, and updates the running
// means of the gradient and of its square. The means are corrected for their start at 0, and ε is
// outside the root (Várady 2025, 6.3, corrected).
func (a Adam) Ascend(parameters, mean, square, gradient []float32, rate float64, n int) {
	rate /= 1 - math.Pow(a.Beta1, float64(n))
	correction := 1 / (1 - math.Pow(a.Beta2, float64(n)))
	b1, b2 := float32(a.Beta1), float32(a.Beta2)
	c1, c2 := float32(1-a.Beta1), float32(1-a.Beta2)
	for k, g := range gradient {
		mean[k] = float32(b1*mean[k]) + float32(c1*g) // not fused on any processor
		square[k] = float32(b2*square[k]) + float32(c2*g*g)
		parameters[k] += float32(rate * float64(mean[k]) / (math.Sqrt(correction*float64(square[k])) + a.Epsilon))
	}
}

// Moments holds the running means of Adam, one number per parameter.
type Moments struct{ Mean, Square []float32 }

// NewMoments returns the running means of n parameters before the first step.
func NewMoments(n int) Moments { return Moments{make([]float32, n), make([]float32, n)} }

// Ascend moves parameters along a gradient by the published settings of Adam but beta1, the decay of the mean. Steps count from 0.
func (m Moments) Ascend(parameters, gradient []float32, rate, beta1 float64, step int) {
	by := Adam{Beta1: beta1, Beta2: 0.999, Epsilon: 1e-8}
	work.Parts(len(parameters), 1<<16, func(first, last int) {
		by.Ascend(parameters[first:last], m.Mean[first:last], m.Square[first:last], gradient[first:last], rate, step+1)
	})
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// parametersAPiece is the number of parameters that are updated together.
const parametersAPiece = 1 << 14

// lookAhead moves the point at which Nesterov evaluates its gradient to where the velocity alone
// would lead (Várady 2025, 6.10). The other optimisers evaluate their gradient at the parameters.
func (t *trainer) lookAhead(learningRate float64) {
	a := t.job.Algorithm
	if a.Optimizer != engine.Nesterov {
		return
	}
	ahead := float32(learningRate * a.Momentum)
	p, velocity := t.state.Parameters.Flat, t.state.Moments[0].Flat
	for k := range p {
		t.point.Flat[k] = p[k] + float32(ahead*velocity[k])
	}
}

// update moves parameters first to last−1 along a gradient, as the n-th update of the optimiser,
// counted from 1.
func (t *trainer) update(gradient *engine.Parameters, learningRate float64, first, last, n int) {
	move := t.mover(gradient.Flat, learningRate, n)
	parallel((last-first+parametersAPiece-1)/parametersAPiece, func(piece int) {
		from := first + piece*parametersAPiece
		move(from, min(from+parametersAPiece, last))
	})
}

// mover returns a function that moves parameters first to last−1 along g as the n-th update of the
// optimiser. It rounds products explicitly, so that compilers do not fuse them with sums, which would
// give other bytes on other processors.
func (t *trainer) mover(g []float32, learningRate float64, n int) func(first, last int) {
	p, moments := t.state.Parameters.Flat, t.state.Moments
	switch a := t.job.Algorithm; a.Optimizer {
	case engine.Adam:
		adam := kernels.Adam{Beta1: a.AdamBeta1, Beta2: a.AdamBeta2, Epsilon: a.AdamEpsilon}
		mean, square := moments[0].Flat, moments[1].Flat
		return func(first, last int) {
			adam.Ascend(p[first:last], mean[first:last], square[first:last], g[first:last], learningRate, n)
		}
	case engine.Momentum, engine.Nesterov:
		rate, decay := float32(learningRate), float32(a.Momentum)
		velocity := moments[0].Flat
		return func(first, last int) {
			for k := first; k < last; k++ {
				velocity[k] = float32(decay*velocity[k]) + g[k]
				p[k] += float32(rate * velocity[k])
			}
		}
	}
	rate := float32(learningRate)
	return func(first, last int) { kernels.AddMultiple(p[first:last], rate, g[first:last]) }
}

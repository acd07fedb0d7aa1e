package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// lookAhead moves the point at which Nesterov evaluates its gradient to where
// the velocity alone would lead (004, 6.10). The other optimisers evaluate
// theirs at the parameters.
func (t *trainer) lookAhead(learningRate float64) {
	a := t.job.Algorithm
	if a.Optimizer != engine.Nesterov {
		return
	}
	ahead := float32(learningRate * a.Momentum)
	p, velocity := t.state.Parameters.Flat, t.state.Moments[0].Flat
	for k := range p {
		t.point.Flat[k] = p[k] + ahead*velocity[k]
	}
}

// update moves the parameters along the gradient.
func (t *trainer) update(learningRate float64) {
	p, g := t.state.Parameters.Flat, t.gradient.Flat
	switch a := t.job.Algorithm; a.Optimizer {
	case engine.GradientDescent:
		rate := float32(learningRate)
		for k := range p {
			p[k] += rate * g[k]
		}
	case engine.Adam:
		// With bias correction, and ε outside the root (004, 6.3, corrected).
		step := float64(t.state.Step + 1)
		rate := learningRate / (1 - math.Pow(a.AdamBeta1, step))
		correction := 1 / (1 - math.Pow(a.AdamBeta2, step))
		first, second := t.state.Moments[0].Flat, t.state.Moments[1].Flat
		b1, b2 := float32(a.AdamBeta1), float32(a.AdamBeta2)
		c1, c2 := float32(1-a.AdamBeta1), float32(1-a.AdamBeta2)
		for k := range p {
			first[k] = b1*first[k] + c1*g[k]
			second[k] = b2*second[k] + c2*g[k]*g[k]
			p[k] += float32(rate * float64(first[k]) / (math.Sqrt(correction*float64(second[k])) + a.AdamEpsilon))
		}
	case engine.Momentum, engine.Nesterov:
		rate, decay := float32(learningRate), float32(a.Momentum)
		velocity := t.state.Moments[0].Flat
		for k := range p {
			velocity[k] = decay*velocity[k] + g[k]
			p[k] += rate * velocity[k]
		}
	}
}

//go:build cuda

package gpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// writeLookAhead writes the operation that moves the point at which Nesterov evaluates its gradient.
func (t *trainer) writeLookAhead(w *writer) {
	a, count := t.job.Algorithm, t.layout.size
	if a.Optimizer != engine.Nesterov {
		return
	}
	add(w.program, w.done(), lookAhead, tiles(count, elements), lookAheadOf{
		parameters: t.parameters, velocity: t.moments[0], point: t.point, count: uint32(count),
		ahead: w.number(func(m moment) float64 { return m.learningRate * a.Momentum }),
	})
}

// writeCopy writes an operation of the last phase that copies parameters.
func (t *trainer) writeCopy(w *writer, to, from address) {
	count := t.layout.size
	add(w.program, w.done()-1, lookAhead, tiles(count, elements), lookAheadOf{
		parameters: from, velocity: from, point: to, count: uint32(count), ahead: w.none,
	})
}

// rate locates two inputs: the learning rate of an update, and the factor that corrects Adam's
// second moment.
type rate struct{ rate, correction uint32 }

func (t *trainer) rateOf(w *writer, n func(moment) int) rate {
	a := t.job.Algorithm
	if a.Optimizer != engine.Adam {
		return rate{w.number(func(m moment) float64 { return m.learningRate }), w.none}
	}
	return rate{
		w.number(func(m moment) float64 { return m.learningRate / (1 - math.Pow(a.AdamBeta1, float64(n(m)))) }),
		w.number(func(m moment) float64 { return 1 / (1 - math.Pow(a.AdamBeta2, float64(n(m)))) }),
	}
}

func (t *trainer) updateOf(of layer, natural address, r rate, l1, l2 uint32) updateOf {
	a := t.job.Algorithm
	u := updateOf{
		parameters: t.parameters.floats(of.first), point: t.point.floats(of.first), natural: natural.floats(of.first),
		units: uint32(of.units), width: uint32(of.width), unbiased: uint32(of.before), rate: r.rate, correction: r.correction, l1: l1, l2: l2,
	}
	switch a.Optimizer {
	case engine.Adam:
		u.optimizer, u.epsilon = adam, float32(a.AdamEpsilon)
		u.beta1, u.beta2, u.rest1, u.rest2 = float32(a.AdamBeta1), float32(a.AdamBeta2), 1-a.AdamBeta1, 1-a.AdamBeta2
		u.first, u.second = t.moments[0].floats(of.first), t.moments[1].floats(of.first)
	case engine.Momentum, engine.Nesterov:
		u.optimizer, u.beta1 = momentum, float32(a.Momentum)
		u.first = t.moments[0].floats(of.first)
	}
	return u
}

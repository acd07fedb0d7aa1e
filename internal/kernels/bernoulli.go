package kernels

import "github.com/helmholtz-go/helmholtz/internal/philox"

// Draw samples Bernoulli units: unit j is on with probability σ(logits[j]). It writes 1 into states[j] if the
// unit is on, and otherwise the number off. The random words come from the blocks of key at the counter c,
// whose Unit it sets to j/4.
func Draw(states, logits []float32, off float32, key philox.Key, c philox.Counter) {
	states = states[:len(logits)]
	if current == portable || !vectorCounters(logits) {
		portableDraw(states, logits, off, key, c)
		return
	}
	words := counterWords(c)
	current.draw(states, logits, off, key, &words)
}

// Residual replaces the logit a of each Bernoulli unit by the derivative of its log-probability, on − σ(a),
// and returns the log-probability of all units in nats. A unit is on, with on = 1, if its state is positive.
func Residual(logits, states []float32) float64 {
	states = states[:len(logits)]
	switch {
	case len(logits) == 0:
		return 0
	case current == portable:
		return portableScore(logits, states, true)
	}
	return current.residual(logits, states)
}

// DrawResidual draws the states of units like Draw, and then replaces their logits and returns
// their log-probability like Residual.
func DrawResidual(states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	states = states[:len(logits)]
	if current == portable || !vectorCounters(logits) {
		portableDraw(states, logits, off, key, c)
		return portableScore(logits, states, true)
	}
	words := counterWords(c)
	return current.drawResidual(states, logits, off, key, &words)
}

// Score returns the log-probability of units in nats, like Residual, without changing their logits.
func Score(logits, states []float32) float64 {
	states = states[:len(logits)]
	switch {
	case len(logits) == 0:
		return 0
	case current == portable:
		return portableScore(logits, states, false)
	}
	return current.score(logits, states)
}

// DrawScore draws the states of units like Draw, and returns their log-probability like Score.
func DrawScore(states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	states = states[:len(logits)]
	if current == portable || !vectorCounters(logits) {
		portableDraw(states, logits, off, key, c)
		return portableScore(logits, states, false)
	}
	words := counterWords(c)
	return current.drawScore(states, logits, off, key, &words)
}

// vectorCounters reports whether vector code can draw the units: there must be some, and the 16-bit Unit
// of their counters, which counts groups of four units, must not overflow.
func vectorCounters(logits []float32) bool {
	return len(logits) > 0 && len(logits) <= 4<<16
}

// counterWords returns the words of the first unit's counter.
func counterWords(c philox.Counter) [4]uint32 {
	return [4]uint32{uint32(c.Layer)<<16 | uint32(c.Purpose)<<24, c.Sample, c.Datum, c.Step}
}

package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Draw samples Bernoulli units: unit j is on with probability σ(logits[j]). It writes 1 into
// states[j] if the unit is on, and off otherwise. The random words come from the blocks of key at the
// counter c, whose Unit it sets to j/4.
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
func Residual(logits, states []float32) float64 { return score(logits, states, true) }

// Score returns the log-probability of units in nats, like Residual, without changing their logits.
func Score(logits, states []float32) float64 { return score(logits, states, false) }

// unitsTogether is the most units whose factors 1 + e^−|a| ≤ 2 are multiplied before their logarithm is taken.
const unitsTogether = 1008

func score(logits, states []float32, residuals bool) (total float64) {
	states = states[:len(logits)]
	for first := 0; first < len(logits); first += unitsTogether {
		last := min(first+unitsTogether, len(logits))
		l, s := logits[first:last], states[first:last]
		var linear, product float64
		switch {
		case current == portable:
			linear, product = portableScore(l, s, residuals)
		case residuals:
			linear, product = current.residual(l, s)
		default:
			linear, product = current.score(l, s)
		}
		total += linear - math.Log(product)
	}
	return total
}

// DrawResidual draws the states of units like Draw, and then replaces their logits and returns
// their log-probability like Residual.
func DrawResidual(states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	if current == portable || !together(logits) {
		Draw(states, logits, off, key, c)
		return Residual(logits, states)
	}
	words := counterWords(c)
	linear, product := current.drawResidual(states[:len(logits)], logits, off, key, &words)
	return linear - math.Log(product)
}

// DrawScore draws the states of units like Draw, and returns their log-probability like Score.
func DrawScore(states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	if current == portable || !together(logits) {
		Draw(states, logits, off, key, c)
		return Score(logits, states)
	}
	words := counterWords(c)
	linear, product := current.drawScore(states[:len(logits)], logits, off, key, &words)
	return linear - math.Log(product)
}

// together reports whether one kernel can draw and score the units.
func together(logits []float32) bool { return len(logits) > 0 && len(logits) <= unitsTogether }

// vectorCounters reports whether vector code can draw the units: there must be some, and the 16-bit Unit
// of their counters, which counts groups of four units, must not overflow.
func vectorCounters(logits []float32) bool {
	return len(logits) > 0 && len(logits) <= 4<<16
}

// counterWords returns the words of the first unit's counter.
func counterWords(c philox.Counter) [4]uint32 {
	return [4]uint32{uint32(c.Layer)<<16 | uint32(c.Purpose)<<24, c.Sample, c.Datum, c.Step}
}

package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// The functions here treat a categorical variable: exactly one of its units is 1, unit j with
// probability e^aⱼ/Σ e^a, and the others are 0. They compute in double precision, identically for
// all instruction sets.

// DrawCategorical samples the units of a categorical variable, using the first random word of the
// counter c.
func DrawCategorical(states, logits []float32, key philox.Key, c philox.Counter) {
	total := LogSumExp(logits)
	left := float64(philox.Uniform(key.Block(c)[0]))
	on := 0
	for on < len(logits)-1 {
		if left -= math.Exp(float64(logits[on]) - total); left < 0 {
			break
		}
		on++
	}
	clear(states)
	states[on] = 1
}

// ResidualCategorical replaces logits by the derivatives of the log-probability of states, which
// are states minus probabilities, and returns the log-probability in nats.
func ResidualCategorical(logits, states []float32) float64 {
	total := LogSumExp(logits)
	logP := -total
	for j, a := range logits {
		logP += float64(states[j] * a)
		logits[j] = float32(float64(states[j]) - math.Exp(float64(a)-total))
	}
	return logP
}

// LogSumExp returns log Σ e^a.
func LogSumExp(logits []float32) float64 {
	largest := math.Inf(-1)
	for _, a := range logits {
		largest = max(largest, float64(a))
	}
	sum := 0.0
	for _, a := range logits {
		sum += math.Exp(float64(a) - largest)
	}
	return largest + math.Log(sum)
}

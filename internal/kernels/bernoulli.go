package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Draw samples Bernoulli units: unit j is on with probability σ(logits[j]).
// It writes 1 into states[j] for a unit that is on and off for one that is not.
// The draws are those of counter c, whose Unit word it sets.
func Draw(states, logits []float32, off float32, key philox.Key, c philox.Counter) {
	states = states[:len(logits)]
	var words [4]uint32
	for j, a := range logits {
		lane := j & 3
		if lane == 0 {
			c.Unit = uint16(j >> 2)
			words = key.Block(c)
		}
		states[j] = off
		if philox.Uniform(words[lane]) < Sigmoid(a) {
			states[j] = 1
		}
	}
}

// Residual replaces the logits of Bernoulli units by the derivative of their
// log-probability, on − σ(a), and returns their log-probability in nats. A
// unit is on where its state is positive.
func Residual(logits, states []float32) float64 {
	states = states[:len(logits)]
	sum := 0.0
	for j, a := range logits {
		// With z = a where the unit is on and −a where it is off, the
		// log-probability is log σ(z) and its derivative ±σ(−z).
		sign := float32(1)
		if states[j] <= 0 {
			sign = -1
		}
		z := a * sign
		e := expNegative(max(z, -z))
		residual := e / (1 + e)
		if z < 0 {
			residual = 1 - residual
		}
		sum += float64(min(z, 0) - log1p(e))
		logits[j] = residual * sign
	}
	return sum
}

// Sigmoid is the logistic function σ(a) = 1/(1 + e⁻ᵃ).
func Sigmoid(a float32) float32 {
	if a >= 0 {
		return 1 / (1 + expNegative(a))
	}
	e := expNegative(-a)
	return e / (1 + e)
}

// expNegative returns e⁻ᵗ for t ≥ 0, with a relative error below 2⁻²². It
// flushes results below the smallest normal number to zero and keeps NaN.
func expNegative(t float32) float32 {
	const (
		log2e = 1.4426950408889634
		ln2Hi = 0.693359375 // exact in few bits, so that n·ln2Hi is exact
		ln2Lo = -2.12194440054690583e-4
		limit = 87.3
	)
	if !(t <= limit) {
		if t > limit {
			return 0
		}
		return t // NaN
	}
	n := int32(t*log2e + 0.5)
	f := float32(n)
	r := (f*ln2Hi - t) + f*ln2Lo // −ln2/2 ≤ r ≤ ln2/2
	p := float32(1.0 / 720)
	p = p*r + 1.0/120
	p = p*r + 1.0/24
	p = p*r + 1.0/6
	p = p*r + 0.5
	p = p*r + 1
	p = p*r + 1
	return p * math.Float32frombits(uint32(127-n)<<23)
}

// log1p returns ln(1+e) for 0 ≤ e ≤ 1 from the series of 2·artanh(e/(2+e)).
func log1p(e float32) float32 {
	r := e / (2 + e)
	s := r * r
	p := float32(1.0 / 15)
	p = p*s + 1.0/13
	p = p*s + 1.0/11
	p = p*s + 1.0/9
	p = p*s + 1.0/7
	p = p*s + 1.0/5
	p = p*s + 1.0/3
	p = p*s + 1
	return 2 * r * p
}

package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// The conversions to float32 prevent a compiler from fusing a multiplication and an addition into
// one operation, which would round differently.

func portableUnits(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	if todo&Draws != 0 {
		portableDraw(states, logits, off, key, c)
	}
	if todo&Scores == 0 {
		return 0
	}
	return portableScore(logits, states, todo&Residuals == Residuals)
}

func portableDraw(states, logits []float32, off float32, key philox.Key, c philox.Counter) {
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

// portableScore returns the log-probability of units. If residuals is true, it replaces their
// logits by residuals.
func portableScore(logits, states []float32, residuals bool) float64 {
	// The log-probabilities of units with equal j mod 16 are summed separately, like the lanes of
	// vectors, so that the order is the same for all instruction sets.
	var sums [16]float64
	for j, a := range logits {
		// With z = a if the unit is on and −a if it is off, the log-probability is log σ(z) and its
		// derivative ±σ(−z).
		sign := float32(-1)
		if states[j] > 0 {
			sign = 1
		}
		z := a * sign
		e := expNegative(max(z, -z))
		sums[j%len(sums)] += float64(min(z, 0) - log1p(e))
		if !residuals {
			continue
		}
		residual := e / (1 + e)
		if z < 0 {
			residual = 1 - residual
		}
		logits[j] = residual * sign
	}
	return total(&sums)
}

// total adds the second half of the sums to the first, until one is left.
func total(sums *[16]float64) float64 {
	for half := len(sums) / 2; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[half+i]
		}
	}
	return sums[0]
}

// Sigmoid returns the logistic function σ(a) = 1/(1 + e⁻ᵃ).
func Sigmoid(a float32) float32 {
	if a >= 0 {
		return 1 / (1 + expNegative(a))
	}
	e := expNegative(-a)
	return e / (1 + e)
}

// expNegative returns e⁻ᵗ for t ≥ 0, with a relative error below 2.5·10⁻⁷. It
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
	n := int32(float32(t*log2e) + 0.5)
	f := float32(n)
	r := (float32(f*ln2Hi) - t) + float32(f*ln2Lo) // −ln2/2 ≤ r ≤ ln2/2
	// Sum the terms above r² in pairs, which vector code adds in parallel.
	r2 := r * r
	p := (float32(r*(1.0/6)) + 0.5) + float32(r2*((float32(r*(1.0/120))+1.0/24)+float32(r2*(1.0/720))))
	p = float32(p*r) + 1
	p = float32(p*r) + 1
	return p * math.Float32frombits(uint32(127-n)<<23)
}

// log1p returns ln(1+e) for 0 ≤ e ≤ 1 from the series of 2·artanh(e/(2+e)).
func log1p(e float32) float32 {
	r := e / (2 + e)
	s := r * r
	s2 := s * s
	low := (float32(s*(1.0/3)) + 1) + float32(s2*(float32(s*(1.0/7))+1.0/5))
	high := (float32(s*(1.0/11)) + 1.0/9) + float32(s2*(float32(s*(1.0/15))+1.0/13))
	p := low + float32(float32(s2*s2)*high)
	return float32(2 * r * p)
}

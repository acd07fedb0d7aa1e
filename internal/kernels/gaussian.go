package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// The functions here are of Gaussian units: with outputs μ and a, a unit has
// mean μ and standard deviation σ = eᵃ + floor. Slices of outputs hold those of
// a number of units at each of some positions: first their μ, then their a. They
// compute in double precision, alike for all instruction sets.

// DrawGaussian samples units. Units 2k and 2k+1 are a pair of Box and Muller: the
// words w₀ and w₁ of their counters, those that Draw takes for the same units,
// make r = √(−2 ln u(w₀)) and the angle 2π u(w₁), and the units are μ + σ r cos
// and μ + σ r sin. As u ≥ 2⁻²⁴, none is more than 5.8 σ from its mean.
func DrawGaussian(states, outputs []float32, units int, floor float64, key philox.Key, c philox.Counter) {
	var words [4]uint32
	var sin, cos float64
	for j := range states {
		if j%4 == 0 {
			c.Unit = uint16(j / 4)
			words = key.Block(c)
		}
		z := sin
		if j%2 == 0 {
			radius := math.Sqrt(-2 * math.Log(float64(philox.Uniform(words[j%4]))))
			sin, cos = math.Sincos(2 * math.Pi * float64(philox.Uniform(words[j%4+1])))
			sin, cos = radius*sin, radius*cos
			z = cos
		}
		at := j/units*2*units + j%units
		states[j] = float32(float64(outputs[at]) + (math.Exp(float64(outputs[at+units]))+floor)*z)
	}
}

// ResidualGaussian replaces outputs by the derivatives of the log-density of
// states,
//
//	∂/∂μ = (h − μ)/σ²,   ∂/∂a = ((h − μ)²/σ² − 1) ρ,   ρ = ∂ ln σ/∂a = eᵃ/σ,
//
// (004, 7.2 and 7.3, where ρ = 1 as there is no floor), and returns the
// log-density in nats.
func ResidualGaussian(outputs, states []float32, units int, floor float64) float64 {
	const half = 0.9189385332046727 // ln √(2π)
	sum := 0.0
	for j, h := range states {
		at := j/units*2*units + j%units
		e := math.Exp(float64(outputs[at+units]))
		sigma := e + floor
		z := (float64(h) - float64(outputs[at])) / sigma
		sum -= z*z/2 + math.Log(sigma) + half
		outputs[at] = float32(z / sigma)
		outputs[at+units] = float32((z*z - 1) * e / sigma)
	}
	return sum
}

// InformationGaussian replaces outputs by their Fisher information times a
// weight: 1/σ² for μ and 2ρ² for a. That between μ and a is zero.
func InformationGaussian(outputs []float32, units int, floor, weight float64) {
	for first := 0; first < len(outputs); first += 2 * units {
		for j := first; j < first+units; j++ {
			e := math.Exp(float64(outputs[j+units]))
			sigma := e + floor
			outputs[j] = float32(weight / (sigma * sigma))
			outputs[j+units] = float32(weight * 2 * e * e / (sigma * sigma))
		}
	}
}

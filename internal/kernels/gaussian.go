package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// A Gaussian unit has two outputs, μ and a: its mean is μ, and its standard deviation is σ = eᵃ + floor. A
// layer has one position, or many if it is convolutional. The argument units is the number of units per
// position. In the slices below, states holds the values of the units, one position after the other. For each
// position, outputs holds first the μ of all its units, then their a. All computations are in double
// precision, and identical for all instruction sets.

// DrawGaussian samples Gaussian units by the Box–Muller transform. Units 2k and 2k+1 use the random words w₀
// and w₁ that Draw uses for the units with these numbers. Their values are μ + σ r cos φ and μ + σ r sin φ
// with r = √(−2 ln u(w₀)) and φ = 2π u(w₁). Since u ≥ 2⁻²⁴, no unit is more than 5.8 σ from its mean. The
// blocks of words begin at the Unit of the counter.
func DrawGaussian(states, outputs []float32, units int, floor float64, key philox.Key, c philox.Counter) {
	var words [4]uint32
	var sin, cos float64
	block := c.Unit
	for first := 0; first < len(states); first += units {
		mu, a := ofPosition(outputs, first, units)
		for k := range mu {
			j := first + k
			if j%4 == 0 {
				c.Unit = block + uint16(j/4)
				words = key.Block(c)
			}
			z := sin // computed with the preceding unit, the first of the pair
			if j%2 == 0 {
				radius := math.Sqrt(-2 * math.Log(float64(philox.Uniform(words[j%4]))))
				sin, cos = math.Sincos(2 * math.Pi * float64(philox.Uniform(words[j%4+1])))
				sin, cos = radius*sin, radius*cos
				z = cos
			}
			states[j] = float32(float64(mu[k]) + (math.Exp(float64(a[k]))+floor)*z)
		}
	}
}

// ofPosition returns the μ and the a of the units at one position. first is the index in the layer of the
// position's first unit.
func ofPosition(outputs []float32, first, units int) (mu, a []float32) {
	return outputs[2*first : 2*first+units], outputs[2*first+units : 2*first+2*units]
}

// ResidualGaussian replaces outputs by the derivatives of the log-density of the states h,
//
//	∂/∂μ = (h − μ)/σ²,   ∂/∂a = ((h − μ)²/σ² − 1) ρ,   ρ = ∂ ln σ/∂a = eᵃ/σ,
//
// (Várady 2025, 7.2 and 7.3, where ρ = 1 because there is no floor), and returns the log-density in
// nats.
func ResidualGaussian(outputs, states []float32, units int, floor float64) float64 {
	const half = 0.9189385332046727 // ln √(2π)
	sum := -half * float64(len(states))
	product := 1.0 // of many σ, so that they need only one logarithm
	for first := 0; first < len(states); first += units {
		mu, a := ofPosition(outputs, first, units)
		for j, h := range states[first : first+units] {
			e := math.Exp(float64(a[j]))
			sigma := e + floor
			z := (float64(h) - float64(mu[j])) / sigma
			sum -= z * z / 2
			if product *= sigma; !(product > 1e-150 && product < 1e150) {
				sum -= math.Log(product)
				product = 1
			}
			mu[j] = float32(z / sigma)
			a[j] = float32((z*z - 1) * e / sigma)
		}
	}
	return sum - math.Log(product)
}

// InformationGaussian replaces outputs by the diagonal of their Fisher information, times weight: 1/σ² for
// μ and 2ρ² for a, where ρ = eᵃ/σ. The entries off the diagonal are zero.
func InformationGaussian(outputs []float32, units int, floor, weight float64) {
	for first := 0; 2*first < len(outputs); first += units {
		mu, a := ofPosition(outputs, first, units)
		for j := range mu {
			e := math.Exp(float64(a[j]))
			sigma := e + floor
			mu[j] = float32(weight / (sigma * sigma))
			a[j] = float32(weight * 2 * e * e / (sigma * sigma))
		}
	}
}

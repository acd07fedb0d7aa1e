package kernels

import (
	"iter"
	"math"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// A Gaussian unit has two outputs, μ and a: its mean is μ, and its standard deviation is σ = eᵃ + floor. A
// layer has one position, or many if it is convolutional. The argument units is the number of units per
// position. In the slices below, states holds the values of the units, one position after the other. For each
// position, outputs holds first the μ of all its units, then their a. All computations are in double
// precision, and identical for all instruction sets.

// atATime is the number of units that are computed at a time.
const atATime = 128

// doubleRoom is what units are computed in, in double precision.
type doubleRoom struct {
	normals, doubles [atATime]float64
	words            [atATime]uint32
	counter          [4]uint32
}

var doubleRooms = sync.Pool{New: func() any { return new(doubleRoom) }}

// exps computes eᵃ of n units, beginning with the given one.
func (r *doubleRoom) exps(outputs []float32, first, n, units int) {
	for at, m := range runs(first, n, units) {
		_, a := ofRun(outputs, first+at, m, units)
		for i, x := range a {
			r.doubles[at+i] = float64(x)
		}
	}
	Exp(r.whole(n))
}

// whole returns the first n numbers and what fills their last vector, so that no kernel leaves a rest.
func (r *doubleRoom) whole(n int) []float64 { return r.doubles[:(n+7)&^7] }

// runs yields where runs of units at one position begin among n units, and how many units they have.
func runs(first, n, units int) iter.Seq2[int, int] {
	return func(yield func(at, m int) bool) {
		for at := 0; at < n; {
			m := min(units-(first+at)%units, n-at)
			if !yield(at, m) {
				return
			}
			at += m
		}
	}
}

// ofRun returns the μ and the a of n units at one position, beginning with the given one.
func ofRun(outputs []float32, first, n, units int) (mu, a []float32) {
	k := first % units
	mu, a = ofPosition(outputs, first-k, units)
	return mu[k : k+n], a[k : k+n]
}

// DrawGaussian samples Gaussian units by the Box–Muller transform. Units 2k and 2k+1 use the random words w₀
// and w₁ that Draw uses for the units with these numbers. Their values are μ + σ r cos φ and μ + σ r sin φ
// with r = √(−2 ln u(w₀)) and φ = 2π u(w₁). Since u ≥ 2⁻²⁴, no unit is more than 5.8 σ from its mean. The
// blocks of words begin at the Unit of the counter.
func DrawGaussian(states, outputs []float32, units int, floor float64, key philox.Key, c philox.Counter) {
	set := current
	if int(c.Unit)+len(states)/4 >= 1<<16 { // the Unit would overflow in vector code
		set = &portable
	}
	r := doubleRooms.Get().(*doubleRoom)
	defer doubleRooms.Put(r)
	block := c.Unit
	for first := 0; first < len(states); first += atATime {
		n := min(atATime, len(states)-first)
		c.Unit = block + uint16(first/4)
		set.blocks(r, n, key, c)
		set.normals(r, n)
		r.exps(outputs, first, n, units)
		for at, m := range runs(first, n, units) {
			mu, _ := ofRun(outputs, first+at, m, units)
			e, z := r.doubles[at:at+m], r.normals[at:at+m]
			for i, h := range mu {
				states[first+at+i] = float32(float64(h) + (e[i]+floor)*z[i])
			}
		}
	}
}

// portableBlocks fills the room with at least n random words, and portableNormals turns the words into as many standard
// normal draws.
func portableBlocks(r *doubleRoom, n int, key philox.Key, c philox.Counter) {
	for j := 0; j < n; j += 4 {
		words := key.Block(c)
		c.Unit++
		copy(r.words[j:], words[:])
	}
}

func portableNormals(r *doubleRoom, n int) {
	for j := 0; j < n; j += 2 {
		radius := math.Sqrt(-2 * math.Log(float64(philox.Uniform(r.words[j]))))
		sin, cos := math.Sincos(2 * math.Pi * float64(philox.Uniform(r.words[j+1])))
		r.normals[j], r.normals[j+1] = radius*cos, radius*sin
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
	r := doubleRooms.Get().(*doubleRoom)
	defer doubleRooms.Put(r)
	for first := 0; first < len(states); first += atATime {
		n := min(atATime, len(states)-first)
		r.exps(outputs, first, n, units)
		for at, m := range runs(first, n, units) {
			mu, a := ofRun(outputs, first+at, m, units)
			for j, h := range states[first+at : first+at+m] {
				e := r.doubles[at+j]
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
	}
	return sum - math.Log(product)
}

// InformationGaussian replaces outputs by the diagonal of their Fisher information, times weight: 1/σ² for
// μ and 2ρ² for a, where ρ = eᵃ/σ. The entries off the diagonal are zero.
func InformationGaussian(outputs []float32, units int, floor, weight float64) {
	r := doubleRooms.Get().(*doubleRoom)
	defer doubleRooms.Put(r)
	for first := 0; first < len(outputs)/2; first += atATime {
		n := min(atATime, len(outputs)/2-first)
		r.exps(outputs, first, n, units)
		for at, m := range runs(first, n, units) {
			mu, a := ofRun(outputs, first+at, m, units)
			for j, e := range r.doubles[at : at+m] {
				sigma := e + floor
				mu[j] = float32(weight / (sigma * sigma))
				a[j] = float32(weight * 2 * e * e / (sigma * sigma))
			}
		}
	}
}

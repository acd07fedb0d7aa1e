package energies

import "math"

// exponentials replaces each x by e^(x−from), rounded from double precision as math.Exp would round it. It computes
// a power of 2^(1/64) times a series, with a relative error below 2⁻⁴², and calls math.Exp only if this error could change
// the rounding, or if the result may not be normal.
func exponentials(x, from []float32) {
	const tolerance = 1 << 11 // a relative error above 2⁻⁴², in units of the last bit of double precision
	from = from[:len(x)]
	for i, v := range x {
		t := float64(v - from[i])
		if t == 0 {
			x[i] = 1
			continue
		}
		if !(t > -80 && t < 80) {
			x[i] = float32(math.Exp(t))
			continue
		}
		const toInteger = 3 << 51 // adding it leaves the nearest integer in the lowest bits
		shifted := t*(64*math.Log2E) + toInteger
		n := int64(math.Float64bits(shifted)<<13) >> 13
		r := t - (shifted-toInteger)*(math.Ln2/64)
		power := math.Float64frombits(powers[n&63] + uint64(n>>6)<<52)
		e := power + power*(r*(1+r*(0.5+r*(1.0/6+r*(1.0/24)))))
		const half = 1 << 28 // of the last bit of single precision
		if rest := math.Float64bits(e) & (2*half - 1); rest-(half-tolerance) < 2*tolerance {
			e = math.Exp(t)
		}
		x[i] = float32(e)
	}
}

// powers holds the bits of 2^(j/64).
var powers = func() (bits [64]uint64) {
	for j := range bits {
		bits[j] = math.Float64bits(math.Exp2(float64(j) / 64))
	}
	return bits
}()

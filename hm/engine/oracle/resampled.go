package oracle

import "math"

// Resampled returns the probability that importance resampling picks each of some values. It draws
// K candidates with the probabilities r of the proposal, and picks one of them in proportion to its
// weight w.
//
// By symmetry value a is picked with probability K r(a) E[w(a)/(w(a) + S)], where S is the sum of
// the weights of K−1 candidates. With 1/s = ∫ e^(−ts) dt over t > 0 and φ(t) = E[e^(−tw)], this is
// K r(a) w(a) ∫ e^(−t w(a)) φ(t)^(K−1) dt: one integral instead of a sum over all K-tuples. K = 1
// gives r; as K → ∞, it tends to the normalised target r·w.
func Resampled(r, w []float64, candidates int) []float64 {
	picked := make([]float64, len(r))
	if candidates == 1 {
		copy(picked, r)
		return picked
	}
	k, mean := float64(candidates), 0.0
	for a := range r {
		mean += r[a] * w[a]
	}
	decay := make([]float64, len(r))
	// t = eᵘ⁻ᵉ⁻ᵘ makes the integrand fall off so fast at both ends that the sum over equidistant u
	// converges exponentially.
	const step = 0.1
	for u := -4.0; u < 16; u += step {
		s := math.Exp(u - math.Exp(-u))
		t := s / (k * mean)
		phi := 0.0
		for a := range r {
			decay[a] = math.Exp(-t * w[a])
			phi += r[a] * decay[a]
		}
		dt := t * (1 + math.Exp(-u)) * step
		scale := k * math.Pow(phi, k-1) * dt
		for a := range r {
			picked[a] += scale * r[a] * w[a] * decay[a]
		}
	}
	return picked
}

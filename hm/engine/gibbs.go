package engine

// Gibbs says how Markov chains on p*(x,h) ∝ √(p̃*(x) p(x,h) q(h|x)) go (BiHM thesis 2016,
// Algorithm 2). A sweep draws the odd hidden layers, the even ones and x, each
// from p* given all the others, by importance resampling: K candidates come
// from a proposal r, and one of them is picked in proportion to its weight ω.
//
//	hˡ   r = ½p(hˡ|hˡ⁺¹) + ½q(hˡ|hˡ⁻¹), one coin for the whole layer
//	     ω = √(p(hˡ|hˡ⁺¹) p(hˡ⁻¹|hˡ) q(hˡ|hˡ⁻¹) q(hˡ⁺¹|hˡ)) / r, without the last factor at the top
//	x    r = p(x|h¹),  ω = √(p̃*(x) q(h¹|x) / p(x|h¹))
//
// where √p̃*(x) is estimated by the mean of √(p(x,h)/q(h|x)) over samples
// h ~ q(h|x). The estimate has no bias, so that the picks tend to p* as K grows
// whatever the number of those samples; at finite K the chains settle at a
// distribution whose total variation from p* falls as 1/K.
type Gibbs struct {
	Sweeps     int
	Candidates int // K
	Inner      int // samples h ~ q(h|x) for the estimate of √p̃*(x)
	// Retain makes the state before the first of the K candidates, with the
	// estimate of √p̃*(x) that it was picked with, and leaves K−1 to draw. That
	// makes p* itself the stationary distribution whatever K ≥ 2 and Inner are
	// (iterated sampling importance resampling, pseudo-marginal in x), at the
	// price of chains that move less.
	Retain bool
}

package engine

// Gibbs sets how Markov chains on p*(x,h) ∝ √(p̃*(x) p(x,h) q(h|x)) move (BiHM thesis 2016,
// Algorithm 2). A sweep draws the odd hidden layers, the even ones and x, each from p* given all
// others, by importance resampling: K candidates come from a proposal r, and one of them is picked
// in proportion to its weight ω.
//
//	hˡ   r = ½p(hˡ|hˡ⁺¹) + ½q(hˡ|hˡ⁻¹), one coin for the whole layer
//	     ω = √(p(hˡ|hˡ⁺¹) p(hˡ⁻¹|hˡ) q(hˡ|hˡ⁻¹) q(hˡ⁺¹|hˡ)) / r, without the last factor at the top
//	x    r = p(x|h¹),  ω = √(p̃*(x) q(h¹|x) / p(x|h¹))
//
// where √p̃*(x) is estimated by the mean of √(p(x,h)/q(h|x)) over samples h ~ q(h|x). The estimate
// is unbiased, so the picks tend to p* as K grows, however few these samples are. At finite K, the
// chains converge to a distribution whose total variation distance from p* falls as 1/K.
type Gibbs struct {
	Sweeps     int
	Candidates int // K
	Inner      int // samples h ~ q(h|x) for the estimate of √p̃*(x)
	// Retain makes the previous state, with the estimate of √p̃*(x) that it was picked with, the
	// first of the K candidates, and draws K−1 others. Then p* itself is the stationary
	// distribution for any K ≥ 2 and any Inner (iterated sampling importance resampling,
	// pseudo-marginal in x), but the chains move less.
	Retain bool
}

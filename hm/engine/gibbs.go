package engine

// Gibbs sets how Markov chains on p*(x,h) ∝ √(p̃*(x) p(x,h) q(h|x)) move (BiHM thesis 2016,
// Algorithm 2). A sweep draws first the odd hidden layers, then the even ones, then x. It draws
// each layer from p* given all other layers, by importance resampling: it draws K candidates from a
// proposal r and picks one of them with a probability proportional to its weight ω.
//
//	hˡ   r = ½p(hˡ|hˡ⁺¹) + ½q(hˡ|hˡ⁻¹), one coin for the whole layer
//	     ω = √(p(hˡ|hˡ⁺¹) p(hˡ⁻¹|hˡ) q(hˡ|hˡ⁻¹) q(hˡ⁺¹|hˡ)) / r, without the last factor at the top
//	x    r = p(x|h¹),  ω = √(p̃*(x) q(h¹|x) / p(x|h¹))
//
// where √p̃*(x) is estimated by the mean of √(p(x,h)/q(h|x)) over samples h ~ q(h|x). The estimate
// is unbiased, so the distribution of the picks tends to p* as K grows, even with a single sample
// h. At finite K, the chains converge to a distribution whose total variation distance from p*
// falls as 1/K.
type Gibbs struct {
	Sweeps     int
	Candidates int // K
	Inner      int // samples h ~ q(h|x) for the estimate of √p̃*(x)
	// Retain makes the previous state the first of the K candidates, and draws only K−1 new ones.
	// The previous x keeps the estimate of √p̃*(x) with which it was picked. Then p* itself is the
	// stationary distribution for any K ≥ 2 and any Inner (iterated sampling importance resampling,
	// pseudo-marginal in x), but the chains move less.
	Retain bool
}

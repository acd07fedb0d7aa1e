package oracle

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// Weighting is the exponent r of the importance weights ω = (p(x,h)/q(h|x))ʳ.
type Weighting float64

const (
	Uniform    Weighting = 0   // wake-sleep: ω = 1
	SquareRoot Weighting = 0.5 // BiHM (2.37): ω = √(p/q)
	Ratio      Weighting = 1   // reweighted wake-sleep (2.28): ω = p/q
)

// logTargets returns log (q·ω), up to a constant, for all h: the distribution that weighted samples
// from q(h|x) tend to. It is q(h|x) for Uniform, the posterior p(h|x) for Ratio, and π(h|x) ∝
// √(p(x,h) q(h|x)) as in (2.35) for SquareRoot.
func (e Explanation) logTargets(w Weighting) []float64 {
	return lists.N(len(e.states), func(i int) float64 { return e.logWeights[i] + e.logQ[i] + float64(w)*(e.logP[i]-e.logQ[i]) })
}

// weights returns the self-normalised weights ω̃ of samples, which sum to one.
func (w Weighting) weights(logP, logQ []float64) []float64 {
	logω := floats.SubTo(make([]float64, len(logP)), logP, logQ)
	floats.Scale(float64(w), logω)
	return normalize(logω)
}

// ImportanceWeights returns the self-normalised weights ω̃ of the samples of one datum, which sum
// to one.
func (n *Networks) ImportanceWeights(samples []Values, w Weighting) []float64 {
	return w.weights(n.logs(samples))
}

// EffectiveSampleSize returns the limit, as K grows, of the effective sample size (Σω)²/Σω² of K
// samples h ~ q(h|x) as a fraction of K: (E_q ω)²/E_q ω².
func (e Explanation) EffectiveSampleSize(w Weighting) float64 {
	first := floats.LogSumExp(e.logTargets(w))
	second := floats.LogSumExp(e.logTargets(2 * w))
	return math.Exp(2*first - second)
}

package oracle

import (
	"iter"
	"math"
)

// Distribution yields states with their probabilities. Exact and sampled distributions use the same code for
// sums.
type Distribution = iter.Seq2[Values, float64]

// Model returns p(x,h), the distribution of dreams.
func (n *Networks) Model() Distribution {
	return func(yield func(Values, float64) bool) {
		for v, logWeight := range n.states(0, n.Architecture.Depth()) {
			if !yield(v, math.Exp(logWeight+n.LogJointOf(v))) {
				return
			}
		}
	}
}

// Wake returns the limit of weighted wake samples of the rows of data as S → ∞: p_D(x) q(h|x) for
// Uniform, p_D(x) p(h|x) for Ratio and p_D(x) π(h|x) for SquareRoot.
func (n *Networks) Wake(data [][]float64, w Weighting) Distribution {
	return func(yield func(Values, float64) bool) {
		for _, x := range data {
			e := n.Explain(x)
			target := normalize(e.logTargets(w))
			for i, v := range e.states {
				if !yield(v, target[i]/float64(len(data))) {
					return
				}
			}
		}
	}
}

// Draws holds the draws of one training step.
type Draws struct {
	Wake   [][]Values // B×S: Wake[b] holds the samples h ~ q(h|x) of datum b
	Dreams []Values   // x, h ~ p(x,h)
}

// WakeMeasure assigns the self-normalised importance weights, divided by B, to the wake samples.
func (n *Networks) WakeMeasure(samples Draws, w Weighting) Distribution {
	return func(yield func(Values, float64) bool) {
		for _, datum := range samples.Wake {
			weights := n.ImportanceWeights(datum, w)
			for i, v := range datum {
				if !yield(v, weights[i]/float64(len(samples.Wake))) {
					return
				}
			}
		}
	}
}

// LegacyMeasure assigns the importance weights of the wake samples, divided by B·S, to the dreams,
// one weight each. The measure sums to 1/S.
func (n *Networks) LegacyMeasure(samples Draws, w Weighting) Distribution {
	return func(yield func(Values, float64) bool) {
		dreams := samples.Dreams
		for _, datum := range samples.Wake {
			for i, weight := range n.ImportanceWeights(datum, w) {
				if !yield(dreams[i], weight/float64(len(samples.Dreams))) {
					return
				}
			}
			dreams = dreams[len(datum):]
		}
	}
}

// Equal assigns equal weights to draws.
func Equal[S any](draws []S) iter.Seq2[S, float64] {
	return func(yield func(S, float64) bool) {
		for _, s := range draws {
			if !yield(s, 1/float64(len(draws))) {
				return
			}
		}
	}
}

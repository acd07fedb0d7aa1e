package oracle

import (
	"fmt"
	"iter"
	"math"
)

// Measure is a distribution over states: it yields states with their probabilities. Exact and
// sampled measures use the same code for sums.
type Measure = iter.Seq2[State, float64]

// Point returns the distribution that is concentrated on a state.
func Point(s State) Measure { return func(yield func(State, float64) bool) { yield(s, 1) } }

// Model returns p(x,h), the distribution of dreams.
func (m *Machine) Model() Measure {
	return func(yield func(State, float64) bool) {
		for s := range m.states(0, m.Architecture.Depth()) {
			if !yield(s, math.Exp(m.LogJoint(s))) {
				return
			}
		}
	}
}

// Wake returns the limit of weighted wake samples of the rows of data as S → ∞: p_D(x) q(h|x) for
// Uniform, p_D(x) p(h|x) for Ratio and p_D(x) π(h|x) for SquareRoot.
func (m *Machine) Wake(data [][]bool, w Weighting) Measure {
	return func(yield func(State, float64) bool) {
		for _, x := range data {
			e := m.explain(x)
			target := normalize(e.logTargets(w))
			for i, s := range e.states {
				if !yield(s, target[i]/float64(len(data))) {
					return
				}
			}
		}
	}
}

// Samples holds the draws of one training step.
type Samples struct {
	Wake   [][]State // B×S: Wake[b] holds the samples h ~ q(h|x) of datum b
	Dreams []State   // x, h ~ p(x,h)
}

// WakeMeasure assigns the self-normalised importance weights, divided by B, to the wake samples.
func (n *Networks) WakeMeasure(samples Samples, w Weighting) Measure {
	return func(yield func(State, float64) bool) {
		for _, datum := range samples.Wake {
			weights := n.ImportanceWeights(datum, w)
			for i, s := range datum {
				if !yield(s, weights[i]/float64(len(samples.Wake))) {
					return
				}
			}
		}
	}
}

// LegacyMeasure assigns the importance weights of the wake samples, divided by B·S, to the dreams,
// one weight each. The measure sums to 1/S.
func (n *Networks) LegacyMeasure(samples Samples, w Weighting) Measure {
	return func(yield func(State, float64) bool) {
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

// DreamMeasure assigns equal weights to the dreams.
func DreamMeasure(samples Samples) Measure {
	return func(yield func(State, float64) bool) {
		for _, s := range samples.Dreams {
			if !yield(s, 1/float64(len(samples.Dreams))) {
				return
			}
		}
	}
}

// valuesIn yields the states of a measure as numbers.
func (n *Networks) valuesIn(m Measure) iter.Seq2[Values, float64] {
	return func(yield func(Values, float64) bool) {
		for s, weight := range m {
			if !yield(n.valuesOf(s), weight) {
				return
			}
		}
	}
}

// TotalVariation returns half the sum of the absolute differences of two distributions.
func TotalVariation(a, b Measure) float64 {
	difference := map[string]float64{}
	for s, probability := range a {
		difference[fmt.Sprint(s)] += probability
	}
	for s, probability := range b {
		difference[fmt.Sprint(s)] -= probability
	}
	sum := 0.0
	for _, d := range difference {
		sum += math.Abs(d) / 2
	}
	return sum
}

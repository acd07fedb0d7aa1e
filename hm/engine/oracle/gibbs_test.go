package oracle

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// p* sums to one, and its marginal is p*(x).
func TestBidirectionalHasItsMarginal(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		marginal, total := map[string]float64{}, 0.0
		for s, probability := range m.Bidirectional() {
			marginal[fmt.Sprint(s[0])] += probability
			total += probability
		}
		wantClose(t, "Σ p*(x,h)", total, 1, 1e-12)
		for v := range m.states(0, 0) {
			x := v[0]
			wantClose(t, "p*(x)", marginal[fmt.Sprint(x)], math.Exp(m.Explain(x).LogPTildeStar()-m.LogZ2()), 1e-12)
		}
	})
}

// TestBidirectionalIsTheGeometricMean checks the square of the definition, p*(x,h)² = p(x,h) p*(x)
// q(h|x)/Z².
func TestBidirectionalIsTheGeometricMean(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, _ [][]float64) {
		logZ2 := m.LogZ2()
		for s, probability := range m.Bidirectional() {
			logPStar := m.Explain(s[0]).LogPTildeStar() - logZ2
			want := (m.LogJointOf(s) + logPStar + m.LogRecognitionOf(s) - logZ2) / 2
			wantClose(t, "log p*(x,h)", math.Log(probability), want, 1e-12)
		}
	})
}

// Given some units, p* must be p* renormalised over the states that agree with them.
func TestBidirectionalGiven(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		x, known := data[0], make([]bool, len(data[0]))
		known[0], known[2] = true, true
		joint, total := map[string]float64{}, 0.0
		for s, probability := range m.Bidirectional() {
			if s[0][0] == x[0] && s[0][2] == x[2] {
				joint[fmt.Sprint(s)] = probability
				total += probability
			}
		}
		states := 0
		for s, probability := range m.BidirectionalGiven(x, known) {
			wantClose(t, "p*(x,h|known)", probability, joint[fmt.Sprint(s)]/total, 1e-12)
			states++
		}
		if states != len(joint) {
			t.Errorf("%d states agree with what is known, want %d", states, len(joint))
		}
	})
}

// The integral must equal the sum over all tuples of candidates.
func TestResampledIsTheSumOverTuples(t *testing.T) {
	r := []float64{0.1, 0.2, 0.3, 0.4}
	w := []float64{5, 0.01, 1, 2.5}
	for k := 1; k <= 5; k++ {
		want := make([]float64, len(r))
		var tuples func(picks []int, probability, sum float64)
		tuples = func(picks []int, probability, sum float64) {
			if len(picks) == k {
				for _, a := range picks {
					want[a] += probability * w[a] / sum
				}
				return
			}
			for a := range r {
				tuples(append(picks[:len(picks):len(picks)], a), probability*r[a], sum+w[a])
			}
		}
		tuples(nil, 1, 0)
		wantAllClose(t, fmt.Sprintf("probabilities of K = %d", k), Resampled(r, w, k), want, 1e-9)
	}
}

// With few candidates, sweeps settle at another distribution than p*. Their total variation
// distance must fall as 1/K, even if √p̃*(x) is estimated from a single sample, because that
// estimate is unbiased.
func TestGibbsTendsToBidirectional(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(engine.Architecture{Units: []int{3, 2, 2}, Coding: coding}, 1)
		x := m.row(255, 0, 255)[0]
		for _, known := range [][]bool{nil, {true, false, false}} {
			previous := 0.0
			for _, k := range []int{16, 64, 256} {
				g := Gibbs{Networks: m, Candidates: k, Inner: 1, Known: known}
				settled := g.After(m.BidirectionalGiven(x, known), 15)
				distance := totalVariation(settled, m.BidirectionalGiven(x, known))
				t.Logf("%v, %d known, K = %d: total variation %.5f", coding, len(known), k, distance)
				if wantClose(t, "probability", total(settled), 1, 1e-8); previous > 0 && !(distance < 0.3*previous && distance > 0.2*previous) {
					t.Errorf("total variation %g of %d candidates after %g of a quarter as many: want about a quarter", distance, k, previous)
				}
				previous = distance
			}
		}
	}
}

func total(m Distribution) (sum float64) {
	for _, probability := range m {
		sum += probability
	}
	return sum
}

// totalVariation returns half the sum of the absolute differences of two distributions.
func totalVariation(a, b Distribution) float64 {
	difference := map[string]float64{}
	for v, probability := range a {
		difference[v.Key()] += probability
	}
	for v, probability := range b {
		difference[v.Key()] -= probability
	}
	sum := 0.0
	for _, d := range difference {
		sum += math.Abs(d) / 2
	}
	return sum
}

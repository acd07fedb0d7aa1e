package oracle

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

var partition = []float64{0, 0.05, 0.3, 0.7}

func estimators() map[string]engine.Algorithm {
	by := func(e *engine.Estimator) engine.Algorithm {
		return engine.Algorithm{Rule: engine.Rule{Exponent: 1, QWake: 1, Estimator: e}}
	}
	return map[string]engine.Algorithm{
		"VIMCO": by(VIMCO(false)), "VIMCO with arithmetic means": by(VIMCO(true)),
		"OVIS, γ = 0": by(OVIS(0)), "OVIS, γ = 1": by(OVIS(1)), "TVO": by(TVO(partition)),
	}
}

// expectedBound returns the mean of log (1/S) Σ ω over all tuples of S samples of each row, and
// over the rows, in nats.
func (m *Networks) expectedBound(data [][]float64, samples int) float64 {
	sum := 0.0
	for _, x := range data {
		e := m.Explain(x)
		for tuple := range tuples(len(e.states), samples) {
			logω, logProbability := make([]float64, samples), 0.0
			for s, i := range tuple {
				logω[s] = e.logP[i] - e.logQ[i]
				logProbability += e.logQ[i]
			}
			sum += math.Exp(logProbability) * bound(logω)
		}
	}
	return sum / float64(len(data))
}

// thermodynamic returns the mean over rows of Σ (β_{i+1} − β_i) E_i[log ω], where E_i is the mean
// under π_i ∝ p(x,h)^β q(h|x)^(1−β).
func (m *Networks) thermodynamic(data [][]float64, partition []float64) float64 {
	sum := 0.0
	for _, x := range data {
		e := m.Explain(x)
		logω := floats.SubTo(make([]float64, len(e.states)), e.logP, e.logQ)
		for i, width := range widths(partition) {
			sum += width * floats.Dot(normalize(e.logTargets(Weighting(partition[i]))), logω)
		}
	}
	return sum / float64(len(data))
}

// VIMCO, and OVIS with γ = 0, have control variates that do not depend on the sample: their mean
// over all tuples must be the gradient of the bound with as many samples.
func TestEstimatorsOfTheBoundAreUnbiased(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(engine.Architecture{Units: []int{3, 2}, Coding: coding}, 1)
		data := m.row(255, 0, 255, 0, 0, 255)
		for _, name := range []string{"VIMCO", "VIMCO with arithmetic means", "OVIS, γ = 0"} {
			for _, samples := range []int{2, 3} {
				want := slope(m, 0, len(m.Flat), func() float64 { return m.expectedBound(data, samples) })
				wantAllClose(t, name, m.Expected(data, samples, 0, estimators()[name]).Mean, want, 1e-8)
			}
		}
	}
}

// TVO must tend to the gradient of its objective in both networks, and OVIS with γ = 1 to the wake
// and the q-wake gradient: the bias must fall by at least 30 % with every doubling of S.
func TestBiasedEstimatorsTendToTheirLimits(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(engine.Architecture{Units: []int{3, 2}, Coding: coding}, 1)
		data := m.row(255, 0, 255)
		for name, limit := range map[string][]float64{
			"TVO":         slope(m, 0, len(m.Flat), func() float64 { return m.thermodynamic(data, partition) }),
			"OVIS, γ = 1": m.Limit(data, engine.Algorithm{Rule: engine.Rule{Exponent: 1, QWake: 1}}),
		} {
			bias := func(samples int) float64 {
				return floats.Distance(m.Expected(data, samples, 0, estimators()[name]).Mean, limit, 2)
			}
			if b2, b4, b8 := bias(2), bias(4), bias(8); !(b8 <= 0.7*b4 && b4 <= 0.7*b2) {
				t.Errorf("%s, %v: bias %g, %g, %g at 2, 4, 8 samples", name, coding, b2, b4, b8)
			}
		}
	}
}

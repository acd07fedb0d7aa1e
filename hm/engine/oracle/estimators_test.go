package oracle

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

var partition = []float64{0, 0.05, 0.3, 0.7}

func estimators() map[string]Rule {
	by := func(weigh Weigh) Rule { return Rule{Weighting: Ratio, QWake: 1, Weigh: weigh} }
	return map[string]Rule{
		"VIMCO": by(VIMCO(false)), "VIMCO with arithmetic means": by(VIMCO(true)),
		"OVIS, γ = 0": by(OVIS(0)), "OVIS, γ = 1": by(OVIS(1)), "TVO": by(TVO(partition)),
	}
}

// VIMCO, and OVIS with γ = 0, have control variates that do not depend on the sample: their mean
// over all tuples must be the gradient of the bound with as many samples.
func TestEstimatorsOfTheBoundAreUnbiased(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(t, engine.Architecture{Units: []int{3, 2}, Coding: coding}, 1)
		data := [][]bool{{true, false, true}, {false, false, true}}
		for _, name := range []string{"VIMCO", "VIMCO with arithmetic means", "OVIS, γ = 0"} {
			for _, samples := range []int{2, 3} {
				want := slope(m, 0, len(m.Flat), func() float64 { return m.ExpectedBound(data, samples) })
				wantAllClose(t, name, m.Expected(data, samples, 0, estimators()[name]).Mean, want, 1e-8)
			}
		}
	}
}

// TVO must tend to the gradient of its objective in both networks, and OVIS with γ = 1 to the wake
// and the q-wake gradient: the bias must fall by at least 30 % with every doubling of S.
func TestBiasedEstimatorsTendToTheirLimits(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(t, engine.Architecture{Units: []int{3, 2}, Coding: coding}, 1)
		data := [][]bool{{true, false, true}}
		for name, limit := range map[string][]float64{
			"TVO":         slope(m, 0, len(m.Flat), func() float64 { return m.Thermodynamic(data, partition) }),
			"OVIS, γ = 1": m.Limit(data, Rule{Weighting: Ratio, QWake: 1}),
		} {
			bias := func(samples int) float64 {
				return distance(m.Expected(data, samples, 0, estimators()[name]).Mean, limit)
			}
			if b2, b4, b8 := bias(2), bias(4), bias(8); !(b8 <= 0.7*b4 && b4 <= 0.7*b2) {
				t.Errorf("%s, %v: bias %g, %g, %g at 2, 4, 8 samples", name, coding, b2, b4, b8)
			}
		}
	}
}

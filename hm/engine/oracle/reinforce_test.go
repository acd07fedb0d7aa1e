package oracle

import (
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// reinforcements returns the rules of REINFORCE with each baseline.
func reinforcements() map[string]engine.Algorithm {
	return map[string]engine.Algorithm{
		"REINFORCE without baseline":         {Rule: engine.Reinforce, ReinforceBaseline: engine.NoBaseline},
		"REINFORCE with a constant baseline": {Rule: engine.Reinforce, ReinforceBaseline: engine.ConstantBaseline},
		"REINFORCE with optimal baselines":   {Rule: engine.Reinforce, ReinforceBaseline: engine.OptimalBaseline},
	}
}

// The mean must be the gradient of the bound for every number of samples and every baseline.
func TestReinforceIsUnbiased(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		theta := m.Architecture.GenerativeSize()
		for name, r := range reinforcements() {
			for samples := 1; samples <= 3; samples++ {
				mean := m.Expected(data[:1], samples, 0, r).Mean
				wantAllClose(t, name+", φ", mean[theta:], m.BoundScore(data[:1])[theta:], 1e-12)
				wantAllClose(t, name+", θ", mean[:theta], m.Score(m.Wake(data[:1], Uniform))[:theta], 1e-12)
			}
		}
	})
}

// A single sample has no others from which to compute a baseline.
func TestReinforceOfOneSampleHasNoBaseline(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		samples := draw(m, data[:2], 1, 0, 6)
		want := m.GradientOn(samples, reinforcements()["REINFORCE without baseline"])
		for name, r := range reinforcements() {
			wantAllClose(t, name, m.GradientOn(samples, r), want, 1e-12)
		}
	})
}

// Both baselines must lower the variance of each machine's gradient, summed over the parameters of
// q and exact over all tuples of four samples. The optimal baselines are not better, because they
// are estimated from so few samples.
func TestBaselinesLowerTheVariance(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		for seed := range uint64(4) {
			m := randomMachine(engine.Architecture{Units: []int{4, 2, 1}, Coding: coding}, seed)
			variance := func(r engine.ReinforceBaseline) float64 {
				e := m.Expected(m.row(255, 0, 255, 255), 4, 0, engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: r})
				return floats.Sum(e.Variance[m.Architecture.GenerativeSize():])
			}
			without := variance(engine.NoBaseline)
			for name, r := range map[string]engine.ReinforceBaseline{"constant": engine.ConstantBaseline, "optimal": engine.OptimalBaseline} {
				if with := variance(r); !(with < without) {
					t.Errorf("%v, seed %d: variance %g with %s baselines, %g without", coding, seed, with, name, without)
				}
			}
		}
	}
}

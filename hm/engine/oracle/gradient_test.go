package oracle

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// slope returns the central finite differences of an objective by the parameters from first to
// last.
func slope(m *Networks, first, last int, objective func() float64) []float64 {
	const step = 1e-5
	gradient := make([]float64, last-first)
	for k := range gradient {
		value := m.Flat[first+k]
		m.Flat[first+k] = value + step
		up := objective()
		m.Flat[first+k] = value - step
		down := objective()
		m.Flat[first+k] = value
		gradient[k] = (up - down) / (2 * step)
	}
	return gradient
}

func mean(data [][]float64, f func(x []float64) float64) float64 {
	sum := 0.0
	for _, x := range data {
		sum += f(x)
	}
	return sum / float64(len(data))
}

// TestScoresAreGradientsOfTheirObjectives compares each row of the table in the comment of Score
// with finite differences of its objective, all written here again as sums over states.
func TestScoresAreGradientsOfTheirObjectives(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		theta, end := m.Architecture.GenerativeSize(), len(m.Flat)
		const tolerance = 1e-8

		logP := func() float64 { return mean(data, func(x []float64) float64 { return m.Explain(x).LogP() }) }
		wantAllClose(t, "∂ log p/∂θ", m.Score(m.Wake(data, Ratio))[:theta], slope(m, 0, theta, logP), tolerance)

		divergence := func(x []float64) float64 { // KL(p(h|x)‖q(h|x))
			sum := 0.0
			for _, s := range m.Explain(x).states {
				logPosterior := m.LogJointOf(s) - m.Explain(x).LogP()
				sum += math.Exp(logPosterior) * (logPosterior - m.LogRecognitionOf(s))
			}
			return sum
		}
		closeness := func() float64 { return -mean(data, divergence) }
		wantAllClose(t, "−∂KL/∂φ", m.Score(m.Wake(data, Ratio))[theta:], slope(m, theta, end, closeness), tolerance)

		logPTildeStar := func() float64 { return mean(data, func(x []float64) float64 { return m.Explain(x).LogPTildeStar() }) }
		wantAllClose(t, "∂ log p̃*", m.Score(m.Wake(data, SquareRoot)), slope(m, 0, end, logPTildeStar), tolerance)

		bound := func() float64 { return mean(data, func(x []float64) float64 { return m.Explain(x).Bound() }) }
		wantAllClose(t, "∂ bound/∂θ", m.Score(m.Wake(data, Uniform))[:theta], slope(m, 0, theta, bound), tolerance)

		wantAllClose(t, "∂ bound/∂φ", m.BoundScore(data)[theta:], slope(m, theta, end, bound), tolerance)

		dreamed := func() float64 { // E_p[log q(h|x)]
			sum := 0.0
			for s := range m.states(0, m.Architecture.Depth()) {
				sum += math.Exp(m.LogJointOf(s)) * m.LogRecognitionOf(s)
			}
			return sum
		}
		wantAllClose(t, "∂E_p[log q]/∂φ", m.Score(m.Model())[theta:], slope(m, theta, end, dreamed), tolerance)
	})
}

func TestScoresHaveMeanZeroUnderTheirOwnDistribution(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		theta := m.Architecture.GenerativeSize()
		zero := make([]float64, len(m.Flat))
		wantAllClose(t, "E_p[∂ log p]", m.Score(m.Model())[:theta], zero[:theta], 1e-12)
		wantAllClose(t, "E_q[∂ log q]", m.Score(m.Wake(data, Uniform))[theta:], zero[theta:], 1e-12)
	})
}

// The gradient on two data, with two samples each, is written out by hand.
func TestGradientOnSamplesIsTheWeightedSumOfTheirScores(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		samples := draw(m, data[:2], 2, 3, 6)
		for name, r := range rules() {
			want := make([]float64, len(m.Flat))
			for _, datum := range samples.Wake {
				first := math.Exp(r.Exponent * (m.LogJointOf(datum[0]) - m.LogRecognitionOf(datum[0])))
				second := math.Exp(r.Exponent * (m.LogJointOf(datum[1]) - m.LogRecognitionOf(datum[1])))
				for i, weight := range []float64{first / (first + second), second / (first + second)} {
					m.addScore(want, m.Generative, datum[i], weight/2)
					if r.Baseline {
						weight -= 0.5
					}
					m.addScore(want, m.Recognition, datum[i], r.QWake*weight/2)
				}
			}
			for _, dream := range samples.Dreams {
				m.addScore(want, m.Recognition, dream, r.Sleep/3)
			}
			wantAllClose(t, name, m.GradientOn(samples, r), want, 1e-12)
		}
	})
}

// rules returns the rules of the thesis, with and without the baseline.
func rules() map[string]engine.Algorithm {
	plainRWS, plainBiHM := ReweightedWakeSleep, Bidirectional
	plainRWS.Baseline, plainBiHM.Baseline = false, false
	return map[string]engine.Algorithm{
		"WS": WakeSleep, "RWS": ReweightedWakeSleep, "BiHM": Bidirectional,
		"RWS without baseline": plainRWS, "BiHM without baseline": plainBiHM,
	}
}

func TestARuleWithASleepPhaseNeedsDreams(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		defer func() {
			if recover() == nil {
				t.Error("wake-sleep without dreams is accepted")
			}
		}()
		m.GradientOn(draw(m, data, 1, 0, 1), WakeSleep)
	})
}

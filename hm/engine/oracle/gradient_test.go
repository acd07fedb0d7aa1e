package oracle

import (
	"math"
	"testing"
)

// slope returns the central finite differences of an objective by the parameters from first to
// last.
func slope(m *Machine, first, last int, objective func() float64) []float64 {
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

func mean(data [][]bool, f func(x []bool) float64) float64 {
	sum := 0.0
	for _, x := range data {
		sum += f(x)
	}
	return sum / float64(len(data))
}

// TestScoresAreGradientsOfTheirObjectives compares each row of the table in the comment of Score
// with finite differences of its objective, all written here again as sums over states.
func TestScoresAreGradientsOfTheirObjectives(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		theta, end := m.Architecture.GenerativeSize(), len(m.Flat)
		const tolerance = 1e-8

		logP := func() float64 { return mean(data, m.LogP) }
		wantAllClose(t, "∂ log p/∂θ", m.Score(m.Wake(data, Ratio))[:theta], slope(m, 0, theta, logP), tolerance)

		divergence := func(x []bool) float64 { // KL(p(h|x)‖q(h|x))
			sum := 0.0
			for s := range m.States(x) {
				logPosterior := m.LogJoint(s) - m.LogP(x)
				sum += math.Exp(logPosterior) * (logPosterior - m.LogRecognition(s))
			}
			return sum
		}
		closeness := func() float64 { return -mean(data, divergence) }
		wantAllClose(t, "−∂KL/∂φ", m.Score(m.Wake(data, Ratio))[theta:], slope(m, theta, end, closeness), tolerance)

		logPTildeStar := func() float64 { return mean(data, m.LogPTildeStar) }
		wantAllClose(t, "∂ log p̃*", m.Score(m.Wake(data, SquareRoot)), slope(m, 0, end, logPTildeStar), tolerance)

		bound := func() float64 { return mean(data, m.Bound) }
		wantAllClose(t, "∂ bound/∂θ", m.Score(m.Wake(data, Uniform))[:theta], slope(m, 0, theta, bound), tolerance)

		wantAllClose(t, "∂ bound/∂φ", m.BoundScore(data)[theta:], slope(m, theta, end, bound), tolerance)

		dreamed := func() float64 { // E_p[log q(h|x)]
			sum := 0.0
			for s := range m.states(0, m.Architecture.Depth()) {
				sum += math.Exp(m.LogJoint(s)) * m.LogRecognition(s)
			}
			return sum
		}
		wantAllClose(t, "∂E_p[log q]/∂φ", m.Score(m.Model())[theta:], slope(m, theta, end, dreamed), tolerance)
	})
}

func TestScoresHaveMeanZeroUnderTheirOwnDistribution(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		theta := m.Architecture.GenerativeSize()
		zero := make([]float64, len(m.Flat))
		wantAllClose(t, "E_p[∂ log p]", m.Score(m.Model())[:theta], zero[:theta], 1e-12)
		wantAllClose(t, "E_q[∂ log q]", m.Score(m.Wake(data, Uniform))[theta:], zero[theta:], 1e-12)
	})
}

// The gradient on two data, with two samples each, is written out by hand.
func TestGradientOnSamplesIsTheWeightedSumOfTheirScores(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		samples := draw(m.Networks, data[:2], 2, 3, 6)
		for name, r := range rules() {
			want := make([]float64, len(m.Flat))
			for _, datum := range samples.Wake {
				first := math.Exp(float64(r.Weighting) * (m.LogJoint(datum[0]) - m.LogRecognition(datum[0])))
				second := math.Exp(float64(r.Weighting) * (m.LogJoint(datum[1]) - m.LogRecognition(datum[1])))
				for i, weight := range []float64{first / (first + second), second / (first + second)} {
					m.addScore(want, m.Generative, m.valuesOf(datum[i]), weight/2)
					if r.Baseline {
						weight -= 0.5
					}
					m.addScore(want, m.Recognition, m.valuesOf(datum[i]), r.QWake*weight/2)
				}
			}
			for _, dream := range samples.Dreams {
				m.addScore(want, m.Recognition, m.valuesOf(dream), r.Sleep/3)
			}
			wantAllClose(t, name, m.GradientOn(samples, r), want, 1e-12)
		}
	})
}

// rules returns the rules of the thesis, with and without the baseline.
func rules() map[string]Rule {
	plainRWS, plainBiHM := ReweightedWakeSleep, Bidirectional
	plainRWS.Baseline, plainBiHM.Baseline = false, false
	return map[string]Rule{
		"WS": WakeSleep, "RWS": ReweightedWakeSleep, "BiHM": Bidirectional,
		"RWS without baseline": plainRWS, "BiHM without baseline": plainBiHM,
	}
}

func TestARuleWithASleepPhaseNeedsDreams(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		defer func() {
			if recover() == nil {
				t.Error("wake-sleep without dreams is accepted")
			}
		}()
		m.GradientOn(draw(m.Networks, data, 1, 0, 1), WakeSleep)
	})
}

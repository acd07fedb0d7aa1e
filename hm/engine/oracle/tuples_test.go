package oracle

import (
	"maps"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Expected is by definition the mean and variance of GradientOn over all possible draws of a step:
// here one datum, two samples and one dream.
func TestExpectedIsTheMeanOfGradientOn(t *testing.T) {
	m := randomMachine(engine.Architecture{Units: []int{3, 2, 1}, Coding: engine.PlusMinusOne}, 1)
	x := m.row(255, 0, 255)[0]
	all := rules()
	maps.Copy(all, reinforcements())
	maps.Copy(all, estimators())
	for name, r := range all {
		outcomes := func(yield func([]float64, float64) bool) {
			for first, p1 := range recognitionOf(m, x) {
				for second, p2 := range recognitionOf(m, x) {
					for dream, p3 := range m.Model() {
						drawn := Draws{Wake: [][]Values{{first, second}}, Dreams: []Values{dream}}
						if !yield(m.GradientOn(drawn, r), p1*p2*p3) {
							return
						}
					}
				}
			}
		}
		want, got := moments(outcomes), m.Expected([][]float64{x}, 2, 1, r)
		wantAllClose(t, name+" mean", got.Mean, want.Mean, 1e-12)
		wantAllClose(t, name+" variance", got.Variance, want.Variance, 1e-12)
	}
}

// Means over 4,000 steps on several data must lie within five standard errors, and their variances
// within 20 %.
func TestDrawnGradientsHaveTheExpectedMoments(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // slow; TestDrawsHaveTheirProbabilities covers draws of categorical units
		}
		const steps = 4000
		exact := m.Expected(data[:2], 2, 3, ReweightedWakeSleep)
		drawn := moments(func(yield func([]float64, float64) bool) {
			for step := range uint64(steps) {
				// moments iterates twice, and sees the same draws both times
				if !yield(m.GradientOn(draw(m, data[:2], 2, 3, step), ReweightedWakeSleep), 1.0/steps) {
					return
				}
			}
		})
		for k := range drawn.Mean {
			if !(math.Abs(drawn.Mean[k]-exact.Mean[k]) <= 5*math.Sqrt(exact.Variance[k]/steps)) {
				t.Errorf("mean of parameter %d is %g, want %g", k, drawn.Mean[k], exact.Mean[k])
			}
			wantClose(t, "variance ratio", drawn.Variance[k]/exact.Variance[k], 1, 0.1)
		}
	})
}

// The bias of self-normalised weights falls as 1/S. For a machine of four hidden states the tuples
// can be enumerated up to S = 7 in seconds.
func TestSelfNormalizedGradientsTendToTheirLimit(t *testing.T) {
	for _, coding := range []engine.Coding{engine.ZeroOne, engine.PlusMinusOne} {
		m := randomMachine(engine.Architecture{Units: []int{3, 2}, Coding: coding}, 1)
		data := m.row(255, 0, 255, 0, 0, 255)
		for name, r := range rules() {
			if r.Exponent == 0 {
				continue // unbiased, see below
			}
			limit := m.Limit(data, r)
			bias := func(samples int) float64 { return floats.Distance(m.Expected(data, samples, 1, r).Mean, limit, 2) }
			if b2, b4, b7 := bias(2), bias(4), bias(7); !(b7 <= 0.65*b4 && b4 <= 0.7*b2) {
				t.Errorf("%s, %v: bias %g, %g, %g at 2, 4, 7 samples", name, coding, b2, b4, b7)
			}
		}
	}
}

func TestSelfNormalizedGradientsComeNearerWithEverySample(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		for name, r := range rules() {
			limit := m.Limit(data[:1], r)
			var bias [4]float64
			for samples := 1; samples <= 3; samples++ {
				bias[samples] = floats.Distance(m.Expected(data[:1], samples, 1, r).Mean, limit, 2)
			}
			if r.Exponent == 0 {
				wantAllClose(t, name+" bias", bias[1:], []float64{0, 0, 0}, 1e-12)
			} else if bias[3] >= bias[2] || bias[2] >= bias[1] {
				t.Errorf("%s: bias %v at 1, 2, 3 samples", name, bias[1:])
			}
		}
	})
}

// A single sample has weight one for any ω: the wake phase is the one of wake-sleep (Várady 2025,
// after 2.29), and the q-wake phase is the score of q, of mean zero.
func TestOneSampleIsWakeSleep(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		theta := m.Architecture.GenerativeSize()
		zero := make([]float64, len(m.Flat)-theta)
		for name, r := range rules() {
			r.Sleep = 0
			one, wakeSleep := m.Expected(data, 1, 0, r), m.Limit(data, WakeSleep)
			wantAllClose(t, name+" wake phase", one.Mean[:theta], wakeSleep[:theta], 1e-12)
			wantAllClose(t, name+" q-wake phase", one.Mean[theta:], zero, 1e-12)
			if r.Baseline {
				wantAllClose(t, name+" q-wake variance with baseline", one.Variance[theta:], zero, 1e-12)
			}
		}
	})
}

// The baseline 1/S subtracts the mean score of q, which has mean zero at every S.
func TestBaselineDoesNotChangeTheMean(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		for samples := 1; samples <= 3; samples++ {
			for _, with := range []engine.Algorithm{ReweightedWakeSleep, Bidirectional} {
				without := with
				without.Baseline = false
				wantAllClose(t, "mean", m.Expected(data[:1], samples, 1, with).Mean, m.Expected(data[:1], samples, 1, without).Mean, 1e-12)
			}
		}
	})
}

func TestTooManyTuplesPanic(t *testing.T) {
	m := randomMachine(engine.Architecture{Units: []int{3, 2, 2}}, 1)
	defer func() {
		if recover() == nil {
			t.Error("16⁷ tuples are enumerated")
		}
	}()
	m.Expected(m.row(255, 255, 255), 7, 1, WakeSleep)
}

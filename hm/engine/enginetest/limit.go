package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// manySamples tests that with many samples the gradient, the Fisher blocks and the natural gradient
// are near their values under the measures that the samples tend to:
//
//	wake, p       p_D(x) q(h|x) for WS, p_D(x) p(h|x) for RWS, p_D(x) π(h|x) for BiHM
//	sleep, p      p(x,h)
//	legacy, p     p(x,h), divided by S
//	q             p_D(x) q(h|x)
func manySamples(t *testing.T, e engine.Engine) {
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		if a.Baseline {
			return // it changes the variance but no limit
		}
		everyCoding(t, func(t *testing.T, p *engine.Parameters) {
			a.BatchSize, a.Samples = 1, 6000
			m, data := exact(t, p), randomRows(1, p.Architecture.Visible())
			x := bits(data)[0]
			g := gradients(t, newTrainer(t, e, job(a, data), engine.NewState(a, p)))
			samples := oracleSamples(g, a.Samples)
			wake, uniform := weighted(m, x, rule(a).Weighting, a.Samples), weighted(m, x, oracle.Uniform, a.Samples)
			dreams := unweighted(m, g.Dreams.Rows)

			limit := m.Limit([][]bool{x}, rule(a))
			wantMean(t, "plain gradient", doubles(g.Plain.Flat), limit, gradientVariance(m, rule(a), wake, dreams, limit))
			if a.Metric == engine.Euclidean {
				return
			}
			measure, limitOfSource := sourceOf(a, m.Networks, samples), wake
			switch a.FisherSource {
			case engine.FromSleep:
				limitOfSource = dreams
			case engine.FromLegacy:
				squares := 0.0
				for _, w := range m.ImportanceWeights(samples.Wake[0], rule(a).Weighting) {
					squares += w * w
				}
				measure, limitOfSource = scaled(measure, float64(a.Samples)), unweighted(m, int(1/squares))
			}
			wantBlocks(t, "blocks of p", m, m.Generative, measure, limitOfSource)
			wantBlocks(t, "blocks of q", m, m.Recognition, m.WakeMeasure(samples, oracle.Uniform), uniform)
			exactSource := limitOfSource.measure
			if a.FisherSource == engine.FromLegacy {
				exactSource = scaled(exactSource, 1/float64(a.Samples))
			}

			// The blocks of 6,000 samples are within a few hundredths of the exact ones; blocks of
			// another measure are 0.06 to 0.25 off.
			wantGradient(t, "natural gradient in the limit", g.Natural, natural(t, a, g.Plain, metricBlocks(a, m.Networks, exactSource, uniform.measure)), 0.03)
		}, []int{3, 2, 2}, []int{4, 3, 2})
	})
}

// target is the measure that weighted samples tend to. One sample contributes the variance
// E[ω̄²(f−Ef)²] to their self-normalised mean of a function f, under the distribution that the
// samples are drawn from and with weights ω̄ of mean one.
type target struct {
	measure oracle.Measure
	weight  func(s oracle.State, probability float64) float64 // ω̄
	samples int
}

// weighted returns the target of the wake samples of one datum.
func weighted(m *oracle.Machine, x []bool, w oracle.Weighting, samples int) target {
	return target{m.Wake([][]bool{x}, w), func(s oracle.State, probability float64) float64 {
		return probability / math.Exp(m.LogRecognition(s))
	}, samples}
}

func unweighted(m *oracle.Machine, samples int) target {
	return target{m.Model(), func(oracle.State, float64) float64 { return 1 }, samples}
}

func scaled(m oracle.Measure, by float64) oracle.Measure {
	return func(yield func(oracle.State, float64) bool) {
		for s, weight := range m {
			if !yield(s, by*weight) {
				return
			}
		}
	}
}

func (t target) variance(f func(s oracle.State) []float64, mean []float64) []float64 {
	v := make([]float64, len(mean))
	for s, probability := range t.measure {
		for k, value := range f(s) {
			v[k] += probability * t.weight(s, probability) * (value - mean[k]) * (value - mean[k]) / float64(t.samples)
		}
	}
	return v
}

// gradientVariance returns the variance of a gradient at its limit. Except for REINFORCE it
// neglects the baseline.
func gradientVariance(m *oracle.Machine, r oracle.Rule, wake, dreams target, limit []float64) []float64 {
	score := func(s oracle.State) []float64 { return m.Score(oracle.Point(s)) }
	variance := wake.variance(score, m.Score(wake.measure))
	if r.Reinforce != oracle.NotReinforce {
		copy(variance[m.Architecture.GenerativeSize():], reinforceVariance(m, r.Reinforce, wake, limit)[m.Architecture.GenerativeSize():])
		return variance
	}
	var sleep []float64
	if r.Sleep != 0 {
		sleep = dreams.variance(score, m.Score(dreams.measure))
	}
	for k := m.Architecture.GenerativeSize(); k < len(variance); k++ {
		variance[k] *= r.QWake * r.QWake
		if r.Sleep != 0 {
			variance[k] += r.Sleep * r.Sleep * sleep[k]
		}
	}
	return variance
}

// reinforceVariance returns the variance of a mean of (L − b) ∂ log q(h|x), with L = log p(x,h) −
// log q(h|x) and the baselines for many samples.
func reinforceVariance(m *oracle.Machine, r oracle.Reinforce, wake target, limit []float64) []float64 {
	size := len(m.Flat)
	mean, weighted, squares := 0.0, make([]float64, size), make([]float64, size)
	signal := func(s oracle.State) float64 { return m.LogJoint(s) - m.LogRecognition(s) }
	for s, probability := range wake.measure {
		mean += probability * signal(s)
		for k, g := range m.Score(oracle.Point(s)) {
			weighted[k] += probability * signal(s) * g * g
			squares[k] += probability * g * g
		}
	}
	return wake.variance(func(s oracle.State) []float64 {
		score := m.Score(oracle.Point(s))
		for k, g := range score {
			b := 0.0
			switch {
			case r == oracle.ConstantBaseline, r == oracle.OptimalBaseline && squares[k] == 0:
				b = mean
			case r == oracle.OptimalBaseline:
				b = weighted[k] / squares[k]
			}
			score[k] = (signal(s) - b) * g
		}
		return score
	}, limit)
}

func wantBlocks(t *testing.T, what string, m *oracle.Machine, units []oracle.Unit, samples oracle.Measure, limit target) {
	t.Helper()
	want := m.Fisher(units, limit.measure)
	variance := limit.variance(func(s oracle.State) []float64 { return entries(m.Fisher(units, oracle.Point(s))) }, entries(want))
	wantMean(t, what, entries(m.Fisher(units, samples)), entries(want), variance)
}

func entries(blocks []oracle.Block) (list []float64) {
	for _, b := range blocks {
		for i := range b.Unit.Width {
			for j := i; j < b.Unit.Width; j++ {
				list = append(list, b.Matrix.At(i, j))
			}
		}
	}
	return list
}

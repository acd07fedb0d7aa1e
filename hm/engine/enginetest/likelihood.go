package enginetest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// likelihood tests that the estimates agree with the exact values. The estimates of p(x) and
// √p̃*(x) are unbiased, but not their logarithms, so the ratios e^(estimate−exact) must have mean
// one over many seeds. The bound itself is unbiased. The variances are exact.
func likelihood(t *testing.T, e engine.Engine) {
	const samples = 500
	seeds := many(200)
	test := func(t *testing.T, p *engine.Parameters) {
		m, data := exact(t, p), rowsOf(p.Architecture, 4)
		model := newModel(t, e, p)
		ratio, root, bound := make([]float64, data.Rows), make([]float64, data.Rows), make([]float64, data.Rows)
		for s := range seeds {
			estimates := must(model.Evaluate(t.Context(), data, samples, uint64(s), nil))(t)
			for r, x := range bits(data) {
				ratio[r] += math.Exp(estimates[r].LogP-m.LogP(x)) / float64(seeds)
				root[r] += math.Exp((estimates[r].LogPTildeStar-m.LogPTildeStar(x))/2) / float64(seeds)
				bound[r] += estimates[r].Bound / float64(seeds)
			}
		}
		var one, bounds, ratioVariance, rootVariance, boundVariance []float64
		for _, x := range bits(data) {
			one = append(one, 1)
			bounds = append(bounds, m.Bound(x))
			// The limit of the effective sample size is 1/E[ω̄²].
			ratioVariance = append(ratioVariance, (1/m.EffectiveSampleSize(x, oracle.Ratio)-1)/float64(samples*seeds))
			rootVariance = append(rootVariance, (1/m.EffectiveSampleSize(x, oracle.SquareRoot)-1)/float64(samples*seeds))
			boundVariance = append(boundVariance, varianceOfLogWeight(m, x)/float64(samples*seeds))
		}
		wantMean(t, "p(x)", ratio, one, ratioVariance)
		wantMean(t, "√p̃*(x)", root, one, rootVariance)
		wantMean(t, "bound", bound, bounds, boundVariance)
	}
	everyCoding(t, test, []int{3, 2, 2}, []int{4, 3, 2})
	categorical(t, test)
}

// varianceOfLogWeight returns the variance of log p(x,h) − log q(h|x), h ~ q(h|x).
func varianceOfLogWeight(m *oracle.Machine, x []bool) float64 {
	variance := 0.0
	for s, q := range m.Wake([][]bool{x}, oracle.Uniform) {
		d := m.LogJoint(s) - m.LogRecognition(s) - m.Bound(x)
		variance += q * d * d
	}
	return variance
}

// effectiveSampleSizes tests that effective sample sizes tend to their limits as the number of
// samples grows.
func effectiveSampleSizes(t *testing.T, e engine.Engine) {
	samples := many(200_000)
	everyCoding(t, func(t *testing.T, p *engine.Parameters) {
		m, data := exact(t, p), randomRows(2, p.Architecture.Visible())
		estimates := must(newModel(t, e, p).Evaluate(t.Context(), data, samples, seed, nil))(t)
		var got, want, variance []float64
		for r, x := range bits(data) {
			for _, w := range []oracle.Weighting{oracle.Ratio, oracle.SquareRoot} {
				want = append(want, m.EffectiveSampleSize(x, w))
				variance = append(variance, varianceOfESS(m, x, w)/float64(samples))
			}
			got = append(got, estimates[r].ESS, estimates[r].ESSStar)
		}
		t.Logf("ESS %.4f, limits %.4f", got, want)
		wantMean(t, "effective sample size", got, want, variance)
	}, []int{3, 2, 2}, []int{4, 3, 2})
}

// varianceOfESS returns the variance of the effective sample size of many samples, times their
// number. It is the variance of the derivative of E[ω̄]²/E[ω̄²] with respect to the two means.
func varianceOfESS(m *oracle.Machine, x []bool, w oracle.Weighting) float64 {
	ess, variance := m.EffectiveSampleSize(x, w), 0.0
	for s, probability := range m.Wake([][]bool{x}, w) {
		q := math.Exp(m.LogRecognition(s))
		weight := probability / q // ω̄
		d := ess * (2*(weight-1) - (weight*weight*ess - 1))
		variance += q * d * d
	}
	return variance
}

// chunksOfSamples tests that cutting samples into chunks changes nothing: a sample of a datum is
// the same however many are drawn, and Evaluate sums what LogWeights returns.
func chunksOfSamples(t *testing.T, e engine.Engine) {
	everyCoding(t, func(t *testing.T, p *engine.Parameters) {
		const most = 1500
		data := randomRows(3, p.Architecture.Visible())
		model := newModel(t, e, p)
		all := must(model.LogWeights(t.Context(), data, most, seed))(t)
		for _, samples := range []int{1, 100, 512, 513, most} {
			weights := must(model.LogWeights(t.Context(), data, samples, seed))(t)
			estimates := must(model.Evaluate(t.Context(), data, samples, seed, nil))(t)
			for r := range data.Rows {
				var sum engine.WeightSum
				for k := range samples {
					l := weights[r*samples+k]
					sum.Add(l)
					if want := all[r*most+k]; !(math.Abs(l-want) <= 1e-5) {
						t.Fatalf("sample %d of datum %d: log weight %v of %d samples, %v of %d", k, r, l, samples, want, most)
					}
				}
				wantLikelihood(t, estimates[r], sum.Likelihood())
			}
		}
	}, []int{4, 3, 2}, []int{20, 12, 7, 5, 3})
}

func wantLikelihood(t *testing.T, got, want engine.Likelihood) {
	t.Helper()
	for what, pair := range map[string][2]float64{
		"log p":     {got.LogP, want.LogP},
		"bound":     {got.Bound, want.Bound},
		"log p̃*":   {got.LogPTildeStar, want.LogPTildeStar},
		"ESS":       {got.ESS, want.ESS},
		"ESS of p*": {got.ESSStar, want.ESSStar},
	} {
		if !(math.Abs(pair[0]-pair[1]) <= 1e-5) {
			t.Errorf("%s is %v, of the log weights %v", what, pair[0], pair[1])
		}
	}
}

// logZ2 tests that the terms of Z² (BiHM thesis 2016, 3.11) are unbiased, and that a call can
// continue where another one ended.
func logZ2(t *testing.T, e engine.Engine) {
	outer := many(60_000)
	test := func(t *testing.T, p *engine.Parameters) {
		model := newModel(t, e, p)
		want := math.Exp(exact(t, p).LogZ2())
		for _, inner := range []int{1, 5} {
			logs := must(model.LogZ2(t.Context(), 0, outer, inner, seed))(t)
			mean, squares := 0.0, 0.0
			for _, l := range logs {
				mean += math.Exp(l) / float64(outer)
				squares += math.Exp(2*l) / float64(outer)
			}
			variance := (squares - mean*mean) / float64(outer)
			t.Logf("Z² with %d inner samples: %.5f ± %.5f, exactly %.5f", inner, mean, math.Sqrt(variance), want)
			wantMean(t, "Z²", []float64{mean}, []float64{want}, []float64{variance})
			rest := must(model.LogZ2(t.Context(), 1000, 700, inner, seed))(t)
			for k, l := range rest {
				if !(math.Abs(l-logs[1000+k]) <= 1e-5) {
					t.Fatalf("outer sample %d is %v, and %v in the longer run", 1000+k, l, logs[1000+k])
				}
			}
		}
	}
	everyCoding(t, test, []int{3, 2, 2}, []int{4, 3, 2})
	categorical(t, test)
}

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
		n, data := oracle.NewNetworks(p), rowsOf(p.Architecture, 4)
		model := newModel(t, e, p)
		var exact []oracle.Explanation
		var one, bounds, ratioVariance, rootVariance, boundVariance []float64
		for _, x := range n.Rows(data) {
			e := n.Explain(x)
			exact, one, bounds = append(exact, e), append(one, 1), append(bounds, e.Bound())
			// The limit of the effective sample size is 1/E[ω̄²].
			ratioVariance = append(ratioVariance, (1/e.EffectiveSampleSize(oracle.Ratio)-1)/float64(samples*seeds))
			rootVariance = append(rootVariance, (1/e.EffectiveSampleSize(oracle.SquareRoot)-1)/float64(samples*seeds))
			boundVariance = append(boundVariance, varianceOfLogWeight(n, x)/float64(samples*seeds))
		}
		ratio, root, bound := make([]float64, data.Rows), make([]float64, data.Rows), make([]float64, data.Rows)
		for s := range seeds {
			estimates := must(model.Evaluate(t.Context(), data, samples, uint64(s), nil))(t)
			for r, e := range exact {
				ratio[r] += math.Exp(estimates[r].LogP-e.LogP()) / float64(seeds)
				root[r] += math.Exp((estimates[r].LogPTildeStar-e.LogPTildeStar())/2) / float64(seeds)
				bound[r] += estimates[r].Bound / float64(seeds)
			}
		}
		wantMean(t, "p(x)", ratio, one, ratioVariance)
		wantMean(t, "√p̃*(x)", root, one, rootVariance)
		wantMean(t, "bound", bound, bounds, boundVariance)
	}
	every(t, test, tiny, small, categorical, gaussian, []engine.Architecture{{
		Units: []int{6, 2}, Kinds: []engine.Kind{engine.Categorical},
		Groups: [][]engine.Group{{{Units: 1, Real: true}, {Units: 2}, {Units: 1, Real: true}, {Units: 1, Rest: true}, {Units: 1, Real: true}}},
	}})
}

// varianceOfLogWeight returns the variance of log p(x,h) − log q(h|x), h ~ q(h|x).
func varianceOfLogWeight(n *oracle.Networks, x []float64) float64 {
	variance, bound := 0.0, n.Explain(x).Bound()
	for v, q := range n.Wake([][]float64{x}, oracle.Uniform) {
		d := n.LogJointOf(v) - n.LogRecognitionOf(v) - bound
		variance += q * d * d
	}
	return variance
}

// chunksOfSamples tests that cutting samples into chunks changes nothing: a sample of a datum is
// the same however many are drawn, and Evaluate sums what LogWeights returns, and half of it.
func chunksOfSamples(t *testing.T, e engine.Engine) {
	every(t, func(t *testing.T, p *engine.Parameters) {
		const most = 1500
		data := randomRows(3, p.Architecture.Visible())
		model := newModel(t, e, p)
		all := must(model.LogWeights(t.Context(), data, most, seed))(t)
		for _, samples := range []int{1, 100, 512, 513, most} {
			weights := must(model.LogWeights(t.Context(), data, samples, seed))(t)
			estimates := must(model.Evaluate(t.Context(), data, samples, seed, nil))(t)
			for r := range data.Rows {
				var sum, half engine.WeightSum
				for k := range samples {
					l := weights[r*samples+k]
					if sum.Add(l); k < samples/2 {
						half.Add(l)
					}
					if want := all[r*most+k]; !(math.Abs(l-want) <= 1e-5) {
						t.Fatalf("sample %d of datum %d: log weight %v of %d samples, %v of %d", k, r, l, samples, want, most)
					}
				}
				want := sum.AfterHalf(half)
				wantLikelihood(t, estimates[r], want)
				for what, pair := range map[string][2]float64{
					"log p":   {estimates[r].LogPOfHalf, want.LogPOfHalf},
					"log p̃*": {estimates[r].LogPTildeStarOfHalf, want.LogPTildeStarOfHalf},
				} {
					if half.Count > 0 && !(math.Abs(pair[0]-pair[1]) <= 1e-5*(1+math.Abs(pair[1]))) {
						t.Errorf("%s of half of %d samples is %v, want %v", what, samples, pair[0], pair[1])
					}
				}
			}
		}
	}, small, large)
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
		if !(math.Abs(pair[0]-pair[1]) <= 1e-5*(1+math.Abs(pair[1]))) {
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
		want := math.Exp(oracle.NewNetworks(p).LogZ2())
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
	every(t, test, tiny, small, categorical, gaussian)
}

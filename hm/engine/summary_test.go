package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *rapid.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func nearLikelihood(t *rapid.T, got, want Likelihood) {
	t.Helper()
	near(t, "log p", got.LogP, want.LogP)
	near(t, "bound", got.Bound, want.Bound)
	near(t, "log p̃*", got.LogPTildeStar, want.LogPTildeStar)
	near(t, "ESS", got.ESS, want.ESS)
	near(t, "ESS of p*", got.ESSStar, want.ESSStar)
}

func likelihoodOf(logs []float64) Likelihood {
	var s WeightSum
	for _, l := range logs {
		s.Add(l)
	}
	return s.Likelihood()
}

func logWeights(limit float64) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Float64Range(-limit, limit), 1, 50)
}

// While the exponentials stay within range, the estimates must equal their formulas.
func TestWeightSumAgainstPlainSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := logWeights(150).Draw(t, "log weights")
		n, root, first, second, sum := float64(len(logs)), 0.0, 0.0, 0.0, 0.0
		for _, l := range logs {
			root += math.Exp(l / 2)
			first += math.Exp(l)
			second += math.Exp(2 * l)
			sum += l
		}
		want := Likelihood{
			LogP:          math.Log(first / n),
			Bound:         sum / n,
			LogPTildeStar: 2 * math.Log(root/n),
			ESS:           first * first / second / n,
			ESSStar:       root * root / first / n,
		}
		nearLikelihood(t, likelihoodOf(logs), want)
	})
}

// A common factor of the weights must shift the logarithms, however large it is, and leave the
// effective sample sizes unchanged. The order of the weights must not matter.
func TestWeightSumScaleAndOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := logWeights(1e4).Draw(t, "log weights")
		want := likelihoodOf(logs)

		shuffled := slices.Clone(logs)
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "order"), 0))
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		nearLikelihood(t, likelihoodOf(shuffled), want)

		shift := float64(rapid.IntRange(-10_000, 10_000).Draw(t, "shift"))
		shifted := slices.Clone(logs)
		for i := range shifted {
			shifted[i] += shift
		}
		want.LogP += shift
		want.Bound += shift
		want.LogPTildeStar += shift
		nearLikelihood(t, likelihoodOf(shifted), want)
	})
}

// Sums of any parts of the weights, including empty ones, must merge to the sum of all.
func TestWeightSumsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := logWeights(1e4).Draw(t, "log weights")
		parts := make([]WeightSum, rapid.IntRange(1, 5).Draw(t, "parts"))
		for _, l := range logs {
			parts[rapid.IntRange(0, len(parts)-1).Draw(t, "part")].Add(l)
		}
		var merged WeightSum
		for _, p := range parts {
			merged.Merge(p)
		}
		if merged.Count != len(logs) || merged.Largest != slices.Max(logs) {
			t.Errorf("merged %d weights, the largest %v: want %d, %v", merged.Count, merged.Largest, len(logs), slices.Max(logs))
		}
		nearLikelihood(t, merged.Likelihood(), likelihoodOf(logs))
	})
}

// The bound lies below log p̃*, which lies below log p. With equal weights they are equal, and the
// samples are fully effective.
func TestOrderOfTheEstimates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		logs := logWeights(1e4).Draw(t, "log weights")
		const rounding = 1e-9
		l := likelihoodOf(logs)
		if !(l.Bound <= l.LogPTildeStar+rounding && l.LogPTildeStar <= l.LogP+rounding) {
			t.Errorf("bound %v, log p̃* %v, log p %v are not in this order", l.Bound, l.LogPTildeStar, l.LogP)
		}
		if n := float64(len(logs)); !(l.ESS >= 1/n-rounding && l.ESS <= l.ESSStar+rounding && l.ESSStar <= 1+rounding) {
			t.Errorf("effective sample sizes %v and %v of %v", l.ESS, l.ESSStar, n)
		}
		same := slices.Repeat(logs[:1], len(logs))
		nearLikelihood(t, likelihoodOf(same), Likelihood{LogP: logs[0], Bound: logs[0], LogPTildeStar: logs[0], ESS: 1, ESSStar: 1})
	})
}

// No effective sample size exceeds 1 by rounding, neither of almost equal weights nor of a mean over rows. NaN stays
// NaN.
func TestEffectiveSampleSizesAreAtMost1(t *testing.T) {
	for n := 1; n <= 50; n++ {
		var s WeightSum
		for k := range n {
			s.Add(1e-9 * math.Sin(float64(n*k)))
		}
		l := s.Likelihood()
		report := MeanReport(slices.Repeat([]Likelihood{{ESS: 1}}, n))
		if l.ESS > 1 || l.ESSStar > 1 || report.ESS > 1 {
			t.Errorf("%d weights or rows have the effective sample sizes %v, %v and %v", n, l.ESS, l.ESSStar, report.ESS)
		}
	}
	if report := MeanReport([]Likelihood{{ESS: math.NaN()}}); !math.IsNaN(report.ESS) {
		t.Errorf("the mean of NaN is %v", report.ESS)
	}
}

// Weights of 0 count as samples, and do not turn the estimates into NaN.
func TestWeightsOfZero(t *testing.T) {
	zero := math.Inf(-1)
	for _, c := range []struct {
		logs []float64
		want float64
	}{
		{[]float64{zero, zero}, zero},
		{[]float64{zero, zero, math.Log(3)}, 0},
		{[]float64{math.Log(4), zero, zero, zero}, 0},
	} {
		if got := likelihoodOf(c.logs).LogP; !(got == c.want || math.Abs(got-c.want) <= 1e-15) {
			t.Errorf("log p from the log-weights %v is %v, want %v", c.logs, got, c.want)
		}
	}
}

package hm

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// TestImportanceWeightsAreNormalized checks that the weights of a datum have
// mean 1, and that their effective sample size is 1/mean ω².
func TestImportanceWeightsAreNormalized(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	const samples = 50
	w, err := m.ImportanceWeights(t.Context(), everyRow(4), samples)
	if err != nil {
		t.Fatal(err)
	}
	if w.Samples != samples || w.Data != 24 || len(w.LogWeights) != 24*samples || len(w.LogWeightsStar) != 24*samples || len(w.ESS) != 24 || len(w.ESSStar) != 24 {
		t.Fatalf("%d samples of %d data, %d and %d weights, %d and %d sample sizes; want 50 of 24 and 1200 weights",
			w.Samples, w.Data, len(w.LogWeights), len(w.LogWeightsStar), len(w.ESS), len(w.ESSStar))
	}
	for d := range w.Data {
		for _, of := range []struct {
			name string
			logs []float64
			ess  float64
		}{
			{"p", w.LogWeights[d*samples : (d+1)*samples], w.ESS[d]},
			{"p*", w.LogWeightsStar[d*samples : (d+1)*samples], w.ESSStar[d]},
		} {
			var mean, square float64
			for _, l := range of.logs {
				mean += math.Exp(l) / samples
				square += math.Exp(2*l) / samples
			}
			wantNear(t, fmt.Sprintf("the mean weight for %s of datum %d", of.name, d), mean, 1, 1e-12)
			wantNear(t, fmt.Sprintf("the effective sample size for %s of datum %d", of.name, d), of.ess, 1/square, 1e-12)
		}
		// ω* = √ω, so half the differences of log weights belong to p*.
		for k := 1; k < samples; k++ {
			a := w.LogWeights[d*samples+k] - w.LogWeights[d*samples]
			b := w.LogWeightsStar[d*samples+k] - w.LogWeightsStar[d*samples]
			wantNear(t, "ln ω* − ln ω*₀", b, a/2, 1e-12)
		}
	}
}

func TestImportanceWeightsAreOfAHundredData(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 8, 2)
	w, err := m.ImportanceWeights(t.Context(), everyRow(8), 3)
	if err != nil {
		t.Fatal(err)
	}
	if w.Data != 100 || len(w.LogWeights) != 300 {
		t.Errorf("%d weights of %d data, want 300 of 100", len(w.LogWeights), w.Data)
	}
}

// TestConvergenceIsOfTheFirstSamples compares each estimate with one that draws only as many
// samples as it needs.
func TestConvergenceIsOfTheFirstSamples(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	split := everyRow(4)
	numbers := []int{1, 30, 4, 1000}
	c, err := m.Convergence(t.Context(), split, numbers...)
	if err != nil {
		t.Fatal(err)
	}
	if c.Name == "" || c.LogPStar != nil {
		t.Errorf("%q has estimates %v of log p* without one of log Z²", c.Name, c.LogPStar)
	}
	z := LogZ2{Value: -1.5, SE: 0.2}
	normalized := c.WithLogZ2(z)
	for i, k := range numbers {
		e, err := m.Evaluate(t.Context(), split, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		e = e.WithLogZ2(z)
		if c.Samples[i] != k {
			t.Errorf("estimate %d is from %d samples, want %d", i, c.Samples[i], k)
		}
		for _, of := range []struct {
			measure   string
			got, want float64
		}{
			{"log p", c.LogP[i], e.LogP},
			{"the error of log p", c.LogPSE[i], float64(e.LogPSE)},
			{"log p̃*", c.LogPTildeStar[i], e.LogPTildeStar},
			{"the error of log p̃*", c.LogPTildeStarSE[i], float64(e.LogPTildeStarSE)},
			{"log p*", normalized.LogPStar[i], *e.LogPStar},
			{"the error of log p*", normalized.LogPStarSE[i], float64(*e.LogPStarSE)},
		} {
			wantNear(t, fmt.Sprintf("%s from %d samples", of.measure, k), of.got, of.want, 1e-9)
		}
	}
	if c.LogPStar != nil {
		t.Error("the estimates that were normalised have changed")
	}
}

// TestConvergenceInParts estimates from so many samples that the weights of all data are not in
// memory at once.
func TestConvergenceInParts(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("draws millions of samples")
	}
	m, exact := tiny(t, ZeroOne, 2, 1)
	split := dataset.Split{Name: "test", Shape: shape(1, 2), Values: dataset.Bytes(2, []uint8{0, 0, 255, 0, 255, 255})}
	c, err := m.Convergence(t.Context(), split, 1<<21)
	if err != nil {
		t.Fatal(err)
	}
	c = c.WithLogZ2(LogZ2{Value: exact.LogZ2()})
	for _, of := range []struct {
		measure string
		got     float64
		exact   func(oracle.Explanation) float64
	}{
		{"log p", c.LogP[0], oracle.Explanation.LogP},
		{"log p̃*", c.LogPTildeStar[0], oracle.Explanation.LogPTildeStar},
		{"log p*", c.LogPStar[0], func(x oracle.Explanation) float64 { return x.LogPTildeStar() - exact.LogZ2() }},
	} {
		want := 0.0
		for _, x := range explain(exact, split) {
			want += of.exact(x) / 3
		}
		wantNear(t, of.measure, of.got, want, 0.005)
	}
}

// TestLogZ2Coverage estimates log Z² with a hundred seeds: their mean must fit an unbiased estimate
// of Z², and the interval of ±2 standard errors must cover the exact value about 95 times.
func TestLogZ2Coverage(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		m, exact := tiny(t, coding, 3, 2)
		want := exact.LogZ2()
		const seeds, outer, inner = 100, 400, 3
		covered := 0
		var ratios, errors, values []float64
		for seed := range uint64(seeds) {
			z, err := m.WithSeed(seed).LogZ2(t.Context(), outer, inner)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(z.Value-want) < 1.96*z.SE {
				covered++
			}
			ratios = append(ratios, math.Exp(z.Value-want))
			values, errors = append(values, z.Value), append(errors, z.SE)
		}
		if covered < 88 { // binomial with mean 95, standard deviation 2.2
			t.Errorf("%d of %d intervals cover log Z² = %v, want about 95", covered, seeds, want)
		}
		mean, deviation := stat.MeanStdDev(ratios, nil)
		wantNear(t, "the mean estimate of Z², by Z²", mean, 1, 4*deviation/math.Sqrt(seeds))
		_, spread := stat.MeanStdDev(values, nil)
		if claimed := stat.Mean(errors, nil); !(claimed >= 0.8*spread && claimed <= 1.25*spread) {
			t.Errorf("the standard error is %v on average, the spread of the estimates %v", claimed, spread)
		}
	})
}

func TestLogZ2Repeats(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 3, 2)
	const outer, inner = 1000, 2
	z, err := m.LogZ2(t.Context(), outer, inner)
	if err != nil {
		t.Fatal(err)
	}
	if z.Inner != inner || len(z.Repeats) != 10 || z.Outer[len(z.Outer)-1] != outer/10 {
		t.Fatalf("%d inner samples, %d repeats of up to %v outer samples; want 2, 10 and 100", z.Inner, len(z.Repeats), z.Outer)
	}
	// The estimate from all samples is the mean of the repeats' last estimates.
	mean := 0.0
	seen := map[float64]bool{}
	for _, repeat := range z.Repeats {
		if len(repeat) != len(z.Outer) {
			t.Fatalf("%d estimates at %d milestones", len(repeat), len(z.Outer))
		}
		mean += math.Exp(repeat[len(repeat)-1]) / 10
		seen[repeat[0]] = true
	}
	wantNear(t, "log Z²", z.Value, math.Log(mean), 1e-9)
	if len(seen) < 5 { // of 10 first samples; few states repeat
		t.Errorf("the repeats begin with %d different samples", len(seen))
	}
	if z.SE <= 0 {
		t.Errorf("standard error %v", z.SE)
	}
}

func TestMilestones(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 10_000_000).Draw(t, "n")
		at := milestones(n)
		if at[len(at)-1] != n || at[0] != 1 {
			t.Fatalf("milestones of %d: %v", n, at)
		}
		for i := 1; i < len(at); i++ {
			if at[i] <= at[i-1] {
				t.Fatalf("milestones of %d do not rise: %v", n, at)
			}
			if i < len(at)-1 && at[i] > 10 && float64(at[i]) > 1.4*float64(at[i-1]) {
				t.Fatalf("milestones of %d leave a gap from %d to %d", n, at[i-1], at[i])
			}
		}
	})
}

func TestWithLogZ2(t *testing.T) {
	e := Evaluation{LogPTildeStar: -5, LogPTildeStarSE: 0.3}
	z := LogZ2{Value: -2, SE: 0.4}
	n := e.WithLogZ2(z)
	wantNear(t, "log Z²", *n.LogZ2, -2, 0)
	wantNear(t, "its standard error", float64(*n.LogZ2SE), 0.4, 0)
	wantNear(t, "log p*", *n.LogPStar, -3, 1e-15)
	wantNear(t, "its standard error", float64(*n.LogPStarSE), 0.5, 1e-15)
	if e.LogZ2 != nil || e.LogPStar != nil {
		t.Error("the evaluation that was normalised has changed")
	}
}

// TestLogPStarIsNormalized estimates log p*(x) of every x.
func TestLogPStarIsNormalized(t *testing.T) {
	t.Parallel()
	m, exact := tiny(t, PlusMinusOne, 3, 2)
	z, err := m.LogZ2(t.Context(), 100_000, 4)
	if err != nil {
		t.Fatal(err)
	}
	total := 0.0
	for number := range 8 {
		x := dataset.Split{Name: "test", Shape: shape(1, 3), Values: dataset.Bytes(3, make([]uint8, 3))}
		for j := range 3 {
			x.Bytes()[j] = uint8(255 * (number >> j & 1))
		}
		e, err := m.Evaluate(t.Context(), x, 20_000, nil)
		if err != nil {
			t.Fatal(err)
		}
		star := *e.WithLogZ2(z).LogPStar
		wantNear(t, "log p*", star, explain(exact, x)[0].LogPTildeStar()-exact.LogZ2(), 0.03)
		total += math.Exp(star)
	}
	wantNear(t, "Σ p*(x)", total, 1, 0.02)
}

// The standard error of log p of a row is the spread of its estimates over seeds, and is unknown with few samples.
func TestLogPAndErrors(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	rows := everyRow(4)
	const seeds = 300
	estimates, squares := make([][]float64, rows.Rows), make([]float64, rows.Rows)
	for seed := range uint64(seeds) {
		logP, se, _, err := m.LogPAndErrors(t.Context(), runs.EvaluationOptions{Rows: rows, Samples: 100, Seed: seed})
		if err != nil || len(se) != rows.Rows {
			t.Fatal(se, err)
		}
		for r, v := range logP {
			estimates[r] = append(estimates[r], v)
			squares[r] += se[r] * se[r] / seeds
		}
	}
	for r, values := range estimates {
		if sd, se := stat.StdDev(values, nil), math.Sqrt(squares[r]); !(sd > 0.01) || math.Abs(sd/se-1) > 0.2 { // four of its own errors, 1/√(2·300)
			t.Errorf("row %d: the estimates spread by %v, with the standard error %v", r, sd, se)
		}
	}
	if _, se, _, err := m.LogPAndErrors(t.Context(), runs.EvaluationOptions{Rows: rows, Samples: 9}); err != nil || !math.IsNaN(se[0]) {
		t.Errorf("9 samples have the standard errors %v (error %v)", se, err)
	}
}

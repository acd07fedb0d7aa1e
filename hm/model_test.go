package hm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/gonum/stat"
	"pgregory.net/rapid"
)

// tiny returns a model with random parameters and visible units in a row, and its oracle.
func tiny(t testing.TB, coding Coding, units ...int) (*Model, *oracle.Networks) {
	t.Helper()
	p := oracle.Random(engine.Architecture{Units: units, Coding: coding}, 11)
	e := NRWS().Seed(7).Experiment(New(shape(1, units[0])).Dense(units[1:]...).Coding(coding), patterns(t))
	m := &Model{experiment: e, shape: shape(1, units[0]), parameters: p, engine: &evaluator{parameters: p}, seed: e.Seed}
	return m, oracle.NewNetworks(p)
}

// everyRow returns a split with each state of the visible units once, and states of odd number
// twice. Its labels are the numbers.
func everyRow(units int) dataset.Split {
	s := dataset.Split{Name: "test", Shape: shape(1, units)}
	var values []uint8
	for number := range 1 << units {
		for range 1 + number%2 {
			s.Labels = append(s.Labels, uint8(number))
			for j := range units {
				values = append(values, uint8(255*(number>>j&1)))
			}
		}
	}
	s.Values = dataset.Bytes(units, values)
	return s
}

// explain explains the rows of a split.
func explain(exact *oracle.Networks, s dataset.Split) (all []oracle.Explanation) {
	for _, x := range states(exact, s) {
		all = append(all, exact.Explain(x))
	}
	return all
}

// states returns the rows of a split as values of the visible units.
func states(exact *oracle.Networks, s dataset.Split) [][]float64 {
	return exact.Rows(engine.Data{Values: s.Values})
}

func bothCodings(t *testing.T, test func(t *testing.T, coding Coding)) {
	for _, coding := range []Coding{ZeroOne, PlusMinusOne} {
		t.Run(coding.String(), func(t *testing.T) { test(t, coding) })
	}
}

func wantNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

// TestEvaluateEstimatesTheLikelihoods checks that each estimate lies within five of its standard
// errors over the draws of the exact value.
func TestEvaluateEstimatesTheLikelihoods(t *testing.T) {
	t.Parallel()
	bothCodings(t, func(t *testing.T, coding Coding) {
		const samples = 4000
		m, exact := tiny(t, coding, 4, 3, 2)
		split := everyRow(4)
		e, err := m.Evaluate(t.Context(), split, samples, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.Samples != samples || e.Data != split.Rows {
			t.Errorf("%d samples of %d data, want %d of %d", e.Samples, e.Data, samples, split.Rows)
		}
		// Exact means over the data, and the variances of their estimates by
		// the delta method: Var ln mean ω = (1/ESS − 1)/K.
		var logP, bound, star, ess, essStar, logPVar, boundVar, starVar float64
		n := float64(split.Rows)
		for r, x := range explain(exact, split) {
			logP += x.LogP() / n
			bound += x.Bound() / n
			star += x.LogPTildeStar() / n
			ratio, root := x.EffectiveSampleSize(oracle.Ratio), x.EffectiveSampleSize(oracle.SquareRoot)
			ess += ratio / n
			essStar += root / n
			logPVar += (1/ratio - 1) / samples / n / n
			starVar += 4 * (1/root - 1) / samples / n / n
			for v, q := range exact.Wake(states(exact, split)[r:r+1], oracle.Uniform) {
				d := exact.LogJointOf(v) - exact.LogRecognitionOf(v) - x.Bound()
				boundVar += q * d * d / samples / n / n
			}
		}
		wantNear(t, "log p", e.LogP, logP, 5*math.Sqrt(logPVar))
		wantNear(t, "the bound", e.Bound, bound, 5*math.Sqrt(boundVar))
		wantNear(t, "log p̃*", e.LogPTildeStar, star, 5*math.Sqrt(starVar))
		wantNear(t, "the effective sample size", e.ESS, ess, 0.02)
		wantNear(t, "the effective sample size for p*", e.ESSStar, essStar, 0.02)
	})
}

// TestEvaluateMeansAndErrors recomputes means and standard errors over the data from the weights of
// the same draws.
func TestEvaluateMeansAndErrors(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	split := everyRow(4)
	const samples = 700 // more than go through the networks at once
	e, err := m.Evaluate(t.Context(), split, samples, nil)
	if err != nil {
		t.Fatal(err)
	}
	model, err := m.engine.model()
	if err != nil {
		t.Fatal(err)
	}
	logs, err := model.LogWeights(t.Context(), m.experiment.data(split), samples, m.seed)
	if err != nil {
		t.Fatal(err)
	}
	var logP, bound, star, ess, essStar []float64
	for d := range split.Rows {
		var first, second, root, sum float64 // of ω, ω², √ω and ln ω
		for _, l := range logs[d*samples : (d+1)*samples] {
			first += math.Exp(l) / samples
			second += math.Exp(2*l) / samples
			root += math.Exp(l/2) / samples
			sum += l / samples
		}
		logP, bound, star = append(logP, math.Log(first)), append(bound, sum), append(star, 2*math.Log(root))
		ess, essStar = append(ess, first*first/second), append(essStar, root*root/first)
	}
	for _, test := range []struct {
		name     string
		values   []float64
		gotMean  float64
		gotError runs.Float
	}{
		{"log p", logP, e.LogP, e.LogPSE},
		{"the bound", bound, e.Bound, e.BoundSE},
		{"log p̃*", star, e.LogPTildeStar, e.LogPTildeStarSE},
		{"the effective sample size", ess, e.ESS, e.ESSSE},
		{"the effective sample size for p*", essStar, e.ESSStar, e.ESSStarSE},
	} {
		mean, deviation := stat.MeanStdDev(test.values, nil)
		wantNear(t, test.name, test.gotMean, mean, 1e-9)
		wantNear(t, "the standard error of "+test.name, float64(test.gotError), deviation/math.Sqrt(float64(split.Rows)), 1e-9)
	}
	for d := range split.Rows {
		wantNear(t, fmt.Sprintf("log p of datum %d", d), e.Each[d], logP[d], 1e-9)
		wantNear(t, fmt.Sprintf("log p̃* of datum %d", d), e.EachTildeStar[d], star[d], 1e-9)
	}
	if e.Bound > e.LogPTildeStar || e.LogPTildeStar > e.LogP {
		t.Errorf("bound %v, log p̃* %v, log p %v: want them in this order", e.Bound, e.LogPTildeStar, e.LogP)
	}
}

func TestMeanAndErrorOfOneDatum(t *testing.T) {
	mean, se := statistics.MeanAndError(1, func(int) float64 { return -3 })
	if mean != -3 || !math.IsNaN(se) {
		t.Errorf("mean %v ± %v of the one value −3, want −3 and no error", mean, se)
	}
	text, err := json.Marshal(Evaluation{LogPSE: runs.Float(se), BoundSE: 0.5})
	if err != nil || !strings.Contains(string(text), `"log_p_se":null`) || !strings.Contains(string(text), `"bound_se":0.5`) {
		t.Errorf("JSON %s (%v), want null for an error that does not exist", text, err)
	}
}

func TestEvaluateReportsProgress(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	var fractions []float64
	if _, err := m.Evaluate(t.Context(), everyRow(4), 600, func(f float64) { fractions = append(fractions, f) }); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(fractions) || len(fractions) == 0 || fractions[len(fractions)-1] != 1 {
		t.Errorf("progress %v, want fractions that rise to 1", fractions)
	}
}

// TestDrawsAreThoseOfTheSeed repeats everything that draws random numbers with the same seed, and
// with another seed.
func TestDrawsAreThoseOfTheSeed(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, PlusMinusOne, 4, 3, 2)
	split := everyRow(4)
	for name, draw := range map[string]func(*Model) (any, error){
		"Evaluate": func(m *Model) (any, error) {
			e, err := m.Evaluate(t.Context(), split, 10, nil)
			e.Seconds = 0
			return e, err
		},
		"ImportanceWeights": func(m *Model) (any, error) { return m.ImportanceWeights(t.Context(), split, 10) },
		"Convergence":       func(m *Model) (any, error) { return m.Convergence(t.Context(), split, 1, 10) },
		"LogZ2":             func(m *Model) (any, error) { return m.LogZ2(t.Context(), 100, 2) },
		"Sample":            func(m *Model) (any, error) { return m.Means(t.Context(), 10) },
		"Draw":              func(m *Model) (any, error) { return m.Draw(t.Context(), 10) },
		"Encode":            func(m *Model) (any, error) { return m.Encode(t.Context(), split, 3) },
		"Reconstruct": func(m *Model) (any, error) {
			_, reconstructions, err := m.Reconstruct(t.Context(), split, 0)
			return reconstructions, err
		},
		"Some": func(m *Model) (any, error) { return m.Subset(split, 9), nil },
	} {
		t.Run(name, func(t *testing.T) {
			var results []any
			for _, seed := range []uint64{7, 7, 8} {
				result, err := draw(m.WithSeed(seed))
				if err != nil {
					t.Fatal(err)
				}
				results = append(results, result)
			}
			if diff := cmp.Diff(results[0], results[1], cmp.AllowUnexported(dataset.Split{}, dataset.Values{})); diff != "" {
				t.Errorf("the same seed draws other numbers:\n%s", diff)
			}
			if cmp.Equal(results[0], results[2], cmp.AllowUnexported(dataset.Split{}, dataset.Values{})) {
				t.Error("another seed draws the same numbers")
			}
			first, err := draw(m)
			if err != nil {
				t.Fatal(err)
			}
			if !cmp.Equal(first, results[0], cmp.AllowUnexported(dataset.Split{}, dataset.Values{})) {
				t.Error("the seed of the experiment is not the model's first")
			}
		})
	}
}

// TestEvaluationsStopWithTheContext cancels the context before each evaluation begins.
func TestEvaluationsStopWithTheContext(t *testing.T) {
	t.Parallel()
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	split := everyRow(4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, evaluate := m.Evaluate(ctx, split, 10, nil)
	_, weights := m.ImportanceWeights(ctx, split, 10)
	_, convergence := m.Convergence(ctx, split, 10)
	_, logZ2 := m.LogZ2(ctx, 100, 1)
	_, encode := m.Encode(ctx, split, 2)
	_, _, reconstruct := m.Reconstruct(ctx, split, 2)
	_, sample := m.Means(ctx, 2)
	_, draw := m.Draw(ctx, 2)
	for name, err := range map[string]error{
		"Evaluate": evaluate, "ImportanceWeights": weights, "Convergence": convergence, "LogZ2": logZ2,
		"Encode": encode, "Reconstruct": reconstruct, "Sample": sample, "Draw": draw,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want %v", name, err, context.Canceled)
		}
	}
}

func TestEvaluationsRefuse(t *testing.T) {
	m, _ := tiny(t, ZeroOne, 4, 3, 2)
	split, narrow := everyRow(4), everyRow(3)
	empty := dataset.Split{Name: "validation", Shape: shape(1, 4)}
	cut, unlabeled, reals := split, split, split
	reals.Values = dataset.Reals(4, make([]float32, 4*split.Rows))
	cut.Values, unlabeled.Labels = dataset.Bytes(4, split.Bytes()[:9]), split.Labels[:3]
	cut.Rows = split.Rows
	ctx := t.Context()
	for _, test := range []struct {
		name string
		call func() error
		says []string
	}{
		{"no samples", func() error { _, err := m.Evaluate(ctx, split, 0, nil); return err }, []string{"0 samples", "at least 1"}},
		{"negative samples", func() error { _, err := m.ImportanceWeights(ctx, split, -2); return err }, []string{"-2 samples", "at least 1"}},
		{"other visible units", func() error { _, err := m.Evaluate(ctx, narrow, 5, nil); return err }, []string{"4 visible units", "test rows have 3", "it was trained on"}},
		{"real numbers", func() error { _, err := m.Evaluate(ctx, reals, 5, nil); return err }, []string{"test rows have real numbers", "trained with binarization fixed"}},
		{"exact divergence of real numbers", func() error { _, err := m.ExactKL(ctx, reals); return err }, []string{"real numbers"}},
		{"no rows", func() error { _, err := m.Evaluate(ctx, empty, 5, nil); return err }, []string{"validation split has no rows", "another split"}},
		{"too few values", func() error { _, err := m.Evaluate(ctx, cut, 5, nil); return err }, []string{"test split has 9 values for 24 rows", "give 96"}},
		{"too few values to choose from", func() error { _, err := m.ImportanceWeights(ctx, cut, 5); return err }, []string{"9 values"}},
		{"too few values to reconstruct", func() error { _, _, err := m.Reconstruct(ctx, cut, 5); return err }, []string{"9 values"}},
		{"too few labels", func() error { _, err := m.Evaluate(ctx, unlabeled, 5, nil); return err }, []string{"3 labels for 24 rows", "one per row"}},
		{"no rows to encode", func() error { _, err := m.Encode(ctx, empty, 5); return err }, []string{"no rows"}},
		{"no rows to reconstruct", func() error { _, _, err := m.Reconstruct(ctx, empty, 5); return err }, []string{"no rows"}},
		{"convergence of no samples", func() error { _, err := m.Convergence(ctx, split, 5, 0); return err }, []string{"0 samples", "at least 1"}},
		{"convergence of nothing", func() error { _, err := m.Convergence(ctx, split); return err }, []string{"no numbers of samples", "at least one"}},
		{"too few outer samples", func() error { _, err := m.LogZ2(ctx, 9, 1); return err }, []string{"9 outer", "at least 10"}},
		{"no inner samples", func() error { _, err := m.LogZ2(ctx, 10, 0); return err }, []string{"0 inner", "1"}},
		{"a sheet of none", func() error { _, err := m.Means(ctx, 0); return err }, []string{"0 samples", "at least 1"}},
		{"exact divergence of other units", func() error { _, err := m.ExactKL(ctx, narrow); return err }, []string{"4 visible units"}},
	} {
		t.Run(test.name, func(t *testing.T) { wantError(t, test.call(), test.says...) })
	}
	estimates, err := m.Estimate(ctx, split, 0, 1, nil)
	wantError(t, err, "0 samples", "at least 1")
	if estimates != nil {
		t.Errorf("no samples have the estimates %v", estimates)
	}
}

func TestSomeRows(t *testing.T) {
	m, _ := tiny(t, ZeroOne, 6, 2)
	all := everyRow(6)
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, all.Rows-1).Draw(t, "n")
		some := m.WithSeed(rapid.Uint64().Draw(t, "seed")).Subset(all, n)
		if some.Rows != n || len(some.Bytes()) != n*6 || len(some.Labels) != n || some.Name != all.Name || some.Shape != all.Shape {
			t.Fatalf("asked for %d rows of %q, got %d of %q with %d values and %d labels", n, all.Name, some.Rows, some.Name, len(some.Bytes()), len(some.Labels))
		}
		if !slices.IsSorted(some.Labels) {
			t.Fatal("the rows are not in their order in the split")
		}
		seen := map[uint8]int{}
		for i, label := range some.Labels {
			for j, v := range some.Row(i) {
				if v != uint8(255*(int(label)>>j&1)) {
					t.Fatalf("row %d has values %v, its label is %d", i, some.Row(i), label)
				}
			}
			if seen[label]++; seen[label] > 1+int(label)%2 {
				t.Fatalf("row %d is there more often than in the split", label)
			}
		}
	})
	for _, n := range []int{0, -1, all.Rows, all.Rows + 1} {
		if diff := cmp.Diff(all, m.Subset(all, n), cmp.AllowUnexported(dataset.Split{}, dataset.Values{})); diff != "" {
			t.Errorf("%d rows are not all of them:\n%s", n, diff)
		}
	}
}

// TestSomeRowsAreDrawnEvenly counts how often each row is drawn by many seeds.
func TestSomeRowsAreDrawnEvenly(t *testing.T) {
	m, _ := tiny(t, ZeroOne, 3, 2)
	all := dataset.Split{Name: "test", Shape: shape(1, 3), Values: dataset.Bytes(3, make([]uint8, 3*8))}
	for number := range 8 {
		all.Labels = append(all.Labels, uint8(number))
	}
	const draws = 2000
	counts := make([]float64, 8)
	for seed := range uint64(draws) {
		for _, label := range m.WithSeed(seed).Subset(all, 2).Labels {
			counts[label]++
		}
	}
	for row, n := range counts { // binomial, of probability 1/4
		wantNear(t, fmt.Sprintf("the number of draws of row %d", row), n, draws/4, 5*math.Sqrt(draws*3./16))
	}
}

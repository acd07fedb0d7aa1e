package factors

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
)

func wantError(t *testing.T, err error, says string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, want one that says %q", err, says)
	}
}

// Scikit-learn 1.9.1: FactorAnalysis(q, tol=1e-12, svd_method="lapack").fit(X).score(X) of the same
// rows without their 70 constant variables.
func TestFactorAnalysisHasTheScoreOfScikitLearn(t *testing.T) {
	rows := glyphs(t, 300).Train().Floats()
	for q, want := range map[int]float64{2: 91.02514715776202, 3: 94.43430211593021} {
		m, err := FitFactorAnalysis(t.Context(), rows, q, FactorAnalysisOptions{DropConstant: true, Starts: 1})
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, "the score", stat.Mean(m.LogP(rows), nil), want, 1e-7)
	}
}

// ability is the covariance of six tests of ability of 112 people (Smith and Stanley 1983), as R's data
// set ability.cov has it: general, picture, blocks, maze, reading, vocab.
var ability = mat.NewSymDense(6, []float64{
	24.641, 5.991, 33.520, 6.023, 20.755, 29.701,
	5.991, 6.700, 18.137, 1.782, 4.936, 7.204,
	33.520, 18.137, 149.831, 19.424, 31.430, 50.753,
	6.023, 1.782, 19.424, 12.711, 4.757, 9.075,
	20.755, 4.936, 31.430, 4.757, 52.604, 66.762,
	29.701, 7.204, 50.753, 9.075, 66.762, 135.292,
})

// R's factanal(covmat = ability.cov) prints these uniquenesses and χ².
func TestAbilityAsByFactanal(t *testing.T) {
	for _, c := range []struct {
		factors, freedom int
		uniquenesses     []float64
		chi, p           float64
	}{
		{1, 9, []float64{0.535, 0.853, 0.748, 0.910, 0.232, 0.280}, 75.18, 1.46e-12},
		{2, 4, []float64{0.455, 0.589, 0.218, 0.769, 0.052, 0.334}, 6.11, 0.191},
	} {
		m, err := FactorAnalysisOf(t.Context(), ability, c.factors, FactorAnalysisOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.uniquenesses {
			wantNear(t, "a uniqueness", m.Noise()[i]/ability.At(i, i), want, 5e-4)
		}
		test, err := m.Test(ability, 112)
		if err != nil {
			t.Fatal(err)
		}
		wantNear(t, "χ²", test.ChiSquared, c.chi, 0.005)
		wantNear(t, "p", test.P/c.p, 1, 0.005)
		if test.Freedom != c.freedom {
			t.Errorf("%d degrees of freedom, want %d", test.Freedom, c.freedom)
		}
	}
	m, err := FactorAnalysisOf(t.Context(), ability, 3, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Test(ability, 112)
	wantError(t, err, "3 factors of 6 variables leave no degrees of freedom")
}

// With few rows, the corrected statistic would be negative, and the test is refused.
func TestOfFewRowsIsRefused(t *testing.T) {
	analysis, err := FactorAnalysisOf(t.Context(), ability, 1, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, rows := drawn(t, 6, 1, 60)
	for name, m := range map[string]*Model{"factor analysis": analysis, "PPCA": fitPPCA(t, rows, 1)} {
		for _, n := range []int{-5, 0, 3} {
			_, err := m.Test(ability, n)
			wantError(t, err, "too few for the χ² approximation")
		}
		if test, err := m.Test(ability, 5); err != nil || test.ChiSquared <= 0 {
			t.Errorf("%s of 5 rows: %v, %v", name, test, err)
		}
	}
}

// A floor outside of (0, 1), fewer than 0 starts, and matrices that no rows have as their covariance are refused.
func TestWhatNoFactorAnalysisFits(t *testing.T) {
	_, rows := drawn(t, 5, 1, 60)
	for _, c := range []struct {
		o    FactorAnalysisOptions
		says string
	}{
		{FactorAnalysisOptions{Starts: -1}, "starts = -1: give at least 1"},
		{FactorAnalysisOptions{Floor: math.Inf(1)}, "floor = +Inf: give a fraction between 0 and 1"},
		{FactorAnalysisOptions{Floor: 2}, "floor = 2"},
		{FactorAnalysisOptions{Floor: -0.5}, "floor = -0.5"},
		{FactorAnalysisOptions{Floor: math.NaN()}, "floor = NaN"},
	} {
		fitted, err := FitFactorAnalysis(t.Context(), rows, 1, c.o)
		wantError(t, err, c.says)
		of, err := FactorAnalysisOf(t.Context(), ability, 1, c.o)
		wantError(t, err, c.says)
		if fitted != nil || of != nil {
			t.Errorf("with the error %v, a model is returned", err)
		}
	}
	for _, c := range []struct {
		covariance []float64
		says       string
	}{
		{[]float64{1, 0.9, 0.9, 0.9, 1, -0.9, 0.9, -0.9, 1}, "has the eigenvalue -0.8, but covariances have none below 0"},
		{[]float64{1, 0.1, 0.1, 0.1, -1, 0.1, 0.1, 0.1, 1}, "the covariance of variables 2 and 2 is -1"},
		{[]float64{1, 0.1, 0.1, 0.1, 1, math.NaN(), 0.1, math.NaN(), 1}, "the covariance of variables 3 and 2 is NaN"},
		{[]float64{math.Inf(1), 0.1, 0.1, 0.1, 1, 0.1, 0.1, 0.1, 1}, "the covariance of variables 1 and 1 is +Inf"},
	} {
		_, err := FactorAnalysisOf(t.Context(), mat.NewSymDense(3, c.covariance), 1, FactorAnalysisOptions{})
		wantError(t, err, c.says)
	}
}

// The gradient agrees with finite differences of the mean log p.
func TestGradientIsOfLogP(t *testing.T) {
	m, rows := drawn(t, 5, 2, 30)
	mean, variance := meanOf(rows)
	copy(m.mean, mean)
	copy(m.variance, variance)
	m.data = momentsOf(rows, mean)
	m.loadings[0]++ // away from the maximum
	byW, byNoise, _ := m.gradient()
	at := append(append([]float64{}, m.loadings...), m.noise...)
	numeric := fd.Gradient(nil, func(x []float64) float64 {
		copy(m.loadings, x[:10])
		copy(m.noise, x[10:])
		return stat.Mean(m.LogP(rows), nil)
	}, at, &fd.Settings{Formula: fd.Central})
	if got := append(byW.RawMatrix().Data, byNoise...); !floats.EqualApprox(got, numeric, 1e-7) {
		t.Errorf("the gradient is %v, by finite differences %v", got, numeric)
	}
}

// One factor with the correlations 0.8, 0.8 and 0.5 would have to explain 0.8·0.8/0.5 = 128% of the
// first variable. Its noise falls to the floor and is listed. Steps of EM never lower the likelihood,
// and end lower than L-BFGS.
func TestHeywoodCasesAreListed(t *testing.T) {
	s := mat.NewSymDense(3, []float64{1, 0.8, 0.8, 0.8, 1, 0.5, 0.8, 0.5, 1})
	m, err := FactorAnalysisOf(t.Context(), s, 1, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if heywood := m.Heywood(); len(heywood) != 1 || heywood[0] != 0 {
		t.Fatalf("Heywood cases are the variables %v, want 0", heywood)
	}
	wantNear(t, "noise on its floor", m.noise[0], 1e-3, 2e-6)
	em := newModel(1, false, m.shape)
	em.begin(m.mean, m.variance, 1)
	em.data = m.data
	before := math.Inf(-1)
	for range 100 {
		if err := em.em(1e-3); err != nil {
			t.Fatal(err)
		}
		logP := em.logP()
		if logP < before-1e-12 {
			t.Fatalf("a step of EM lowers log p from %v to %v", before, logP)
		}
		before = logP
	}
	if m.logP() < before {
		t.Errorf("L-BFGS ends at log p = %v, EM at %v", m.logP(), before)
	}
}

// L-BFGS leaves the floor where the likelihood rises with ψ: after it has converged, EM raises log p no further.
func TestTheFloorHoldsNoVariableThatShouldRise(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 3))
		rows := make([][]float64, 30)
		for r := range rows {
			for range 8 {
				rows[r] = append(rows[r], random.NormFloat64())
			}
		}
		floor := []float64{0.1, 0.2, 0.5}[seed%3]
		m := newModel(3, false, dataset.Shape{Height: 1, Width: 8})
		mean, variance := meanOf(rows)
		m.begin(mean, variance, seed)
		m.data = momentsOf(rows, m.mean)
		for range []int{0, 10}[seed%2] {
			if err := m.em(floor); err != nil {
				t.Fatal(err)
			}
		}
		converged, err := m.climb(t.Context(), floor, 10_000)
		if err != nil || !converged {
			t.Fatalf("seed %d: L-BFGS has not converged (%v)", seed, err)
		}
		before := m.logP()
		for range 200 {
			if err := m.em(floor); err != nil {
				t.Fatal(err)
			}
		}
		if gain := m.logP() - before; gain > 1e-6 {
			t.Errorf("seed %d, floor %g: EM raises log p by %g more", seed, floor, gain)
		}
	}
}

// L-BFGS ends where the gradient with respect to W and ln ψ is 0, but for variables on the floor.
func TestFitEndsAtAMaximum(t *testing.T) {
	_, rows := drawn(t, 8, 2, 200)
	m, err := FitFactorAnalysis(t.Context(), rows, 2, FactorAnalysisOptions{})
	if err != nil {
		t.Fatal(err)
	}
	byW, byNoise, _ := m.gradient()
	floats.Mul(byNoise, m.noise)
	if most := max(mat.Norm(byW, 2), floats.Norm(byNoise, 2)); most > 1e-5 {
		t.Errorf("the gradient has the length %v", most)
	}
	if len(m.Heywood()) > 0 {
		t.Errorf("Heywood cases are %v, want none", m.Heywood())
	}
}

// A constant variable that is dropped leaves the densities of the others as they are.
func TestDroppedConstantsLeaveDensities(t *testing.T) {
	_, rows := drawn(t, 5, 1, 60)
	var wide [][]float64
	for _, row := range rows {
		wide = append(wide, append([]float64{0.1}, row...))
	}
	o := FactorAnalysisOptions{DropConstant: true, Starts: 1}
	m, err := FitFactorAnalysis(t.Context(), rows, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	with, err := FitFactorAnalysis(t.Context(), wide, 1, o)
	if err != nil {
		t.Fatal(err)
	}
	if !floats.EqualApprox(m.LogP(rows), with.LogP(wide), 1e-6) {
		t.Errorf("log p of rows with a constant is %v, without it %v", with.LogP(wide)[:3], m.LogP(rows)[:3])
	}
	before := with.LogP(wide)[0]
	wide[0][0] = 0.7 // which training rows never have
	if after := with.LogP(wide)[0]; after != before {
		t.Errorf("another value of the constant changes log p from %v to %v", before, after)
	}
	if with.Reconstruct(wide)[0][0] != 0.1 || m.Free() != with.Free() {
		t.Error("the constant is not reconstructed, or has parameters")
	}
}

// Held-out log p finds the number of factors that rows were drawn with, for both models.
func TestChooseFindsTheNumberOfFactors(t *testing.T) {
	_, rows := drawn(t, 9, 3, 400)
	fit := func(rows [][]float64, q int) (*Model, error) {
		return FitFactorAnalysis(t.Context(), rows, q, FactorAnalysisOptions{Starts: 1})
	}
	c, err := Choose(t.Context(), rows, fit, []int{1, 2, 3, 4, 5}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	bic := c.Candidates[0]
	for _, of := range c.Candidates {
		if of.BIC < bic.BIC {
			bic = of
		}
	}
	if c.Sparing != 3 || bic.Factors != 3 || c.Best < 3 {
		t.Errorf("the choice is %+v, want 3 factors", c)
	}
	_, err = Choose(t.Context(), rows, fit, []int{1}, 1, 1)
	wantError(t, err, "1 folds of 400 rows")
	once := slices.Clone(rows)
	for r := range once {
		once[r] = append(slices.Clone(rows[r]), 0)
	}
	once[7][9] = 1
	_, err = Choose(t.Context(), once, func(rows [][]float64, q int) (*Model, error) {
		return FitFactorAnalysis(t.Context(), rows, q, FactorAnalysisOptions{Starts: 1, DropConstant: true})
	}, []int{1}, 4, 1)
	wantError(t, err, "of 4: variable 10 varies only in the held-out rows")
	missing := slices.Clone(rows)
	missing[7] = slices.Repeat([]float64{math.NaN()}, 9)
	_, err = Choose(t.Context(), missing, fit, []int{1}, 4, 1)
	wantError(t, err, "variable 1 of row 8 is NaN")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Choose(cancelled, rows, fit, []int{1}, 4, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a choice that is cancelled has the error %v", err)
	}
}

// The sparing choice is a number of factors whose held-out log p is lower by less than a standard error.
func TestTheSparingChoiceIsWithinAnError(t *testing.T) {
	_, rows := drawn(t, 5, 1, 2_000)
	worse := map[int]float64{1: 5, 2: 1.1, 3: 1}
	c, err := Choose(t.Context(), rows, func(rows [][]float64, q int) (*Model, error) {
		m, err := FitPPCA(rows, 1)
		if err == nil {
			floats.Scale(worse[q], m.noise)
		}
		return m, err
	}, []int{1, 2, 3}, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if c.Best != 3 || c.Sparing != 2 {
		t.Errorf("the best choice is %d and the sparing one %d, want 3 and 2", c.Best, c.Sparing)
	}
}

func TestIdentified(t *testing.T) {
	for _, c := range []struct {
		d, q int
		is   bool
	}{{6, 3, true}, {6, 4, false}, {3, 1, true}, {5, 2, true}, {5, 3, false}} {
		if got := Identified(c.d, c.q); got != c.is {
			t.Errorf("%d factors of %d variables are identified: %v", c.q, c.d, got)
		}
	}
}

// If data follow probabilistic PCA, the test rejects it as often as its level says, within four standard errors.
func TestOfTrueProbabilisticPCA(t *testing.T) {
	const rows, variables, components, repeats, level = 500, 6, 2, 400, 0.05
	random := rand.New(rand.NewPCG(3, 0))
	loadings := make([]float64, variables*components)
	for i := range loadings {
		loadings[i] = random.NormFloat64()
	}
	rejected, statistic, freedom := 0, 0.0, 0
	for range repeats {
		data := make([][]float64, rows)
		for r := range data {
			data[r] = make([]float64, variables)
			h := [components]float64{random.NormFloat64(), random.NormFloat64()}
			for i := range data[r] {
				data[r][i] = loadings[i*components]*h[0] + loadings[i*components+1]*h[1] + 0.5*random.NormFloat64()
			}
		}
		m, err := FitPPCA(data, components)
		if err != nil {
			t.Fatal(err)
		}
		mean, _ := meanOf(data)
		test, err := m.Test(momentsOf(data, mean).matrix, rows)
		if err != nil {
			t.Fatal(err)
		}
		statistic, freedom = statistic+test.ChiSquared/repeats, test.Freedom
		if test.P < level {
			rejected++
		}
	}
	share, se := float64(rejected)/repeats, math.Sqrt(level*(1-level)/repeats)
	if math.Abs(share-level) > 4*se || math.Abs(statistic-float64(freedom)) > 4*math.Sqrt(2*float64(freedom)/repeats) {
		t.Errorf("%.3f of the tests reject, mean χ² %.2f with %d degrees of freedom", share, statistic, freedom)
	}
}

// Rows that no model can be fitted to are refused by their number, before anything is computed.
func TestRowsThatNoModelFits(t *testing.T) {
	for says, rows := range map[string][][]float64{
		"row 2 has 1 variable": {{1, 2, 3}, {1}, {2, 2, 2}, {3, 1, 2}, {0, 1, 5}},
		"variable 2 of row 3":  {{1, 2, 3}, {1, 4, 0}, {2, math.NaN(), 2}, {3, 1, 2}, {0, 1, 5}},
		"no rows":              {},
	} {
		_, ppca := FitPPCA(rows, 1)
		_, analysis := FitFactorAnalysis(t.Context(), rows, 1, FactorAnalysisOptions{DropConstant: true})
		_, independent := FitIndependent(t.Context(), rows, 1, Logistic, 1)
		_, slow := FitSlow([][][]float64{rows, {{1, 2, 3}, {2, 2, 1}}}, 1, SlowOptions{})
		for name, err := range map[string]error{"PPCA": ppca, "factor analysis": analysis, "ICA": independent, "slow features": slow} {
			if (err == nil || !strings.Contains(err.Error(), says)) && !(name == "slow features" && len(rows) == 0) {
				t.Errorf("%s: error %v, want %q", name, err, says)
			}
		}
	}
}

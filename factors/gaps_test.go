package factors

import (
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// openSet returns rows of 5 variables with two factors, with a share of their values missing.
func openSet(t *testing.T, n int, share float64) *dataset.Set {
	t.Helper()
	m := newModel(2, false, dataset.Shape{Height: 1, Width: 5})
	copy(m.loadings, []float64{1, 0, 1, 0.5, -0.8, 1, 0.2, 1, 0.6, -0.7})
	copy(m.noise, []float64{0.3, 0.5, 0.4, 0.6, 0.2})
	copy(m.mean, []float64{1, -2, 0.5, 0, 3})
	rows, _ := m.Sample(n, 3)
	random := rand.New(rand.NewPCG(7, 0))
	for _, row := range rows {
		for i := range row {
			if random.Float64() < share {
				row[i] = math.NaN()
			}
		}
	}
	set, err := dataset.Spec{Name: "open", Gaps: true, Binarization: dataset.Real, Validation: new(0)}.FromRows(m.shape, rows, rows[:20])
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// openModel returns a model before its first step on the training rows of a set.
func openModel(t *testing.T, set *dataset.Set, shared bool) *Model {
	t.Helper()
	m := newModel(2, shared, set.Shape())
	if err := m.beginOn(set.Train(), 1); err != nil {
		t.Fatal(err)
	}
	m.see(set.Train())
	return m
}

// Log p of the observed values is the marginal density of the Gaussian, whatever stands in the place of the others.
func TestLogPOfObservedValues(t *testing.T) {
	set := openSet(t, 40, 0.4)
	m, rows := openModel(t, set, false), set.Test()
	got := m.logPObserved(rows)
	x, covariance := rows.Floats(), m.Covariance()
	for r := range rows.Rows {
		var seen []int
		for i := range 5 {
			if !rows.IsMissing(5*r + i) {
				seen = append(seen, i)
			}
		}
		want := 0.0
		if seen != nil {
			of, mean, at := mat.NewSymDense(len(seen), nil), make([]float64, len(seen)), make([]float64, len(seen))
			for a, i := range seen {
				mean[a], at[a] = m.mean[i], x[r][i]
				for b, j := range seen {
					of.SetSym(a, b, covariance.At(i, j))
				}
			}
			normal, _ := distmv.NewNormal(mean, of, nil)
			want = normal.LogProb(at)
		}
		if math.Abs(got[r]-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("row %d: %v, want %v", r, got[r], want)
		}
	}
	junk, reals := rows, slices.Clone(rows.Reals())
	for i, missing := range rows.Missing {
		if missing {
			reals[i] = 1e6
		}
	}
	junk.Values = dataset.Reals(rows.Units, reals)
	if !slices.Equal(m.logPObserved(junk), got) {
		t.Error("missing values count")
	}
	wantError(t, runs.CheckRows(5, false, rows), "the test rows have missing values")
}

// Scores by regression of rows with gaps are the means of the factors given the observed values, W_oᵀ Σ_oo⁻¹ (x_o − μ_o). A row
// without values has the scores 0 and log p 0, and Bartlett's scores are of complete rows.
func TestScoresOfObservedValues(t *testing.T) {
	set := openSet(t, 40, 0.4)
	m, rows := openModel(t, set, false), set.Test()
	for i := range 5 {
		rows.Missing[i] = true
	}
	for _, e := range m.Encodings()[:2] {
		got, err := e.Encode(t.Context(), rows, 0, 1)
		if e.Kind == "bartlett" {
			wantError(t, err, "complete rows are needed here")
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		x, covariance := rows.Floats(), m.Covariance()
		for r := range rows.Rows {
			inverse, loadings, offset := mat.NewDense(5, 5, nil), mat.DenseCopyOf(m.w()), mat.NewVecDense(5, nil)
			for i := range 5 {
				if inverse.Set(i, i, 1); rows.IsMissing(5*r + i) {
					loadings.SetRow(i, make([]float64, 2))
					continue
				}
				offset.SetVec(i, x[r][i]-m.mean[i])
				for j := range 5 {
					if !rows.IsMissing(5*r + j) {
						inverse.Set(i, j, covariance.At(i, j))
					}
				}
			}
			if err := inverse.Inverse(inverse); err != nil {
				t.Fatal(err)
			}
			var weighted, want mat.VecDense
			weighted.MulVec(inverse, offset)
			want.MulVec(loadings.T(), &weighted)
			for k, score := range got[r] {
				wantNear(t, "a score", score, want.AtVec(k), 1e-9)
			}
		}
	}
	if logP := m.logPObserved(rows)[0]; logP != 0 || math.Signbit(logP) {
		t.Errorf("log p of no values is %v", logP)
	}
}

// The gradient of log p of observed values agrees with finite differences.
func TestGradientOfObservedValues(t *testing.T) {
	set := openSet(t, 30, 0.3)
	m := openModel(t, set, false)
	byW, byNoise, byMean := m.gradient()
	at := slices.Concat(m.loadings, m.noise, m.mean)
	numeric := fd.Gradient(nil, func(x []float64) float64 {
		copy(m.loadings, x[:10])
		copy(m.noise, x[10:15])
		copy(m.mean, x[15:])
		return stat.Mean(m.logPObserved(set.Train()), nil)
	}, at, &fd.Settings{Formula: fd.Central})
	if got := slices.Concat(byW.RawMatrix().Data, byNoise, byMean); !floats.EqualApprox(got, numeric, 1e-6) {
		t.Errorf("the gradient is %v, by finite differences %v", got, numeric)
	}
}

// Steps of EM never lower log p of observed values, and end where L-BFGS ends. Complete rows give the model of other training.
func TestEMWithGaps(t *testing.T) {
	for _, share := range []float64{0, 0.3} {
		for _, shared := range []bool{false, true} {
			set := openSet(t, 100, share)
			m := openModel(t, set, shared)
			before := m.logP()
			if m.open == nil {
				m.open = openRowsOf(set.Train())
			}
			for range 1000 {
				if err := m.em(1e-3); err != nil {
					t.Fatal(err)
				}
				logP := m.logP()
				if logP < before-1e-12 {
					t.Fatalf("a step of EM lowers log p from %v to %v", before, logP)
				}
				before = logP
			}
			want := openModel(t, set, shared)
			var err error
			switch {
			case !shared:
				_, err = want.climb(t.Context(), 1e-3, 2000)
			case share == 0:
				err = want.closedForm()
			default:
				_, byNoise, byMean := m.gradient()
				if g := append(byMean, floats.Sum(byNoise)); floats.Norm(g, 2) > 1e-4 {
					t.Errorf("PPCA ends with the gradient %v", g)
				}
				continue
			}
			if err != nil || math.Abs(m.logP()-want.logP()) > 1e-6 || !floats.EqualApprox(m.mean, want.mean, 1e-2) {
				t.Errorf("share %v, shared %v: EM ends at %v, not at %v, %v", share, shared, m.logP(), want.logP(), err)
			}
		}
	}
}

// Families train and evaluate on rows with gaps, resume from a checkpoint, and refuse what needs complete rows.
func TestFamiliesTrainOnGaps(t *testing.T) {
	set := openSet(t, 200, 0.3)
	e := FactorAnalysis.Experiment(set)
	e.Settings.Factors, e.Epochs = 2, 2
	run, err := e.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	p := PPCA.Experiment(set)
	p.Settings.Components, p.Epochs = 2, 3
	wantError(t, p.Check(set), "values are missing: use em = true (--em)")
	p.Settings.EM = true
	other, err := p.Train(t.Context(), set, t.TempDir(), runs.Quiet)
	if err != nil {
		t.Fatal(err)
	}
	fa, _, err := run.Model().LogPOfRows(t.Context(), runs.EvaluationOptions{Rows: set.Test()})
	all, failure := run.Model().Estimate(t.Context(), set.Test(), 0, 0, nil)
	if err != nil || failure != nil || math.Abs(all["log_p"].Value-stat.Mean(fa, nil)) > 1e-12 {
		t.Error(all, err, failure)
	}
	if baseline := e.Baseline(set, set.Test()).Factorized.Value; !(all["log_p"].Value > baseline) {
		t.Errorf("log p %v is below %v of independent variables", all["log_p"].Value, baseline)
	}
	ppca, _ := other.Model().Estimate(t.Context(), set.Test(), 0, 0, nil)
	if ppca["log_p"].Value > all["log_p"].Value {
		t.Errorf("probabilistic PCA has log p %v, above %v of the factor analysis", ppca["log_p"].Value, all["log_p"].Value)
	}
	dir := filepath.Join(t.TempDir(), "halves") // a run that is interrupted ends alike
	ctx, cancel := context.WithCancel(t.Context())
	_, _ = p.Train(ctx, set, dir, stopping(cancel))
	again, err := p.Train(t.Context(), set, dir, runs.Quiet)
	if err != nil || !slices.Equal(again.Model().loadings, other.Model().loadings) {
		t.Error("a resumed run ends elsewhere:", err)
	}
	ica := ICA.Experiment(set)
	wantError(t, ica.Check(set), "an analysis of independent components learns only from complete rows")
}

// stopping ends training after its first epoch.
type stopping func()

func (stopping) Begin(runs.Plan)      {}
func (stopping) Step(runs.Progress)   {}
func (s stopping) Epoch(_ runs.Epoch) { s() }
func (stopping) End(error)            {}

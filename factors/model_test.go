package factors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distmv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// glyphs opens grey glyphs of 14×14 pixels, 70 of which are constant in 300 training rows.
func glyphs(t *testing.T, rows int) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: rows, Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// drawn returns a model with drawn parameters, and rows of it.
func drawn(t *testing.T, d, q, rows int) (*Model, [][]float64) {
	t.Helper()
	random := rand.New(rand.NewPCG(3, uint64(d)))
	m := newModel(q, false, dataset.Shape{Height: 1, Width: d})
	for i := range m.mean {
		m.mean[i], m.noise[i] = random.NormFloat64(), 0.2+random.Float64()
	}
	for i := range m.loadings {
		m.loadings[i] = random.NormFloat64()
	}
	m.canonical()
	x, _ := m.Sample(rows, 4)
	return m, x
}

func wantNear(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func fitPPCA(t *testing.T, rows [][]float64, components int) *Model {
	t.Helper()
	m, err := FitPPCA(rows, components)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Log p agrees with the Gaussian of gonum that has the whole covariance.
func TestLogPIsOfTheWholeCovariance(t *testing.T) {
	m, rows := drawn(t, 7, 3, 20)
	gaussian, ok := distmv.NewNormal(m.mean, m.Covariance(), nil)
	if !ok {
		t.Fatal("the covariance has no inverse")
	}
	for r, logP := range m.LogP(rows) {
		wantNear(t, "log p", logP, gaussian.LogProb(rows[r]), 1e-11)
	}
}

// The posterior agrees with the conditional Gaussian of the joint covariance of h and x.
func TestPosteriorIsTheConditionalOfTheJoint(t *testing.T) {
	m, rows := drawn(t, 5, 2, 3)
	q, d := 2, 5
	joint := mat.NewSymDense(q+d, nil)
	c := m.Covariance()
	for i := range q + d {
		for j := i; j < q+d; j++ {
			switch {
			case j < q && i == j:
				joint.SetSym(i, j, 1)
			case i < q && j >= q:
				joint.SetSym(i, j, m.Loadings().At(j-q, i))
			case i >= q:
				joint.SetSym(i, j, c.At(i-q, j-q))
			}
		}
	}
	gaussian, ok := distmv.NewNormal(append(make([]float64, q), m.mean...), joint, nil)
	if !ok {
		t.Fatal("the covariance has no inverse")
	}
	means, covariance := m.Posterior(rows)
	for r, row := range rows {
		conditional, ok := gaussian.ConditionNormal([]int{2, 3, 4, 5, 6}, row, nil)
		if !ok {
			t.Fatal("the conditional has no inverse")
		}
		for k, mean := range conditional.Mean(nil) {
			wantNear(t, "E[h|x]", means.At(r, k), mean, 1e-12)
		}
		var of mat.SymDense
		conditional.CovarianceMatrix(&of)
		if !mat.EqualApprox(covariance, &of, 1e-12) {
			t.Errorf("the covariance of h given x is %v, want %v", mat.Formatted(covariance), mat.Formatted(&of))
		}
	}
}

func TestSamplesHaveTheMomentsOfTheModel(t *testing.T) {
	m, rows := drawn(t, 4, 2, 100_000)
	mean, _ := meanOf(rows)
	s, c := momentsOf(rows, mean).matrix, m.Covariance()
	for i := range 4 {
		wantNear(t, "a mean of samples", mean[i], m.mean[i], 5*math.Sqrt(c.At(i, i)/1e5))
		for j := range 4 {
			wantNear(t, "a covariance of samples", s.At(i, j), c.At(i, j), 5*math.Sqrt(2*c.At(i, i)*c.At(j, j)/1e5))
		}
	}
}

// Scikit-learn 1.9.1: PCA(q, svd_solver="full").fit(X).score(X) of the same rows. It divides
// covariances by n−1, which makes C larger by n/(n−1).
func TestPPCAHasTheScoreOfScikitLearn(t *testing.T) {
	rows := glyphs(t, 300).Train().Floats()
	for q, want := range map[int]float64{2: 51.45355027805621, 5: 75.39098991481143, 10: 107.69074299154859} {
		m := fitPPCA(t, rows, q)
		floats.Scale(math.Sqrt(300./299), m.loadings)
		floats.Scale(300./299, m.noise)
		wantNear(t, "the score", stat.Mean(m.LogP(rows), nil), want, 1e-9)
	}
}

// Log p of the training rows at the maximum is −½(D ln 2π + Σ ln λⱼ + (D−Q) ln σ² + D).
func TestClosedFormHasTheLikelihoodOfItsEigenvalues(t *testing.T) {
	_, rows := drawn(t, 6, 2, 50)
	m := fitPPCA(t, rows, 2)
	values, _, err := m.data.principal(2)
	if err != nil {
		t.Fatal("no eigenvalues")
	}
	want := 6*math.Log(2*math.Pi) + 4*math.Log(stat.Mean(values[2:], nil)) + 6
	for _, λ := range values[:2] {
		want += math.Log(λ)
	}
	wantNear(t, "log p", stat.Mean(m.LogP(rows), nil), -want/2, 1e-11)
	points, distances := m.Project(rows)
	squares := 0.0
	for r, d := range distances {
		squares += d * d / 50
		wantNear(t, "a distance", floats.Distance(points[r], rows[r], 2), d, 1e-12)
	}
	wantNear(t, "the squared distance", squares, floats.Sum(values[2:]), 1e-11)
	nearer := func(of [][]float64) float64 { return floats.Distance(of[0], m.mean, 2) }
	if reconstruction := m.Reconstruct(rows); nearer(reconstruction) >= nearer(points) {
		t.Error("the reconstruction is not nearer to the mean than the projection")
	}
}

// EM of probabilistic PCA never lowers the likelihood, and ends at the closed form.
func TestEMReachesTheClosedForm(t *testing.T) {
	_, rows := drawn(t, 6, 2, 50)
	want := fitPPCA(t, rows, 2)
	m, err := prepared(rows, 2, true, true, 5)
	if err != nil {
		t.Fatal(err)
	}
	before := math.Inf(-1)
	for range 500 {
		if err := m.em(0); err != nil {
			t.Fatal(err)
		}
		logP := m.logP()
		if logP < before-1e-12 {
			t.Fatalf("a step lowers log p from %v to %v", before, logP)
		}
		before = logP
	}
	if !mat.EqualApprox(m.Loadings(), want.Loadings(), 1e-6) || !floats.EqualApprox(m.noise, want.noise, 1e-8) {
		t.Errorf("EM ends at W = %v, σ² = %v, want %v, %v", m.loadings, m.noise[0], want.loadings, want.noise[0])
	}
}

// Moments of few rows, held as rows, agree with moments held as a matrix.
func TestMomentsOfRowsAndOfTheirMatrixAgree(t *testing.T) {
	rows := glyphs(t, 30).Train().Floats()
	mean, _ := meanOf(rows)
	few := momentsOf(rows, mean)
	if few.matrix != nil {
		t.Fatal("30 rows of 196 variables are held as a matrix")
	}
	s := mat.NewSymDense(196, nil)
	s.SymOuterK(1, few.root.T())
	whole := &moments{matrix: s}
	a, aVectors, errA := few.principal(5)
	b, bVectors, errB := whole.principal(5)
	if errA != nil || errB != nil || !floats.EqualApprox(a[:29], b[:29], 1e-12) {
		t.Errorf("the eigenvalues of the rows are %v, of the matrix %v", a, b[:30])
	}
	if sine := apart(aVectors, bVectors); sine > 1e-10 {
		t.Errorf("the eigenvectors are %v apart", sine)
	}
	if !mat.EqualApprox(few.times(aVectors), whole.times(aVectors), 1e-12) {
		t.Error("products of S differ")
	}
}

// apart returns the root of the sum of the squared sines of the principal angles between the spans of two matrices.
func apart(a, b *mat.Dense) float64 {
	var along, rest mat.Dense
	qa, qb := basis(a), basis(b)
	along.Mul(qa.T(), qb)
	rest.Mul(qa, &along)
	rest.Sub(qb, &rest)
	return mat.Norm(&rest, 2)
}

// Canonical loadings have WᵀΨ⁻¹W diagonal and falling, and their largest entries positive.
func TestLoadingsAreCanonical(t *testing.T) {
	m, _ := drawn(t, 7, 3, 1)
	w, weighted := m.Loadings(), m.posterior().weighted
	var product mat.Dense
	product.Mul(w.T(), weighted)
	for i := range 3 {
		column := mat.Col(nil, i, w)
		if floats.Max(column) < -floats.Min(column) {
			t.Errorf("the largest entry of column %d is negative: %v", i, column)
		}
		if i > 0 && product.At(i, i) > product.At(i-1, i-1) {
			t.Errorf("the diagonal rises: %v", mat.Formatted(&product))
		}
		for j := range i {
			wantNear(t, "an entry beside the diagonal", product.At(i, j), 0, 1e-12)
		}
	}
}

// Varimax leaves WWᵀ as it is, and in two dimensions is as good as every angle of a grid.
func TestVarimaxIsBestOfAllAngles(t *testing.T) {
	m, _ := drawn(t, 8, 2, 1)
	w := m.Loadings()
	criterion := func(l *mat.Dense) (sum float64) {
		for k := range 2 {
			squares := mat.Col(nil, k, l)
			floats.Mul(squares, squares)
			sum += floats.Dot(squares, squares)/8 - math.Pow(stat.Mean(squares, nil), 2)
		}
		return sum
	}
	rotated, rotation := Varimax(w, false)
	var turned, back mat.Dense
	turned.Mul(w, rotation)
	back.Mul(rotation.T(), rotation)
	if !mat.EqualApprox(&turned, rotated, 1e-12) || !mat.EqualApprox(&back, mat.NewDiagDense(2, []float64{1, 1}), 1e-12) {
		t.Errorf("the loadings are not a rotation of the loadings given, by %v", mat.Formatted(rotation))
	}
	for step := range 1000 {
		sin, cos := math.Sincos(float64(step) / 1000 * math.Pi / 2)
		turned.Mul(w, mat.NewDense(2, 2, []float64{cos, -sin, sin, cos}))
		if criterion(&turned) > criterion(rotated)+1e-9 {
			t.Fatalf("the angle %v has the criterion %v, varimax %v", float64(step)/1000*math.Pi/2, criterion(&turned), criterion(rotated))
		}
	}
	normalized, _ := Varimax(w, true)
	scaled := mat.DenseCopyOf(w)
	floats.Scale(7, scaled.RawRowView(0))
	if other, _ := Varimax(scaled, true); !floats.EqualApprox(normalized.RawRowView(1), other.RawRowView(1), 1e-6) {
		t.Error("with rows normalised, the length of a row turns the factors")
	}
}

// Rows need not be centred: what is added to all of them changes the mean alone.
func TestTheCentreOfRowsIsTheMean(t *testing.T) {
	_, rows := drawn(t, 6, 2, 300)
	moved := [][]float64{}
	for _, row := range rows {
		moved = append(moved, slices.Clone(row))
		floats.AddConst(1000, moved[len(moved)-1])
	}
	m, of := fitPPCA(t, rows, 2), fitPPCA(t, moved, 2)
	wantNear(t, "the mean", of.Mean()[0], m.Mean()[0]+1000, 1e-9)
	wantNear(t, "log p", floats.Sum(of.LogP(moved)), floats.Sum(m.LogP(rows)), 1e-7)
	wantNear(t, "a loading", of.Loadings().At(0, 0), m.Loadings().At(0, 0), 1e-9)
}

// Without rows there is nothing to return, and no reason to panic.
func TestNoRowsGiveNothing(t *testing.T) {
	of, rows := drawn(t, 4, 2, 10)
	independent := fitICA(t, rows, 2, Logistic)
	words, _ := dictionary(4, 3, 10, 0.1)
	means, covariance := of.Posterior(nil)
	points, distances := of.Project(nil)
	samples, expected := of.Sample(0, 1)
	code := words.Encode(nil)
	for what, n := range map[string]int{
		"reconstructions": len(of.Reconstruct(nil)), "points": len(points) + len(distances), "samples": len(samples) + len(expected),
		"wrong sides": len(independent.WrongSide(nil)), "Gaussian sources": len(independent.Gaussian(nil)),
		"objectives": len(code.Objective), "reconstructions by atoms": len(words.Reconstruct(nil)),
	} {
		if n != 0 {
			t.Errorf("without rows there are %d %s", n, what)
		}
	}
	if !means.IsEmpty() || covariance.SymmetricDim() != 2 || !independent.Sources(nil).IsEmpty() || !code.H.IsEmpty() {
		t.Error("without rows, matrices of values per row are not empty, or the covariance is missing")
	}
}

func TestWhatCannotBeFittedIsRefused(t *testing.T) {
	_, rows := drawn(t, 4, 2, 10)
	constant := [][]float64{}
	for _, row := range rows {
		constant = append(constant, append(slices.Clone(row), 0.1))
	}
	flat := [][]float64{}
	for r := range 10 {
		flat = append(flat, []float64{float64(r), 2 * float64(r), 3 * float64(r), -float64(r)})
	}
	fa := func(rows [][]float64, q int) (*Model, error) {
		return FitFactorAnalysis(t.Context(), rows, q, FactorAnalysisOptions{})
	}
	for _, c := range []struct {
		fit  Fitter
		rows [][]float64
		q    int
		says string
	}{
		{FitPPCA, rows, 0, "0 factors of 4 variables: give at least 1"},
		{FitPPCA, rows, 4, "4 factors of 4 variables: give at least 1, and fewer than the variables"},
		{FitPPCA, rows[:4], 3, "3 factors of 4 training rows"},
		{FitPPCA, nil, 1, "no rows"},
		{FitPPCA, flat, 1, "no variance beyond 1 component: use fewer, or bring the variables to one scale"},
		{fa, rows, 2, "2 factors of 4 variables are not identified: they have more parameters than the covariance has distinct entries; use fewer factors, or more variables"},
		{fa, constant, 2, "1 variable of 5 constant in the training rows, the first is variable 5"},
	} {
		m, err := c.fit(c.rows, c.q)
		wantError(t, err, c.says)
		if m != nil {
			t.Errorf("with the error %v, a model is returned", err)
		}
	}
	m, err := prepared(flat, 1, true, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	copy(m.loadings, []float64{math.Sqrt(m.variance[0]), math.Sqrt(m.variance[1]), math.Sqrt(m.variance[2]), -math.Sqrt(m.variance[3])})
	for i := range m.noise {
		m.noise[i] = 1e-14
	}
	wantError(t, m.em(0), "no variance beyond 1 component: use fewer, or bring the variables to one scale")
}

// Draws of missing variables have the mean and the covariance of the normal distribution given the known ones, and the
// expected values are its mean.
func TestInpaintingIsTheConditionalNormal(t *testing.T) {
	const n, d = 20_000, 4
	m, x := drawn(t, d, 2, 1)
	row := dataset.Split{Name: "test", Shape: m.shape, Values: dataset.Reals(d, make([]float32, d))}
	for i, v := range x[0] {
		x[0][i] = float64(float32(v))
		row.Reals()[i] = float32(v)
	}
	for _, missing := range [][]int{{1, 3}, {0}, {0, 1, 2, 3}} {
		mask, known := make(dataset.Mask, d), []int{}
		for i := range mask {
			if mask[i] = slices.Contains(missing, i); !mask[i] {
				known = append(known, i)
			}
		}
		want, _ := distmv.NewNormal(m.Mean(), m.Covariance(), nil)
		if len(known) > 0 {
			var values []float64
			for _, i := range known {
				values = append(values, x[0][i])
			}
			want, _ = want.ConditionNormal(known, values, nil)
		}
		mean, covariance := want.Mean(nil), new(mat.SymDense)
		want.CovarianceMatrix(covariance)
		draws, err := m.Inpainting().Fill(t.Context(), row, mask, n, runs.Chain{Draws: true}, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		values := mat.NewDense(n, len(missing), nil)
		for r, image := range draws.Images {
			for k, i := range missing {
				values.Set(r, k, image.Values[0][i])
			}
			if len(known) > 0 && image.Values[0][known[0]] != x[0][known[0]] {
				t.Fatalf("a known variable became %v", image.Values[0])
			}
		}
		var got mat.SymDense
		stat.CovarianceMatrix(&got, values, nil)
		for k := range missing {
			wantNear(t, "the mean", stat.Mean(mat.Col(nil, k, values), nil), mean[k], 4.5*math.Sqrt(covariance.At(k, k)/n))
			for l := range missing {
				se := math.Sqrt((covariance.At(k, k)*covariance.At(l, l) + covariance.At(k, l)*covariance.At(k, l)) / n)
				wantNear(t, "the covariance", got.At(k, l), covariance.At(k, l), 4.5*se)
			}
		}
		if len(known) == 0 {
			continue
		}
		expected, err := m.Inpainting().Fill(t.Context(), row, mask, 1, runs.Chain{}, 5, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, i := range missing {
			wantNear(t, "the expected value", expected.Images[0].Values[0][i], mean[k], 1e-9)
		}
	}
}

// Rows of finite numbers can have a covariance that is not finite.
func TestCovariancesThatAreNotFiniteAreRefused(t *testing.T) {
	rows := [][]float64{{1e200, 1}, {-1e200, 2}, {2e200, 1}, {1e200, 3}}
	_, fit := FitPPCA(rows, 1)
	_, independent := FitIndependent(t.Context(), rows, 1, Logistic, 1)
	for _, err := range []error{fit, independent} {
		wantError(t, err, "the covariance of the rows is +Inf in row 1 and column 1: bring the variables to a smaller scale")
	}
	_, x := drawn(t, 6, 2, 50)
	m := fitPPCA(t, x, 2)
	for _, v := range []float64{math.NaN(), math.Inf(1)} {
		covariance := m.Covariance()
		covariance.SetSym(1, 2, v)
		_, err := m.Test(covariance, 50)
		wantError(t, err, fmt.Sprintf("the covariance is %v in row 2 and column 3: compute it from finite rows", v))
		func() {
			defer func() {
				wantError(t, fmt.Errorf("%v", recover()), fmt.Sprintf("factors: the matrix is %v in row 2 and column 3", v))
			}()
			basis(mat.DenseCopyOf(covariance))
		}()
	}
}

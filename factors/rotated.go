package factors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Promax returns loadings on oblique factors of variance 1, and the transformation: rotated = loadings · transformation. It
// regresses the fourth powers of varimax loadings, with their signs, on these loadings (Hendrickson and White 1964). The correlations of
// the factors are (TᵀT)⁻¹, for the transformation T. Promax returns an error if a factor has no loadings of its own.
func Promax(loadings mat.Matrix) (rotated, transformation *mat.Dense, err error) {
	start, rotation := Varimax(loadings, true)
	var target, inner, by mat.Dense
	target.Apply(func(_, _ int, v float64) float64 { return v * math.Abs(v*v*v) }, start)
	inner.Mul(start.T(), start)
	if err := by.Solve(&inner, mulT(start, &target)); err != nil {
		return nil, nil, fmt.Errorf("the loadings of some factors determine others: use fewer factors")
	}
	correlations, err := correlationsBy(&by)
	if err != nil {
		return nil, nil, err
	}
	_, q := by.Dims()
	for k := range q {
		column := mat.Col(nil, k, &by)
		floats.Scale(math.Sqrt(correlations.At(k, k)), column)
		by.SetCol(k, column)
	}
	transformation, rotated = new(mat.Dense), new(mat.Dense)
	transformation.Mul(rotation, &by)
	rotated.Mul(loadings, transformation)
	return rotated, transformation, nil
}

func mulT(a, b mat.Matrix) *mat.Dense {
	product := new(mat.Dense)
	product.Mul(a.T(), b)
	return product
}

// correlationsBy returns (TᵀT)⁻¹.
func correlationsBy(transformation mat.Matrix) (*mat.Dense, error) {
	return statistics.Inverse("the transformation of the factors", mulT(transformation, transformation))
}

// Rotations lists the rotations that Rotated takes.
func (m *Model) Rotations() []string { return []string{"varimax", "promax"} }

// Rotated lists encodings by rotated factors: scores, loadings, and the correlations of the factors. Varimax, with rows normalised, and
// Promax rotate the correlations of the variables with the factors. The factors are in decreasing order of the sums of their squared
// loadings, and the sum of their loadings is positive.
func (m *Model) Rotated(how string) ([]runs.Encoding, error) {
	covariance, scaled := m.Covariance(), mat.DenseCopyOf(m.w())
	for i := range m.mean {
		floats.Scale(math.Sqrt(inverse(covariance.At(i, i))), scaled.RawRowView(i))
	}
	rotated, by := Varimax(scaled, true)
	if how == "promax" {
		var err error
		if rotated, by, err = Promax(scaled); err != nil {
			return nil, err
		}
	}
	by = ordered(rotated, by)
	correlations, err := correlationsBy(by)
	if err != nil {
		return nil, err
	}
	back, err := statistics.Inverse("the transformation of the factors", by)
	if err != nil {
		return nil, err
	}
	var all []runs.Encoding
	for _, e := range m.Encodings() {
		encode := e.Encode
		switch e.Kind {
		case "regression", "bartlett":
			e.Encode = func(ctx context.Context, rows dataset.Split, samples int, seed uint64) ([][]float64, error) {
				scores, err := encode(ctx, rows, samples, seed)
				return transformed(scores, back.T(), m.factors), err
			}
		case "loadings":
			e.Encode = func(ctx context.Context, rows dataset.Split, samples int, seed uint64) ([][]float64, error) {
				loadings, err := encode(ctx, rows, samples, seed)
				return transformed(loadings, by, m.factors), err
			}
		default:
			continue
		}
		all = append(all, e)
	}
	return append(all, runs.Encoding{Kind: "correlations", Columns: names.Numbered("factor_", m.factors), Lines: "factor", Encode: func(context.Context, dataset.Split, int, uint64) ([][]float64, error) {
		return lines(correlations), nil
	}}), nil
}

// ordered returns a transformation with its columns in decreasing order of the squares of loadings, and with the signs of their sums.
func ordered(loadings, by *mat.Dense) *mat.Dense {
	_, q := loadings.Dims()
	order, squares := make([]int, q), make([]float64, q)
	for k := range q {
		column := mat.Col(nil, k, loadings)
		order[k], squares[k] = k, floats.Dot(column, column)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(squares[b], squares[a]) })
	sorted := mat.NewDense(q, q, nil)
	for k, from := range order {
		column := mat.Col(nil, from, by)
		floats.Scale(math.Copysign(1, mat.Sum(loadings.ColView(from))), column)
		sorted.SetCol(k, column)
	}
	return sorted
}

// transformed returns lines whose first q numbers are multiplied by a matrix.
func transformed(all [][]float64, by mat.Matrix, q int) [][]float64 {
	for _, line := range all {
		var product mat.VecDense
		product.MulVec(by.T(), mat.NewVecDense(q, line[:q]))
		copy(line, product.RawVector().Data)
	}
	return all
}

// Components are the eigenvalues of a correlation matrix, in decreasing order, beside the eigenvalues of independent normal variables
// in as many rows: their means, and their 95 % quantiles.
type Components struct{ Values, Means, Quantiles []float64 }

// Suggested returns the number of first eigenvalues above the quantiles (Horn 1965).
func (c Components) Suggested() (n int) {
	for n < len(c.Values) && c.Values[n] > c.Quantiles[n] {
		n++
	}
	return n
}

// ParallelAnalysis compares the covariance of n rows with the covariances of random tables, which it draws from the seed. It refuses
// variables that are constant, and fewer rows than variables.
func ParallelAnalysis(ctx context.Context, covariance mat.Symmetric, n, tables int, seed uint64) (c Components, err error) {
	d := covariance.SymmetricDim()
	if n <= d || tables < 1 {
		return c, fmt.Errorf("%s of %s, and %s: parallel analysis needs more rows than variables, and a table", names.Count(n, "row"), names.Count(d, "variable"), names.Count(tables, "random table"))
	}
	if c.Values, err = eigenvalues(covariance); err != nil {
		return c, err
	}
	random, drawn := rand.New(rand.NewPCG(seed, 3)), make([][]float64, d)
	for range tables {
		if err := ctx.Err(); err != nil {
			return Components{}, err
		}
		// The factor of a covariance of normal rows has normal numbers below its diagonal, and roots of χ² on it (Bartlett 1933).
		factor := mat.NewDense(d, d, nil)
		for i := range d {
			for j := range i {
				factor.Set(i, j, random.NormFloat64())
			}
			factor.Set(i, i, math.Sqrt(distuv.ChiSquared{K: float64(n - 1 - i), Src: random}.Rand()))
		}
		var of mat.SymDense
		of.SymOuterK(1, factor)
		values, err := eigenvalues(&of)
		if err != nil {
			return Components{}, err
		}
		for k, v := range values {
			drawn[k] = append(drawn[k], v)
		}
	}
	for _, values := range drawn {
		slices.Sort(values)
		c.Means, c.Quantiles = append(c.Means, stat.Mean(values, nil)), append(c.Quantiles, stat.Quantile(0.95, stat.LinInterp, values, nil))
	}
	return c, nil
}

// eigenvalues returns the eigenvalues of the correlations of a covariance, in decreasing order.
func eigenvalues(covariance mat.Symmetric) ([]float64, error) {
	correlations := mat.NewSymDense(covariance.SymmetricDim(), nil)
	for i := range covariance.SymmetricDim() {
		for j := range i + 1 {
			correlations.SetSym(i, j, covariance.At(i, j)/math.Sqrt(covariance.At(i, i)*covariance.At(j, j)))
		}
	}
	eigen, err := statistics.Eigen("the matrix of correlations", correlations)
	if err != nil {
		return nil, fmt.Errorf("%w: leave out constant variables", err)
	}
	values := eigen.Values(nil)
	slices.Reverse(values)
	return values, nil
}

// judgements lists encodings of the fit and of the number of factors, which describe the training rows.
func (m *Model) judgements() []runs.Encoding {
	covarianceOf := func(rows dataset.Split) (mat.Symmetric, int, error) {
		if err := runs.CheckRows(m.shape.Units(), false, rows); err != nil {
			return nil, 0, err
		}
		mean, _, _ := observedMeans(rows)
		of := momentsOf(rows.Floats(), mean, rows.MeanWeights()...)
		if of.matrix == nil {
			return nil, 0, fmt.Errorf("%s of %s have no covariance with an inverse: use more rows", names.Count(rows.Rows, "row"), names.Count(len(mean), "variable"))
		}
		return of.matrix, rows.Rows, nil
	}
	return []runs.Encoding{
		{Kind: "fit", Columns: []string{"rows", "chi_squared", "freedom", "p", "bic"}, Lines: "model", Training: true, Encode: func(_ context.Context, rows dataset.Split, _ int, _ uint64) ([][]float64, error) {
			covariance, n, err := covarianceOf(rows)
			if err != nil {
				return nil, err
			}
			test, err := m.Test(covariance, n)
			return [][]float64{{float64(n), test.ChiSquared, float64(test.Freedom), test.P, test.ChiSquared - float64(test.Freedom)*math.Log(float64(n))}}, err
		}},
		{Kind: "parallel", Columns: []string{"eigenvalue", "random_mean", "random_95", "suggested"}, Samples: 100, Lines: "component", Training: true, Encode: func(ctx context.Context, rows dataset.Split, tables int, seed uint64) (all [][]float64, err error) {
			covariance, n, err := covarianceOf(rows)
			if err != nil {
				return nil, err
			}
			c, err := ParallelAnalysis(ctx, covariance, n, tables, seed)
			for k, v := range c.Values {
				suggested := 0.0
				if k < c.Suggested() {
					suggested = 1
				}
				all = append(all, []float64{v, c.Means[k], c.Quantiles[k], suggested})
			}
			return all, err
		}},
	}
}

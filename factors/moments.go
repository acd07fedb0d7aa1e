package factors

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// moments holds the covariance S of n rows, with the divisor n. It is stored as the D×D matrix, or as the
// centred rows if there are fewer rows than variables.
type moments struct {
	matrix *mat.SymDense // S, or nil
	root   *mat.Dense    // rows (x−b)/√n, if matrix is nil: S = rootᵀ root
}

// counted returns the rows with a weight above 0 and their weights, or all rows with the weight 1 if there are no
// weights.
func counted(rows [][]float64, weights []float64) (those [][]float64, of []float64) {
	if weights == nil {
		return rows, slices.Repeat([]float64{1}, len(rows))
	}
	for r, w := range weights {
		if w > 0 {
			those, of = append(those, rows[r]), append(of, w)
		}
	}
	return those, of
}

// partsOf returns the numbers by which the values of n rows are divided in a mean: n, or Σw/w for the weight w.
func partsOf(n int, weights []float64) []float64 {
	parts, sum := slices.Repeat([]float64{float64(n)}, n), floats.Sum(weights)
	for r, w := range weights {
		parts[r] = sum / w
	}
	return parts
}

// meanOf returns the means and the variances of the columns of rows. Each row counts by its weight, if there are any.
func meanOf(rows [][]float64, weights ...float64) (mean, variance []float64) {
	rows, weights = counted(rows, weights)
	d, n := len(rows[0]), floats.Sum(weights)
	mean, variance = make([]float64, d), make([]float64, d)
	for r, row := range rows {
		floats.AddScaled(mean, weights[r], row)
	}
	floats.Scale(1/n, mean)
	for r, row := range rows {
		for i, b := range mean {
			variance[i] += weights[r] * (row[i] - b) * (row[i] - b)
		}
	}
	floats.Scale(1/n, variance)
	for i, b := range mean {
		// Rounding of the mean can hide that a variable is constant.
		if variance[i] <= 1e-12*b*b && !slices.ContainsFunc(rows, func(row []float64) bool { return row[i] != rows[0][i] }) {
			mean[i], variance[i] = rows[0][i], 0
		}
	}
	return mean, variance
}

func momentsOf(rows [][]float64, mean []float64, weights ...float64) *moments {
	if weights != nil {
		rows, weights = counted(rows, weights)
		rows = shifted(centred(rows, mean), make([]float64, len(mean)))
		sum := floats.Sum(weights)
		for r, row := range rows {
			floats.Scale(math.Sqrt(weights[r]*float64(len(rows))/sum), row)
		}
		mean = make([]float64, len(mean))
	}
	if len(rows) >= len(mean) {
		return &moments{matrix: mat.NewSymDense(len(mean), kernels.Covariance(rows, mean))}
	}
	x := centred(rows, mean)
	x.Scale(1/math.Sqrt(float64(len(rows))), x)
	return &moments{root: x}
}

// times returns SA.
func (s *moments) times(a mat.Matrix) *mat.Dense {
	product := new(mat.Dense)
	if s.matrix != nil {
		product.Mul(s.matrix, a)
		return product
	}
	var inner mat.Dense
	inner.Mul(s.root, a)
	product.Mul(s.root.T(), &inner)
	return product
}

// principal returns the eigenvalues of S in decreasing order, and the first q eigenvectors as columns. If S is
// stored as n rows, it returns only the n eigenvalues that can differ from 0.
func (s *moments) principal(q int) (values []float64, vectors *mat.Dense, err error) {
	var all mat.Dense
	if s.matrix == nil {
		svd, err := statistics.SVD("the matrix of centred rows", s.root)
		if err != nil {
			return nil, nil, err
		}
		svd.VTo(&all)
		values = svd.Values(nil)
		for i, v := range values {
			values[i] = v * v
		}
		return values, mat.DenseCopyOf(all.Slice(0, all.RawMatrix().Rows, 0, q)), nil
	}
	eigen, err := statistics.Eigen("the covariance of the rows", s.matrix)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: bring the variables to a smaller scale", err)
	}
	eigen.VectorsTo(&all)
	values = eigen.Values(nil)
	slices.Reverse(values)
	d := len(values)
	vectors = mat.NewDense(d, q, nil)
	for i := range d {
		for k := range q {
			vectors.Set(i, k, all.At(i, d-1-k))
		}
	}
	return values, vectors, nil
}

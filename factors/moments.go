package factors

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// moments are the covariance S of rows, about their mean and divided by their number. It is held as
// the D×D matrix, or as the rows if these are fewer than the variables.
type moments struct {
	matrix *mat.SymDense // S, or nil
	root   *mat.Dense    // (x−b)/√n, a row each, if S is nil: S = rootᵀ root
}

// meanOf returns the means of the variables over rows, and their variances.
func meanOf(rows [][]float64) (mean, variance []float64) {
	d, n := len(rows[0]), float64(len(rows))
	mean, variance = make([]float64, d), make([]float64, d)
	for _, row := range rows {
		floats.AddScaled(mean, 1/n, row)
	}
	low, high := slices.Clone(rows[0]), slices.Clone(rows[0])
	for _, row := range rows {
		for i, v := range row {
			variance[i] += (v - mean[i]) * (v - mean[i]) / n
			low[i], high[i] = min(low[i], v), max(high[i], v)
		}
	}
	for i := range mean {
		if low[i] == high[i] { // which rounding of the mean would hide
			mean[i], variance[i] = low[i], 0
		}
	}
	return mean, variance
}

// momentsOf returns the moments of rows about a mean.
func momentsOf(rows [][]float64, mean []float64) *moments {
	x := centred(rows, mean)
	x.Scale(1/math.Sqrt(float64(len(rows))), x)
	if len(rows) < len(mean) {
		return &moments{root: x}
	}
	s := mat.NewSymDense(len(mean), nil)
	s.SymOuterK(1, x.T())
	return &moments{matrix: s}
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

// principal returns all eigenvalues of S that the rows leave, falling, and the first q eigenvectors as
// columns.
func (s *moments) principal(q int) (values []float64, vectors *mat.Dense, ok bool) {
	var all mat.Dense
	if s.matrix == nil {
		var svd mat.SVD
		if !svd.Factorize(s.root, mat.SVDThin) {
			return nil, nil, false
		}
		svd.VTo(&all)
		values = svd.Values(nil)
		for i, v := range values {
			values[i] = v * v
		}
	} else {
		var eigen mat.EigenSym
		if !eigen.Factorize(s.matrix, true) {
			return nil, nil, false
		}
		var rising mat.Dense
		eigen.VectorsTo(&rising)
		ascending := eigen.Values(nil)
		d := len(ascending)
		all.ReuseAs(d, d)
		for k := range d {
			values = append(values, ascending[d-1-k])
			all.SetCol(k, mat.Col(nil, d-1-k, &rising))
		}
	}
	d, _ := all.Dims()
	return values, mat.DenseCopyOf(all.Slice(0, d, 0, q)), true
}

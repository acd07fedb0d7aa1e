package factors

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// basis returns an orthonormal basis of the span of columns. It panics if an entry is not finite.
func basis(columns *mat.Dense) *mat.Dense {
	svd, err := statistics.SVD("the matrix", columns)
	if err != nil {
		panic("factors: " + err.Error())
	}
	u := new(mat.Dense)
	svd.UTo(u)
	return u
}

// Varimax returns loadings rotated so that the squares of each column vary the most (Kaiser 1958), and the
// rotation: rotated = loadings · rotation. If normalize is true, all rows count equally, whatever their
// length (Kaiser's normalisation). The rotation changes the factors, but not the density. Varimax rotates
// every pair of columns by the best angle, and repeats this until no angle exceeds 10⁻⁹, at most 1,000 times.
func Varimax(loadings mat.Matrix, normalize bool) (rotated, rotation *mat.Dense) {
	d, q := loadings.Dims()
	scaled := mat.DenseCopyOf(loadings)
	for i := range d {
		if row := scaled.RawRowView(i); normalize && floats.Norm(row, 2) > 0 {
			floats.Scale(1/floats.Norm(row, 2), row)
		}
	}
	rotation = mat.NewDense(q, q, nil)
	for k := range q {
		rotation.Set(k, k, 1)
	}
	for range 1000 {
		most := 0.0
		for k := range q {
			for j := range k {
				φ := varimaxAngle(mat.Col(nil, j, scaled), mat.Col(nil, k, scaled))
				turn(scaled, j, k, φ)
				turn(rotation, j, k, φ)
				most = max(most, math.Abs(φ))
			}
		}
		if most < 1e-9 {
			break
		}
	}
	rotated = new(mat.Dense)
	rotated.Mul(loadings, rotation)
	return rotated, rotation
}

// varimaxAngle returns the angle by which Varimax rotates two columns (Kaiser 1958).
func varimaxAngle(x, y []float64) float64 {
	var u, v, uu, uv float64
	for i := range x {
		a, b := x[i]*x[i]-y[i]*y[i], 2*x[i]*y[i]
		u, v, uu, uv = u+a, v+b, uu+a*a-b*b, uv+2*a*b
	}
	n := float64(len(x))
	return math.Atan2(uv-2*u*v/n, uu-(u*u-v*v)/n) / 4
}

func turn(m *mat.Dense, j, k int, φ float64) {
	of := func(k int) blas64.Vector { return m.ColView(k).(*mat.VecDense).RawVector() }
	sin, cos := math.Sincos(φ)
	blas64.Rot(of(j), of(k), cos, sin)
}

// FitTest is a likelihood-ratio test of factor analysis, or of probabilistic PCA, against a full covariance.
type FitTest struct {
	ChiSquared float64
	Freedom    int     // degrees of freedom
	P          float64 // probability of a χ² at least this large, if the model holds
}

// Test tests a model against the covariance of the n rows that it was fitted to, with the divisor n or n−1. It
// applies the correction for factor analysis (Bartlett 1951) or the one for equal smallest eigenvalues, which
// probabilistic PCA supposes (Bartlett 1954). It refuses a covariance of the wrong size or without an inverse, a
// model with too many factors to leave degrees of freedom, and so few rows that the correction is not positive.
func (m *Model) Test(covariance mat.Symmetric, n int) (FitTest, error) {
	d, q := len(m.mean), m.factors
	if is := covariance.SymmetricDim(); is != d {
		return FitTest{}, fmt.Errorf("the covariance has %d variables, but the model has %d", is, d)
	}
	freedom := ((d-q)*(d-q) - d - q) / 2
	if m.shared {
		freedom = (d - q + 2) * (d - q - 1) / 2
	}
	if freedom < 1 || !m.shared && !Identified(d, q) {
		return FitTest{}, fmt.Errorf("%d factors of %d variables leave no degrees of freedom to test: use fewer factors", q, d)
	}
	of, err := statistics.Cholesky("the covariance", covariance)
	if err != nil {
		return FitTest{}, fmt.Errorf("%w: compute it from finite rows, and leave out variables that others determine", err)
	}
	model, err := statistics.Cholesky("the covariance of the model", m.Covariance())
	if err != nil {
		return FitTest{}, fmt.Errorf("%w: leave out variables that others determine", err)
	}
	var ratio mat.Dense
	if err := model.SolveTo(&ratio, covariance); err != nil {
		return FitTest{}, err
	}
	discrepancy := model.LogDet() - of.LogDet() + ratio.Trace() - float64(d)
	factor := float64(n) - 1 - float64(2*d+5)/6 - 2*float64(q)/3
	if m.shared {
		rest := float64(d - q)
		factor = float64(n) - 1 - float64(q) - (2*rest+1+2/rest)/6
	}
	if factor <= 0 {
		return FitTest{}, fmt.Errorf("%s: too few for the χ² approximation; give more", names.Count(n, "row"))
	}
	chi := factor * discrepancy
	return FitTest{chi, freedom, distuv.ChiSquared{K: float64(freedom)}.Survival(chi)}, nil
}

// Identified reports whether the covariance of d variables determines a factor analysis with q
// factors, up to a rotation: (d−q)² ≥ d+q.
func Identified(d, q int) bool { return q <= d && (d-q)*(d-q) >= d+q }

// Package factors fits linear models of continuous data. A row x ∈ Rᴰ is a linear function of Q hidden factors
// and noise:
//
//	x = Wh + b + ε, h ~ N(0, I), ε ~ N(0, Ψ)
//
// where Ψ is diagonal. In factor analysis each variable has its own noise variance; in probabilistic PCA all
// variables share one, σ² (Tipping and Bishop 1999).
//
// Independent component analysis replaces the factors by sources that are not Gaussian. Sparse coding has
// more factors than variables, most of them 0 or small, and finds their most probable values. Slow feature
// analysis finds the linear or quadratic functions of a sequence that vary most slowly.
//
// The families PPCA, FactorAnalysis, ICA and SparseCoding train these models. FitPPCA, FitFactorAnalysis,
// FitIndependent and FitSlow fit a model to rows without a run. Values have the units of the rows, which in
// data sets are grey values from 0 to 1. Log-likelihoods are in nats per row. Covariances divide by the number
// of rows n, not by n−1.
package factors

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Model is a linear Gaussian model of D variables with Q factors: factor analysis or probabilistic
// PCA.
//
// In factor analysis, a variable that is constant in the training rows has no noise and no loadings, and is
// left out of densities. In probabilistic PCA it counts like any other variable, and makes σ² smaller.
type Model struct {
	shape    dataset.Shape
	factors  int
	shared   bool      // all variables share one noise variance: probabilistic PCA
	mean     []float64 // b, D
	loadings []float64 // W, D×Q
	noise    []float64 // the diagonal of Ψ, D; 0 for a constant variable
	variance []float64 // of the training rows, D
	onFloor  []float64 // 1 for a variable whose noise variance lies on its floor, otherwise 0, D

	data *moments  // of the training rows; nil before the first step
	open *openRows // the training rows instead, if values are missing
}

func newModel(factors int, shared bool, shape dataset.Shape) *Model {
	d := shape.Units()
	return &Model{shape: shape, factors: factors, shared: shared, mean: make([]float64, d), loadings: make([]float64, d*factors),
		noise: make([]float64, d), variance: make([]float64, d), onFloor: make([]float64, d)}
}

// Factors returns the number of factors Q.
func (m *Model) Factors() int { return m.factors }

// Mean returns b, the mean of the training rows.
func (m *Model) Mean() []float64 { return slices.Clone(m.mean) }

// Loadings returns W, D×Q with one column per factor; components_ of scikit-learn's FactorAnalysis is laid out
// as its transpose. The columns are in the canonical rotation: WᵀΨ⁻¹W is diagonal with decreasing entries, and
// the entry of largest absolute value in each column is positive.
func (m *Model) Loadings() *mat.Dense { return mat.DenseCopyOf(m.w()) }

// Noise returns the D noise variances, the diagonal of Ψ.
func (m *Model) Noise() []float64 { return slices.Clone(m.noise) }

// Heywood returns the indices of the variables whose noise variance lies on its floor (Heywood cases), counted
// from 0. The factors explain these variables completely, and without a floor the likelihood might be unbounded.
func (m *Model) Heywood() (variables []int) {
	for i, on := range m.onFloor {
		if on != 0 {
			variables = append(variables, i)
		}
	}
	return variables
}

// Covariance returns the covariance of x, C = WWᵀ + Ψ, D×D.
func (m *Model) Covariance() *mat.SymDense {
	c := mat.NewSymDense(len(m.noise), nil)
	c.SymOuterK(1, m.w())
	for i, v := range m.noise {
		c.SetSym(i, i, c.At(i, i)+v)
	}
	return c
}

func (m *Model) w() *mat.Dense { return mat.NewDense(len(m.noise), m.factors, m.loadings) }

// inverse returns 1/v, or 0 if v is 0, as for the variance of a constant variable.
func inverse(v float64) float64 {
	if v == 0 {
		return 0
	}
	return 1 / v
}

// posterior holds what the posteriors p(h|x) of all rows share.
type posterior struct {
	weighted   *mat.Dense    // P = Ψ⁻¹W, D×Q
	gain       *mat.Dense    // U = Ψ⁻¹WG = C⁻¹W, D×Q: the mean of h is Uᵀ(x−b)
	covariance *mat.SymDense // G = (I + WᵀΨ⁻¹W)⁻¹, Q×Q
	constant   float64       // ln |2πC|
}

// posterior computes the posterior in O(DQ²) operations by the Woodbury identity. It never forms C⁻¹.
func (m *Model) posterior() (p posterior) {
	w := m.w()
	p.weighted = mat.DenseCopyOf(w)
	for i, ψ := range m.noise {
		floats.Scale(inverse(ψ), p.weighted.RawRowView(i))
		if ψ > 0 {
			p.constant += math.Log(2 * math.Pi * ψ)
		}
	}
	var product mat.Dense
	product.Mul(w.T(), p.weighted)
	precision := symmetric(&product)
	for k := range m.factors {
		precision.SetSym(k, k, precision.At(k, k)+1)
	}
	p.covariance, p.gain = mat.NewSymDense(m.factors, nil), new(mat.Dense)
	if chol, err := statistics.Cholesky("the precision of the factors", precision); err == nil && chol.InverseTo(p.covariance) == nil {
		p.constant += chol.LogDet()
	} else { // impossible after a fit, since all eigenvalues are at least 1; a file can hold other parameters
		p.constant = math.NaN()
	}
	p.gain.Mul(p.weighted, p.covariance)
	return p
}

// symmetric returns the mean of a square matrix and its transpose.
func symmetric(a mat.Matrix) *mat.SymDense {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, (a.At(i, j)+a.At(j, i))/2)
		}
	}
	return s
}

// centred returns x − b for each row x.
func centred(rows [][]float64, b []float64) *mat.Dense {
	x := mat.NewDense(len(rows), len(b), nil)
	for r, row := range rows {
		if len(row) != len(b) {
			panic(fmt.Sprintf("factors: row %d has %d values, the model has %d variables", r+1, len(row), len(b)))
		}
		floats.SubTo(x.RawRowView(r), row, b)
	}
	return x
}

// LogP returns the log-density log p(x) of each row, in nats. Like the other methods that take rows, it returns
// nothing if there are no rows, and panics if a row does not have D values.
func (m *Model) LogP(rows [][]float64) []float64 {
	p, logs := m.posterior(), make([]float64, len(rows))
	if len(rows) == 0 {
		return logs
	}
	x := centred(rows, m.mean)
	var products, means mat.Dense
	products.Mul(x, p.weighted)
	means.Mul(x, p.gain)
	for r := range logs {
		square := -floats.Dot(products.RawRowView(r), means.RawRowView(r))
		for i, v := range x.RawRowView(r) {
			square += v * v * inverse(m.noise[i])
		}
		logs[r] = -(p.constant + square) / 2
	}
	return logs
}

// Posterior returns the means of p(h|x), n×Q for n rows x, and the covariance of p(h|x), Q×Q, which is the
// same for all rows.
func (m *Model) Posterior(rows [][]float64) (means *mat.Dense, covariance *mat.SymDense) {
	p := m.posterior()
	means = new(mat.Dense)
	if len(rows) > 0 {
		means.Mul(centred(rows, m.mean), p.gain)
	}
	return means, p.covariance
}

// Reconstruct returns b + W E[h|x] for each row x. The prior of h shrinks these points towards the mean b,
// unlike the points that Project returns.
func (m *Model) Reconstruct(rows [][]float64) [][]float64 {
	if len(rows) == 0 {
		return nil
	}
	h, _ := m.Posterior(rows)
	return m.decode(h)
}

// decode returns the rows b + Wh, given rows h.
func (m *Model) decode(h *mat.Dense) [][]float64 {
	var x mat.Dense
	x.Mul(h, m.w().T())
	return shifted(&x, m.mean)
}

// shifted adds mean to each row of x, in place, and returns the rows.
func shifted(x *mat.Dense, mean []float64) [][]float64 {
	rows := make([][]float64, x.RawMatrix().Rows)
	for r := range rows {
		rows[r] = x.RawRowView(r)
		floats.Add(rows[r], mean)
	}
	return rows
}

// Project returns the point of the plane {b + Wh} that is nearest to each row, and the Euclidean distance
// between the two. For probabilistic PCA this is the projection of PCA.
func (m *Model) Project(rows [][]float64) (points [][]float64, distances []float64) {
	if len(rows) == 0 {
		return nil, nil
	}
	a := basis(m.w())
	var h, x mat.Dense
	h.Mul(centred(rows, m.mean), a)
	x.Mul(&h, a.T())
	for r, row := range rows {
		point := x.RawRowView(r)
		floats.Add(point, m.mean)
		points, distances = append(points, point), append(distances, floats.Distance(row, point, 2))
	}
	return points, distances
}

// Sample draws n rows x ~ p(x) from the seed. It also returns the mean b + Wh of each row, without the noise. n must
// not be negative.
func (m *Model) Sample(n int, seed uint64) (rows, means [][]float64) {
	if n == 0 {
		return nil, nil
	}
	random := rand.New(rand.NewPCG(seed, 1))
	h := mat.NewDense(n, m.factors, nil)
	for i := range h.RawMatrix().Data {
		h.RawMatrix().Data[i] = random.NormFloat64()
	}
	means = m.decode(h)
	for _, mean := range means {
		row := slices.Clone(mean)
		for i, ψ := range m.noise {
			row[i] += math.Sqrt(ψ) * random.NormFloat64()
		}
		rows = append(rows, row)
	}
	return rows, means
}

// canonical rotates the factors to the rotation that Loadings describes. This does not change the density.
func (m *Model) canonical() {
	w := m.w()
	weighted := mat.DenseCopyOf(w)
	for i, ψ := range m.noise {
		floats.Scale(math.Sqrt(inverse(ψ)), weighted.RawRowView(i))
	}
	svd, err := statistics.SVD("the matrix of loadings", weighted)
	if err != nil {
		return // every rotation describes the same model
	}
	var v, rotated mat.Dense
	svd.VTo(&v)
	rotated.Mul(w, &v)
	w.Copy(&rotated)
	positive(w)
}

// positive flips the signs of columns so that each column's entry of largest absolute value is positive.
func positive(w *mat.Dense) {
	d, q := w.Dims()
	for k := range q {
		largest := 0.0
		for i := range d {
			if math.Abs(w.At(i, k)) > math.Abs(largest) {
				largest = w.At(i, k)
			}
		}
		for i := 0; largest < 0 && i < d; i++ {
			w.Set(i, k, -w.At(i, k))
		}
	}
}

package fisher

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// diagonal writes 1/(α + F_kk) of unit j.
func diagonal(dst []float32, e Estimate, j int, damping float64) bool {
	sums := make([]float64, len(dst))
	for r := range e.Parents.Rows {
		w := float64(e.Weights.Data[r*e.Weights.Stride+j])
		for k, u := range kernels.Row(e.Parents, r) {
			sums[k] += w * float64(u) * float64(u)
		}
	}
	ok := true
	for k, f := range sums {
		dst[k] = float32(1 / (damping + f))
		ok = ok && damping+f > 0
	}
	return ok
}

// direct writes (αI + F)⁻¹ of unit j.
func direct(dst kernels.Matrix, e Estimate, j int, damping float64) bool {
	size := e.Parents.Cols
	scaled := scaledSamples(e, j)
	block := mat.NewSymDense(size, nil)
	blas64.Syrk(blas.Trans, 1, scaled, 0, block.RawSymmetric())
	for k := range size {
		block.SetSym(k, k, block.At(k, k)+damping)
	}
	return invertSymmetric(dst, block)
}

// scaledSamples returns √Q U of unit j, a row a sample.
func scaledSamples(e Estimate, j int) blas64.General {
	n, size := e.Parents.Rows, e.Parents.Cols
	scaled := blas64.General{Rows: n, Cols: size, Stride: size, Data: make([]float64, n*size)}
	for r := range n {
		q := math.Sqrt(float64(e.Weights.Data[r*e.Weights.Stride+j]))
		row := scaled.Data[r*size : (r+1)*size]
		for k, u := range kernels.Row(e.Parents, r) {
			row[k] = q * float64(u)
		}
	}
	return scaled
}

// gramian returns U Uᵀ.
func gramian(parents kernels.Matrix) *mat.SymDense {
	n, size := parents.Rows, parents.Cols
	u := blas64.General{Rows: n, Cols: size, Stride: size, Data: make([]float64, 0, n*size)}
	for r := range n {
		for _, x := range kernels.Row(parents, r) {
			u.Data = append(u.Data, float64(x))
		}
	}
	gram := mat.NewSymDense(n, nil)
	blas64.Syrk(blas.NoTrans, 1, u, 0, gram.RawSymmetric())
	return gram
}

// woodbury writes √Q (αI + √Q UUᵀ √Q)⁻¹ √Q of unit j, the inner matrix C of
//
//	(αI + Uᵀ Q U)⁻¹ = (I − Uᵀ C U)/α
//
// (004, 5.12). With √Q inside, weights of zero do no harm, where the printed
// Q⁻¹ would be infinite.
func woodbury(dst kernels.Matrix, gram *mat.SymDense, e Estimate, j int, damping float64) bool {
	n := e.Parents.Rows
	root := make([]float64, n)
	for r := range root {
		root[r] = math.Sqrt(float64(e.Weights.Data[r*e.Weights.Stride+j]))
	}
	inner := mat.NewSymDense(n, nil)
	for r := range n {
		for c := r; c < n; c++ {
			inner.SetSym(r, c, root[r]*gram.At(r, c)*root[c])
		}
		inner.SetSym(r, r, inner.At(r, r)+damping)
	}
	if !invertSymmetric(dst, inner) {
		return false
	}
	for r := range n {
		row := kernels.Row(dst, r)
		for c := range row {
			row[c] = float32(root[r] * float64(row[c]) * root[c])
		}
	}
	return true
}

// invertSymmetric writes the inverse of a positive definite matrix, whole, in
// single precision, and says whether the matrix is positive definite.
func invertSymmetric(dst kernels.Matrix, a *mat.SymDense) bool {
	var factor mat.Cholesky
	if !factor.Factorize(a) {
		return false
	}
	if err := factor.InverseTo(a); err != nil {
		if _, ill := err.(mat.Condition); !ill {
			return false
		}
	}
	raw := a.RawSymmetric()
	for r := range raw.N {
		for c := r; c < raw.N; c++ {
			x := float32(raw.Data[r*raw.Stride+c])
			dst.Data[r*dst.Stride+c] = x
			dst.Data[c*dst.Stride+r] = x
		}
	}
	return true
}

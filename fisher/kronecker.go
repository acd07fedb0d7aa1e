package fisher

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"gonum.org/v1/gonum/mat"
)

// kronecker holds the inverses of blocks that share one structure. It approximates the block of
// unit j, E[σ'_j u uᵀ], by
//
//	E[σ'_j] · E[u uᵀ] = s_j A
//
// with one number per unit and one matrix A per layer. The blocks of the whole layer are the
// Kronecker product of diag(s) and A. The approximation neglects the covariance of σ'_j and u uᵀ,
// although σ'_j is almost 0 in the samples whose parents drive the unit's logit far from 0. It is
// exact if the logit does not depend on the parents, as in the prior.
//
// With A = Σ_k w_k w_kᵀ for orthogonal w_k, |w_k|² = λ_k, all blocks are inverted together:
//
//	(αI + s_j A)⁻¹ = (I − Σ_k s_j/(α + s_j λ_k) w_k w_kᵀ)/α
//
// No w_k is divided by its length, so directions in which A vanishes do no harm.
type kronecker struct {
	slopes    []float64      // s_j of each unit
	structure kernels.Matrix // w_k, one per row, min(n, size) of them
	squares   []float64      // λ_k
}

// factor returns the inverses of the blocks of an estimate. It returns an error if A is not finite or
// its eigenvectors cannot be computed.
func factor(e Estimate) (k kronecker, err error) {
	n, size, total := e.Parents.Rows, e.Parents.Cols, 0.0
	if n == 0 { // A is 0 and has no w_k; mat does not allow matrices without rows
		return kronecker{slopes: make([]float64, e.Weights.Cols), structure: kernels.NewMatrix(0, size)}, nil
	}
	for _, w := range e.SampleWeights {
		total += float64(w)
	}
	total = max(total, math.SmallestNonzeroFloat64) // avoids 0/0 if every weight is 0
	roots := mat.NewDense(n, size, nil)             // √Q U, A = UᵀQU
	for r := range n {
		root := math.Sqrt(float64(e.SampleWeights[r]) / total)
		for c, u := range kernels.Row(e.Parents, r) {
			roots.Set(r, c, root*float64(u))
		}
	}
	vectors, err := orthogonal(roots)
	if err != nil {
		return kronecker{}, err
	}
	rank, _ := vectors.Dims()
	k = kronecker{make([]float64, e.Weights.Cols), kernels.NewMatrix(rank, size), make([]float64, rank)}
	for i := range rank {
		for c, w := range vectors.RawRowView(i) {
			kernels.Row(k.structure, i)[c] = float32(w)
			k.squares[i] += w * w
		}
	}
	for r := range n {
		for j, w := range kernels.Row(e.Weights, r) {
			k.slopes[j] += float64(w)
		}
	}
	return k, nil
}

// orthogonal returns min(n, size) orthogonal rows with the same sum of outer products as the n
// given rows. It computes them from the eigenvectors of this sum, or, if there are fewer rows than
// columns, from the eigenvectors of the matrix of the rows' inner products. It returns an error if
// the rows are not finite or the eigenvectors cannot be computed.
func orthogonal(rows *mat.Dense) (*mat.Dense, error) {
	n, size := rows.Dims()
	var sum mat.SymDense
	if n < size {
		sum.SymOuterK(1, rows)
	} else {
		sum.SymOuterK(1, rows.T())
	}
	eigen, err := statistics.Eigen("the matrix of products of the parents", &sum)
	if err != nil {
		return nil, err
	}
	var vectors, orthogonal mat.Dense
	eigen.VectorsTo(&vectors)
	if n < size {
		orthogonal.Mul(vectors.T(), rows)
		return &orthogonal, nil
	}
	orthogonal.CloneFrom(vectors.T())
	for i, λ := range eigen.Values(nil) {
		for c := range size {
			orthogonal.Set(i, c, math.Sqrt(max(λ, 0))*orthogonal.At(i, c))
		}
	}
	return &orthogonal, nil
}

// apply multiplies gradients by the damped inverses with two matrix products.
func (k kronecker) apply(gradients kernels.Matrix, first int, damping float64) {
	projected := kernels.NewMatrix(gradients.Rows, k.structure.Rows)
	kernels.MulNT(projected, gradients, k.structure)
	for i := range projected.Rows {
		s := k.slopes[first+i]
		row := kernels.Row(projected, i)
		for c, λ := range k.squares {
			row[c] *= float32(s / (damping + s*λ))
		}
	}
	kernels.SubMulNN(gradients, projected, k.structure)
	for i := range gradients.Rows {
		kernels.Scale(kernels.Row(gradients, i), (1+damping)/damping)
	}
}

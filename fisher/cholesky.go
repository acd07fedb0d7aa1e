package fisher

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// pivotSize is the size of the diagonal blocks, which are factored and inverted in double
// precision.
const pivotSize = 32

// smallestPivot keeps the inverse in the range of single precision.
const smallestPivot = 0x1p-100

// invert replaces a symmetric positive definite matrix by the lower triangle of its inverse. It
// reads only the lower triangle, and leaves arbitrary numbers above it. It factors A = L Lᵀ block
// by block, inverts L, and forms A⁻¹ = L⁻ᵀ L⁻¹. Almost all of the work is matrix products. The
// relative error is of the order of the condition number times 2⁻²⁴. invert returns false unless
// every pivot is finite and above smallestPivot.
func (w *workspace) invert(a kernels.Matrix) bool {
	n := a.Rows
	inverse := matrix(&w.factor, n, n) // L⁻¹
	clear(inverse.Data)
	for first := 0; first < n; first += pivotSize {
		last := min(first+pivotSize, n)
		pivot := kernels.Cols(kernels.Rows(inverse, first, last), first, last)
		if !invertFactor(pivot, kernels.Cols(kernels.Rows(a, first, last), first, last)) {
			return false
		}
		w.eliminate(a, pivot, first, last)
		w.invertRows(inverse, a, pivot, first, last)
	}
	clear(a.Data)
	for first := 0; first < n; first += pivotSize {
		last := min(first+pivotSize, n)
		rows := kernels.Cols(kernels.Rows(inverse, first, last), 0, last)
		kernels.MulTN(kernels.Cols(kernels.Rows(a, 0, last), 0, last), 1, rows, rows)
	}
	return true
}

// eliminate writes columns first to last−1 of L, below their diagonal block, to a. It then
// subtracts the product of these columns and their transpose from the columns of a to the right.
// pivot is the inverse of the diagonal block of L.
func (w *workspace) eliminate(a, pivot kernels.Matrix, first, last int) {
	below := kernels.Cols(kernels.Rows(a, last, a.Rows), first, last)
	transposed := matrix(&w.panel, last-first, below.Rows)
	kernels.MulNT(transposed, pivot, below)
	for r := range below.Rows {
		for c := range below.Cols {
			below.Data[r*below.Stride+c] = transposed.Data[c*transposed.Stride+r]
		}
	}
	kernels.SubMulNN(kernels.Cols(kernels.Rows(a, last, a.Rows), last, a.Rows), below, transposed)
}

// invertRows writes rows first to last−1 of L⁻¹ to the left of the pivot. The result is −P L X,
// where P is pivot, the inverse of the diagonal block of L, L means only these rows of L, and X
// holds the rows of L⁻¹ above them.
func (w *workspace) invertRows(inverse, a, pivot kernels.Matrix, first, last int) {
	size := last - first
	rows := kernels.Cols(kernels.Rows(a, first, last), 0, first)
	product := matrix(&w.panel, size, first) // −L X
	clear(product.Data)
	kernels.SubMulNN(product, rows, kernels.Cols(kernels.Rows(inverse, 0, first), 0, first))
	negated := matrix(&w.negated, size, size) // −P
	for r := range size {
		row := kernels.Row(negated, r)
		for c, x := range kernels.Row(pivot, r) {
			row[c] = -x
		}
	}
	kernels.SubMulNN(kernels.Cols(kernels.Rows(inverse, first, last), 0, first), negated, product)
}

// invertFactor writes the inverse of the Cholesky factor of a small matrix into the lower triangle
// of inverse. It returns false unless every pivot is finite and above smallestPivot.
func invertFactor(inverse, a kernels.Matrix) bool {
	n := a.Rows
	var factor, inverted [pivotSize][pivotSize]float64
	for i := range n {
		for j := range i + 1 {
			sum := float64(a.Data[i*a.Stride+j])
			for k := range j {
				sum -= factor[i][k] * factor[j][k]
			}
			if i > j {
				factor[i][j] = sum / factor[j][j]
				continue
			}
			if !(sum > smallestPivot) || math.IsInf(sum, 0) {
				return false
			}
			factor[i][i] = math.Sqrt(sum)
		}
	}
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			if i == j {
				sum = 1
			}
			for k := j; k < i; k++ {
				sum -= factor[i][k] * inverted[k][j]
			}
			inverted[i][j] = sum / factor[i][i]
			inverse.Data[i*inverse.Stride+j] = float32(inverted[i][j])
		}
	}
	return true
}

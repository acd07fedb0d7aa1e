package fisher

import (
	"math"
	"sync"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// scratch holds matrices that the inversion of a block needs for a while.
var scratch = sync.Pool{New: func() any { return new(workspace) }}

type workspace struct {
	samples, block, factor, panel, negated []float32
}

// matrix returns a matrix in *data, which grows as needed. Its elements are
// whatever they were.
func matrix(data *[]float32, rows, cols int) kernels.Matrix {
	if cap(*data) < rows*cols {
		*data = make([]float32, rows*cols)
	}
	return kernels.Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: (*data)[:rows*cols]}
}

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
func direct(dst *kernels.Symmetric, e Estimate, j int, damping float64) bool {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	n, size := e.Parents.Rows, e.Parents.Cols
	scaled := matrix(&w.samples, n, size) // √Q U
	for r := range n {
		q := float32(math.Sqrt(float64(e.Weights.Data[r*e.Weights.Stride+j])))
		row := kernels.Row(scaled, r)
		for k, u := range kernels.Row(e.Parents, r) {
			row[k] = q * u
		}
	}
	block := matrix(&w.block, size, size)
	kernels.MulTN(block, 0, scaled, scaled)
	for k := range size {
		block.Data[k*block.Stride+k] += float32(damping)
	}
	if !w.invert(block) {
		return false
	}
	dst.Pack(block)
	return true
}

// gramian returns U Uᵀ.
func gramian(parents kernels.Matrix) kernels.Matrix {
	gram := kernels.NewMatrix(parents.Rows, parents.Rows)
	kernels.MulNT(gram, parents, parents)
	return gram
}

// woodbury writes √Q (αI + √Q UUᵀ √Q)⁻¹ √Q of unit j, the inner matrix C of
//
//	(αI + Uᵀ Q U)⁻¹ = (I − Uᵀ C U)/α
//
// (004, 5.12). With √Q inside, weights of zero do no harm, where the printed
// Q⁻¹ would be infinite.
func woodbury(dst *kernels.Symmetric, gram kernels.Matrix, e Estimate, j int, damping float64) bool {
	w := scratch.Get().(*workspace)
	defer scratch.Put(w)
	n := e.Parents.Rows
	root := make([]float32, n)
	for r := range root {
		root[r] = float32(math.Sqrt(float64(e.Weights.Data[r*e.Weights.Stride+j])))
	}
	inner := matrix(&w.block, n, n)
	for r := range n {
		row := kernels.Row(inner, r)
		for c, g := range kernels.Row(gram, r) {
			row[c] = root[r] * g * root[c]
		}
		row[r] += float32(damping)
	}
	if !w.invert(inner) {
		return false
	}
	for r := range n {
		row := kernels.Row(inner, r)[:r+1]
		for c := range row {
			row[c] *= root[r] * root[c]
		}
	}
	dst.Pack(inner)
	return true
}

// Package kernels holds the arithmetic on which an engine on the CPU spends
// its time, in portable Go.
package kernels

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// Matrix is a row-major matrix in single precision.
type Matrix = blas32.General

// NewMatrix returns a matrix of zeros. Its data begin at a multiple of 16 bytes,
// as Go allocates all that takes 32 bytes or more: the order in which blas32
// adds up a product depends on it, and with the order the last bit.
func NewMatrix(rows, cols int) Matrix {
	n := rows * cols
	return Matrix{Rows: rows, Cols: cols, Stride: max(cols, 1), Data: make([]float32, n, max(n, 8))}
}

// Rows returns rows first to last−1 of m, sharing its data.
func Rows(m Matrix, first, last int) Matrix {
	m.Data = m.Data[first*m.Stride:]
	m.Rows = last - first
	return m
}

// Cols returns columns first to last−1 of m, sharing its data.
func Cols(m Matrix, first, last int) Matrix {
	m.Data = m.Data[min(first, len(m.Data)):]
	m.Cols = last - first
	return m
}

// Row returns row i of m.
func Row(m Matrix, i int) []float32 {
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// MulNT sets c = a·bᵀ.
func MulNT(c, a, b Matrix) { blas32.Gemm(blas.NoTrans, blas.Trans, 1, a, b, 0, c) }

// MulTN sets c = scale·c + aᵀ·b.
func MulTN(c Matrix, scale float32, a, b Matrix) {
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, a, b, scale, c)
}

// SubMulNN sets c = c − a·b.
func SubMulNN(c, a, b Matrix) { blas32.Gemm(blas.NoTrans, blas.NoTrans, -1, a, b, 1, c) }

// MulSymmetric sets y = m·x for a symmetric matrix m stored whole.
func MulSymmetric(y []float32, m Matrix, x []float32) {
	blas32.Gemv(blas.NoTrans, 1, m, blas32.Vector{N: len(x), Inc: 1, Data: x},
		0, blas32.Vector{N: len(y), Inc: 1, Data: y})
}

// Clone returns a copy of m that shares nothing with it.
func Clone(m Matrix) Matrix {
	c := NewMatrix(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(Row(c, i), Row(m, i))
	}
	return c
}

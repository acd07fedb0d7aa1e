// Package kernels has the arithmetic in which a CPU engine spends its time, such as matrix
// products, products with symmetric matrices, and draws and log-probabilities of units.
//
// Every kernel exists in portable Go, and the ones that need most time also for AVX-512, for AVX2
// with FMA, and most of these for arm64's NEON. InstructionSet returns the implementation in use.
// The draws and log-probabilities of units do not depend on it. The last bits of sums of products
// do, except in fixed point.
// Kernels other than Covariance start no goroutines: their callers divide the work, and no division
// changes a result.
package kernels

import (
	"runtime"

	"gonum.org/v1/gonum/blas/blas32"
)

// Matrix is a row-major matrix in single precision.
type Matrix = blas32.General

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) Matrix {
	stride := max(cols, 1)
	return Matrix{Rows: rows, Cols: cols, Stride: stride, Data: make([]float32, rows*stride)}
}

// Rows returns rows first to last−1 of m, sharing its data.
func Rows(m Matrix, first, last int) Matrix {
	m.Data = m.Data[min(first*m.Stride, len(m.Data)):]
	m.Rows = last - first
	return m
}

// RowsOf returns Rows(m, first, last) of each matrix m.
func RowsOf(all []Matrix, first, last int) (parts []Matrix) {
	for _, m := range all {
		parts = append(parts, Rows(m, first, last))
	}
	return parts
}

// Cols returns columns first to last−1 of m, sharing its data.
func Cols(m Matrix, first, last int) Matrix {
	m.Data = m.Data[min(first, len(m.Data)):]
	m.Cols = last - first
	return m
}

// Row returns row i of m.
func Row(m Matrix, i int) []float32 {
	if m.Cols == 0 {
		return nil // there may be no data at i·m.Stride
	}
	return m.Data[i*m.Stride : i*m.Stride+m.Cols]
}

// Clone returns a copy of m that shares nothing with it.
func Clone(m Matrix) Matrix {
	c := NewMatrix(m.Rows, m.Cols)
	for i := range m.Rows {
		copy(Row(c, i), Row(m, i))
	}
	return c
}

// Transposed returns the transpose of m, which shares nothing with it.
func Transposed(m Matrix) Matrix {
	t := NewMatrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, value := range Row(m, i) {
			Row(t, j)[i] = value
		}
	}
	return t
}

// AddMultiple adds by·y to x, with the same roundings on every processor.
func AddMultiple(x []float32, by float32, y []float32) {
	if runtime.GOARCH == "amd64" { // gonum has assembly
		blas32.Axpy(by, blas32.Vector{N: len(y), Inc: 1, Data: y}, blas32.Vector{N: len(x), Inc: 1, Data: x})
		return
	}
	current.addMultiple(x[:len(y)], by, y)
}

func portableAddMultiple(x []float32, by float32, y []float32) {
	for i, v := range y {
		x[i] += float32(by * v)
	}
}

// AddToRows adds y to each row of m.
func AddToRows(m Matrix, y []float32) {
	for i := range m.Rows {
		AddMultiple(Row(m, i), 1, y)
	}
}

// Affine sets each row of y to biases plus the product of the same row of x and w.
func Affine(y, x, w Matrix, biases []float32) {
	for i := range y.Rows {
		copy(Row(y, i), biases)
	}
	AddMulNN(y, x, w)
}

// States returns all states of some binary units, one per row.
func States(units int) Matrix {
	states := NewMatrix(1<<units, units)
	for s := range states.Rows {
		for j := range units {
			Row(states, s)[j] = float32(s >> j & 1)
		}
	}
	return states
}

// Doubles returns x in double precision.
func Doubles(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// Scale multiplies the elements of x by the factor by.
func Scale(x []float32, by float64) {
	blas32.Scal(float32(by), blas32.Vector{N: len(x), Inc: 1, Data: x})
}

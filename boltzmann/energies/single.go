package energies

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

func single(values []float64, rows, columns int) kernels.Matrix {
	m := kernels.NewMatrix(rows, columns)
	for i, v := range values {
		m.Data[i] = float32(v)
	}
	return m
}

// singles returns the units of rows in single precision: the units with the indices of, or all units.
func singles(rows [][]float64, of ...int) kernels.Matrix {
	if of == nil {
		return single(slices.Concat(rows...), len(rows), len(rows[0]))
	}
	var values []float64
	for _, x := range rows {
		values = append(values, pick(x, of)...)
	}
	return single(values, len(rows), len(of))
}

// biases returns a matrix with n rows, each a copy of values.
func biases(values []float64, n int) kernels.Matrix {
	return single(slices.Repeat(values, n), n, len(values))
}

// addOuter adds aᵀ·b to to.
func addOuter(to []float64, a, b kernels.Matrix) {
	product := kernels.NewMatrix(a.Cols, b.Cols)
	kernels.MulTN(product, 0, a, b)
	addSingles(to, product.Data)
}

// addRows adds the sum of the rows of m to to.
func addRows(to []float64, m kernels.Matrix) {
	for r := range m.Rows {
		addSingles(to, kernels.Row(m, r))
	}
}

func addSingles(to []float64, values []float32) {
	for i, v := range values {
		to[i] += float64(v)
	}
}

func add(to, m kernels.Matrix) { kernels.AddMultiple(to.Data, 1, m.Data) }

// certain returns the acceptance probabilities of n steps of Gibbs sampling, all 1.
func certain(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// negatedMeans replaces inputs of binary units by −σ(input).
func negatedMeans(inputs, off []float32) { kernels.Residual(inputs, off[:len(inputs)]) }

// product returns a·bᵀ.
func product(a, b kernels.Matrix) kernels.Matrix {
	c := kernels.NewMatrix(a.Rows, b.Rows)
	kernels.MulNT(c, a, b)
	return c
}

// multiplied returns the elementwise product of two matrices.
func multiplied(a, b kernels.Matrix) kernels.Matrix {
	c := kernels.NewMatrix(a.Rows, a.Cols)
	for i, v := range a.Data {
		c.Data[i] = v * b.Data[i]
	}
	return c
}

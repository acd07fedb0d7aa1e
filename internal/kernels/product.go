package kernels

import (
	"fmt"
	"sync"
)

// operand is a matrix with one stride between rows and another between columns, so that it can be a
// or aᵀ.
type operand struct {
	data     []float32
	row, col int // distance between neighbouring rows and columns
}

func plain(m Matrix) operand      { return operand{m.Data, m.Stride, 1} }
func transposed(m Matrix) operand { return operand{m.Data, 1, m.Stride} }

// MulNT sets c = a·bᵀ. It adds the terms of each sum in order, so that the bits of row i of c
// depend only on row i of a and on b.
func MulNT(c, a, b Matrix) {
	check("a·bᵀ", c, a, b, a.Rows, a.Cols == b.Cols, b.Rows)
	if a.Rows == 0 { // no row pays for the packing of b
		return
	}
	if current == &portable {
		portableProduct(c, 1, 0, plain(a), transposed(b), a.Cols)
		return
	}
	panel := scratch.Get().(*[]float32)
	defer scratch.Put(panel)
	width := 3 * current.lanes
	for first := 0; first < b.Rows; first += width {
		last := min(first+width, b.Rows)
		*panel = packed(*panel, current, b, first, last)
		current.product(Cols(c, first, last), 1, 0, plain(a), operand{*panel, roundUp(last-first, current.lanes), 1}, a.Cols)
	}
}

// MulTN sets c = scale·c + aᵀ·b. It does not read c if scale is zero.
func MulTN(c Matrix, scale float32, a, b Matrix) {
	check("aᵀ·b", c, a, b, a.Cols, a.Rows == b.Rows, b.Cols)
	current.product(c, 1, scale, transposed(a), plain(b), a.Rows)
}

// AddMulNN sets c = c + a·b. As in MulNT, row i of the product depends only on row i of a and on b.
func AddMulNN(c, a, b Matrix) {
	check("a·b", c, a, b, a.Rows, a.Cols == b.Rows, b.Cols)
	current.product(c, 1, 1, plain(a), plain(b), a.Cols)
}

// SubMulNN sets c = c − a·b.
func SubMulNN(c, a, b Matrix) {
	check("a·b", c, a, b, a.Rows, a.Cols == b.Rows, b.Cols)
	current.product(c, -1, 1, plain(a), plain(b), a.Cols)
}

// check panics if c is not rows × cols, a and b do not fit, or a matrix has less data than its
// shape requires: vector kernels check no bounds.
func check(what string, c, a, b Matrix, rows int, fit bool, cols int) {
	if c.Rows != rows || c.Cols != cols || !fit || !complete(c) || !complete(a) || !complete(b) {
		panic(fmt.Sprintf("kernels: %s with a %s and b %s into %s", what, describe(a), describe(b), describe(c)))
	}
}

func complete(m Matrix) bool {
	return readable(m) && (m.Stride >= m.Cols || m.Rows == 0 || m.Cols == 0)
}

// readable is like complete, but lets rows overlap.
func readable(m Matrix) bool {
	return m.Rows == 0 || m.Cols == 0 ||
		m.Rows > 0 && m.Cols > 0 && m.Stride > 0 && len(m.Data) >= (m.Rows-1)*m.Stride+m.Cols
}

func describe(m Matrix) string {
	return fmt.Sprintf("%d × %d (stride %d, %d elements)", m.Rows, m.Cols, m.Stride, len(m.Data))
}

// product sets c = β·c + α·a·b, where b has depth rows. Vector kernels read whole rows of b, and work on one
// panel of columns after the other.
func (s *instructionSet) product(c Matrix, alpha, beta float32, a, b operand, depth int) {
	if s == &portable {
		portableProduct(c, alpha, beta, a, b, depth)
		return
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if depth == 0 {
		a.data, b.data = c.Data, c.Data // valid pointers; nothing is read
	}
	lanes, width := s.lanes, 3*s.lanes
	for j := 0; j < c.Cols; j += width {
		columns := min(width, c.Cols-j)
		vectors := (columns + lanes - 1) / lanes
		s.products[vectors-1](&c.Data[j], &a.data[0], &b.data[min(j, len(b.data)-1)], c.Rows, depth,
			4*c.Stride, 4*a.row, 4*a.col, 4*b.row, columns-(vectors-1)*lanes, alpha, beta)
	}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// scratch holds buffers for one panel.
var scratch = sync.Pool{New: func() any { return new([]float32) }}

// packed returns a panel whose columns are rows first to last−1 of b, at most three vectors of them, as a
// kernel for a·bᵀ reads them. The result has space for whole blocks of the transposition, and
// reuses the array of panel.
func packed(panel []float32, s *instructionSet, b Matrix, first, last int) []float32 {
	lanes := s.lanes
	width := roundUp(last-first, lanes)
	size := width * roundUp(b.Cols, lanes)
	if cap(panel) < size {
		panel = make([]float32, size)
	}
	panel = panel[:size]
	if b.Cols == 0 {
		return panel
	}
	for i := first; i < last; i += lanes {
		s.transpose(panel[i-first:], b.Data[i*b.Stride:], min(lanes, last-i), b.Cols, width, b.Stride)
	}
	return panel
}

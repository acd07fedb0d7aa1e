package kernels

import (
	"fmt"
	"math"
)

// PackedRows is the alignment of the parts that Pack and From take: the first row of a part is a
// multiple of it.
const PackedRows = 48

// Packed is a copy of a matrix in the order in which MulPacked reads it. It pays off if one matrix
// is multiplied several times.
type Packed struct {
	set        *instructionSet
	rows, cols int
	data       []float32
}

// NewPacked returns an empty packed matrix of the given size, for the current instruction set.
func NewPacked(rows, cols int) *Packed {
	return &Packed{set: current, rows: rows, cols: cols, data: make([]float32, roundUp(rows, current.lanes)*roundUp(cols, current.lanes))}
}

// PackedBytes returns the memory of a packed matrix of the given size, in bytes.
func PackedBytes(rows, cols int) float64 {
	lanes := float64(current.lanes)
	return 4 * lanes * lanes * math.Ceil(float64(rows)/lanes) * math.Ceil(float64(cols)/lanes)
}

// Pack copies rows first to last−1 of b. first must be a multiple of PackedRows, and so must last,
// unless it is the number of rows. Different parts may be packed concurrently.
func (p *Packed) Pack(b Matrix, first, last int) {
	if b.Rows != p.rows || b.Cols != p.cols || !complete(b) || first%PackedRows != 0 || last%PackedRows != 0 && last != b.Rows {
		panic(fmt.Sprintf("kernels: cannot pack rows %d to %d of %s into %d × %d in parts of %d rows",
			first, last, describe(b), p.rows, p.cols, PackedRows))
	}
	if p.set == &portable {
		for i := first; i < last; i++ {
			copy(p.data[i*p.cols:], Row(b, i))
		}
		return
	}
	width := 3 * p.set.lanes
	for ; first < last; first += width {
		packed(p.panel(first), p.set, b, first, min(first+width, last))
	}
}

// panel returns the data from row first on, which must be the first row of a panel.
func (p *Packed) panel(first int) []float32 {
	return p.data[first*roundUp(p.cols, p.set.lanes):]
}

// From returns the part of a packed matrix from row first on, a multiple of PackedRows. The part
// shares the matrix's memory.
func (p *Packed) From(first int) *Packed {
	if first < 0 || first > p.rows || first%PackedRows != 0 {
		panic(fmt.Sprintf("kernels: no part of %d packed rows begins at %d: give a multiple of %d", p.rows, first, PackedRows))
	}
	part := *p
	part.rows -= first
	part.data = p.panel(first)
	return &part
}

// MulPacked sets c = a·bᵀ for the matrix b in p, with the same result as MulNT.
func MulPacked(c, a Matrix, p *Packed) {
	check("a·bᵀ", c, a, Matrix{Rows: p.rows}, a.Rows, a.Cols == p.cols, p.rows)
	if p.set == &portable {
		portableProduct(c, 1, 0, plain(a), operand{p.data, 1, p.cols}, a.Cols)
		return
	}
	width := 3 * p.set.lanes
	for first := 0; first < p.rows; first += width {
		last := min(first+width, p.rows)
		p.set.product(Cols(c, first, last), 1, 0, plain(a), operand{p.panel(first), roundUp(last-first, p.set.lanes), 1}, a.Cols)
	}
}

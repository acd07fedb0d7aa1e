package kernels

import (
	"fmt"
	"slices"
	"sync"
)

// MulFixed sets c = a·bᵀ for rows a of units that are on, or off with the value 0 or −1. The sums are
// exact and rounded once, so they depend neither on their order nor on the instruction set.
func MulFixed(c, a Matrix, off float32, b *Fixed) { mulFixed(c, a, off, b, (*Bits).PackRows) }

// MulTNFixed does the same as MulFixed for c = aᵀ·bᵀ.
func MulTNFixed(c, a Matrix, off float32, b *Fixed) { mulFixed(c, a, off, b, (*Bits).PackColumns) }

// mulFixed multiplies the bits that pack makes of units.
func mulFixed(c, units Matrix, off float32, b *Fixed, pack func(*Bits, Matrix)) {
	w := bitsScratch.Get().(*bitsWork)
	defer bitsScratch.Put(w)
	a := &w.bits
	a.setOff(off)
	pack(a, units)
	checkBits("bitsᵀ·fixedᵀ", c, a, b.depth, a.cols, b.rows)
	if c.Rows == 0 {
		return
	}
	for first := 0; first < c.Cols; first += rowsTogether {
		last := min(first+rowsTogether, c.Cols)
		w.sum(b, first, last, a)
		a.set.writeColumns(Cols(c, first, last), w.sums, a.stride, &w.output)
	}
}

// AddTN sets c = aᵀ·b, or c + aᵀ·b. The columns of a are converted to fixed point. The sums are as
// exact as those in MulFixed.
func AddTN(c Matrix, add bool, a Matrix, b *Bits) {
	checkBits("aᵀ·bits", c, b, a.Rows, a.Cols, b.cols)
	if !complete(a) {
		panic("kernels: incomplete matrix in a product: " + describe(a))
	}
	if c.Cols == 0 {
		return
	}
	w := bitsScratch.Get().(*bitsWork)
	defer bitsScratch.Put(w)
	for first := 0; first < c.Rows; first += rowsTogether {
		last := min(first+rowsTogether, c.Rows)
		w.fixed.Resize(last-first, b.depth)
		w.packColumns(&w.fixed, Cols(a, first, last), 0, last-first)
		w.sum(&w.fixed, 0, last-first, b)
		b.set.writeRows(Rows(c, first, last), w.sums, b.stride, &w.output, add)
	}
}

// checkBits panics if matrices do not fit.
func checkBits(what string, c Matrix, b *Bits, depth, rows, cols int) {
	if c.Rows != rows || c.Cols != cols || b.depth != depth || !complete(c) {
		panic(fmt.Sprintf("kernels: %s of depth %d, and bits of %d × %d, into %s", what, depth, b.depth, b.cols, describe(c)))
	}
}

// bitsWork is scratch memory for products with bits.
type bitsWork struct {
	tables []int32 // for some groups, the sums of the subsets of the integers of four rows
	sums   []int32 // some rows of all columns
	output fixedOutput

	bits       Bits
	transposed Matrix
	fixed      Fixed
}

const (
	// groupsTogether is how many groups' tables fit into a cache of 32 KB together with the bits.
	groupsTogether = 64
	// rowsTogether is how many rows of integers are summed before they are written, and how many
	// columns become rows of integers at a time: whole vectors of every instruction set.
	rowsTogether = 16
)

var bitsScratch = sync.Pool{New: func() any {
	return &bitsWork{tables: make([]int32, groupsTogether*quad*16)}
}}

// fixedOutput converts the integers k of row r to floats, (2ˢ·k + starts[r])·scales[r], where s is
// the shift.
type fixedOutput struct {
	shift  int
	starts [rowsTogether]int32
	scales [rowsTogether]float32
}

// sum computes the sums that bits select from rows first to last−1 of a matrix, and the output that
// converts these sums.
func (w *bitsWork) sum(f *Fixed, first, last int, b *Bits) {
	s := b.set
	if f.set != s {
		panic("kernels: a product of matrices packed for two instruction sets")
	}
	w.sums = slices.Grow(w.sums[:0], rowsTogether*b.stride)[:rowsTogether*b.stride]
	groups := (f.depth + s.groupBits() - 1) / s.groupBits()
	if groups == 0 {
		clear(w.sums)
	}
	for row := first; row < last; row += quad {
		sums := w.sums[(row-first)*b.stride:]
		for group := 0; group < groups; group += groupsTogether {
			count := min(groupsTogether, groups-group)
			s.subsets(w.tables, f.integers[row*f.stride+group*s.groupBits():], f.stride, count)
			words := b.words[group/groupsOfWord*b.stride:]
			for column := 0; column < b.cols; column += s.tileColumns() {
				s.bitsProduct(sums[column:], w.tables, words[column:], count, min(s.tileColumns(), b.cols-column), b.stride, group)
			}
		}
	}
	// A unit that is −1 when off subtracts the integer k from the sum when off: add 2k·bit − k.
	w.output.shift = int(-b.off)
	copy(w.output.scales[:], f.scales[first:last])
	for r, sum := range f.sums[first:last] {
		w.output.starts[r] = b.off * sum
	}
}

// packColumns converts columns first to last−1 of m to rows of f.
func (w *bitsWork) packColumns(f *Fixed, m Matrix, first, last int) {
	stride := max(1, roundUp(m.Rows, rowsTogether)) // whole blocks of every instruction set
	for ; first < last; first += rowsTogether {
		w.transposed = Matrix{Rows: min(rowsTogether, last-first), Cols: m.Rows, Stride: stride, Data: slices.Grow(w.transposed.Data[:0], rowsTogether*stride)[:rowsTogether*stride]}
		current.transposeBlocks(w.transposed, Cols(m, first, first+w.transposed.Rows))
		for i := range w.transposed.Rows {
			f.packRow(first+i, Row(w.transposed, i))
		}
	}
}

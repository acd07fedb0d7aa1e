package kernels

import (
	"fmt"
	"slices"
	"sync"
)

// MulFixed sets c = a·bᵀ. The elements of a are units: they are on if positive, with the value 1,
// and otherwise have the value off, 0 or −1. Sums are computed exactly and rounded once, so they
// depend neither on the order of their terms nor on the instruction set.
func MulFixed(c, a Matrix, off float32, b *Fixed) { mulFixed(c, a, off, b, (*Bits).PackRows) }

// MulTNFixed is like MulFixed, but sets c = aᵀ·bᵀ.
func MulTNFixed(c, a Matrix, off float32, b *Fixed) { mulFixed(c, a, off, b, (*Bits).PackColumns) }

// mulFixed multiplies units, which pack converts to bits, by bᵀ.
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

// AddTN sets c = aᵀ·b, or c = c + aᵀ·b if add is true. It converts the columns of a to fixed point.
// The sums are as exact as those in MulFixed.
func AddTN(c Matrix, add bool, a Matrix, b *Bits) {
	checkBits("aᵀ·bits", c, b, a.Rows, a.Cols, b.cols)
	if !complete(a) {
		panic("kernels: incomplete matrix in a product: " + describe(a))
	}
	old := 0
	if add {
		old = 1
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
		b.set.writeRows(Rows(c, first, last), w.sums, b.stride, &w.output, old)
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
	tables []int32 // for some groups and four rows, the sums of all subsets of the group's integers
	sums   []int32 // some rows of the product, with all columns
	output fixedOutput

	bits       Bits
	transposed Matrix
	fixed      Fixed
}

const (
	// groupsTogether is the number of groups whose tables fit, together with the bits, into a cache
	// of 32 KB.
	groupsTogether = 64
	// rowsTogether is how many rows of integers are summed before they are written, and how many
	// columns become rows of integers at a time. It is a multiple of the vector length of every
	// instruction set.
	rowsTogether = 16
)

var bitsScratch = sync.Pool{New: func() any {
	return &bitsWork{tables: make([]int32, groupsTogether*quad*16)}
}}

// fixedOutput converts the integers k of row r to the floats (2ˢ·k + starts[r])·scales[r], where s
// is the shift.
type fixedOutput struct {
	shift  int
	starts [rowsTogether]int32
	scales [rowsTogether]float32
}

// sum sets w.sums to the sums of the integers that b selects in rows first to last−1 of f. It sets
// w.output so that this converts the sums to floats.
func (w *bitsWork) sum(f *Fixed, first, last int, b *Bits) {
	s := b.set
	if f.set != s {
		panic("kernels: a product of matrices packed for two instruction sets")
	}
	w.sums = slices.Grow(w.sums[:0], rowsTogether*b.stride)[:rowsTogether*b.stride]
	groups := (f.depth + s.groupBits - 1) / s.groupBits
	if groups == 0 {
		clear(w.sums)
	}
	for row := first; row < last; row += quad {
		sums := w.sums[(row-first)*b.stride:]
		for group := 0; group < groups; group += groupsTogether {
			count := min(groupsTogether, groups-group)
			s.subsets(w.tables, f.integers[row*f.stride+group*s.groupBits:], f.stride, count)
			words := b.words[group/groupsOfWord*b.stride:]
			for column := 0; column < b.cols; column += s.tileColumns {
				s.bitsProduct(sums[column:], w.tables, words[column:], count, min(s.tileColumns, b.cols-column), b.stride, group)
			}
		}
	}
	// If off is −1, a unit with the integer k contributes k or −k to the sum, which is 2k·bit − k.
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

// transposeBlocks transposes from into to, one block of rows after the other.
func (s *instructionSet) transposeBlocks(to, from Matrix) {
	for first := 0; first < from.Rows; first += s.lanes {
		s.transpose(to.Data[first:], from.Data[first*from.Stride:], min(s.lanes, from.Rows-first), from.Cols, to.Stride, from.Stride)
	}
}

package kernels

import (
	"fmt"
	"slices"
	"sync"
)

// MulBits sets c = aᵀ·bᵀ. The sums are exact and rounded once, so they depend neither on their
// order nor on the instruction set.
func MulBits(c Matrix, a *Bits, b *Fixed) {
	checkBits("bitsᵀ·fixedᵀ", c, a, b.depth, a.cols, b.rows)
	if c.Rows == 0 {
		return
	}
	w := bitsScratch.Get().(*bitsWork)
	defer bitsScratch.Put(w)
	for row := 0; row < c.Cols; row += quad {
		o := w.sum(b, row, a)
		a.set.writeColumns(Cols(c, row, min(row+quad, c.Cols)), w.sums, a.stride, o)
	}
}

// AddTN sets c = aᵀ·b, or c + aᵀ·b. The columns of a are converted to fixed point. The sums are as
// exact as those in MulBits.
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
	for first := 0; first < c.Rows; first += columnsTogether {
		last := min(first+columnsTogether, c.Rows)
		w.transpose(Cols(a, first, last))
		w.fixed.resize(last-first, b.depth)
		w.fixed.Pack(w.transposed, 0, last-first)
		for row := first; row < last; row += quad {
			o := w.sum(&w.fixed, row-first, b)
			b.set.writeRows(Rows(c, row, min(row+quad, last)), w.sums, b.stride, o, add)
		}
	}
}

// checkBits panics if matrices do not fit.
func checkBits(what string, c Matrix, b *Bits, depth, rows, cols int) {
	if c.Rows != rows || c.Cols != cols || b.depth != depth || !complete(c) {
		panic(fmt.Sprintf("kernels: %s of depth %d, and bits of %d × %d, into %s", what, depth, b.depth, b.cols, describe(c)))
	}
}

// bitsWork is the scratch of products with bits.
type bitsWork struct {
	tables []int32 // for some groups, the sums of the subsets of the integers of four rows
	sums   []int32 // four rows of all columns

	transposed Matrix
	fixed      Fixed
}

const (
	// groupsTogether is how many groups' tables fit into a cache of 32 KB beside the bits.
	groupsTogether = 64
	// columnsTogether is how many columns AddTN transposes at a time.
	columnsTogether = 16
)

var bitsScratch = sync.Pool{New: func() any {
	return &bitsWork{tables: make([]int32, groupsTogether*quad*16)}
}}

// A fixedOutput converts the integers k of rows to floats, (2ˢ·k + start)·scale.
type fixedOutput struct {
	shift  int
	starts [quad]int32
	scales []float32
}

// sum computes the sums of four rows of a matrix that bits select.
func (w *bitsWork) sum(f *Fixed, row int, b *Bits) fixedOutput {
	s := b.set
	if f.set != s {
		panic("kernels: a product of matrices packed for two instruction sets")
	}
	w.sums = slices.Grow(w.sums[:0], quad*b.stride)[:quad*b.stride]
	groups := (f.depth + s.groupBits() - 1) / s.groupBits()
	if groups == 0 {
		clear(w.sums)
	}
	for group := 0; group < groups; group += groupsTogether {
		count := min(groupsTogether, groups-group)
		s.subsets(w.tables, f.integers[row*f.stride+group*s.groupBits():], f.stride, count)
		words := b.words[group/groupsOfWord*b.stride:]
		for column := 0; column < b.cols; column += s.tileColumns() {
			s.bitsProduct(w.sums[column:], w.tables, words[column:], count, min(s.tileColumns(), b.cols-column), b.stride, group)
		}
	}
	// A unit that is −1 when off subtracts the integer k from the sum when off: add 2k·bit − k.
	o := fixedOutput{shift: int(-b.off), scales: f.scales[row:]}
	for r := range o.starts {
		o.starts[r] = b.off * f.sums[row+r]
	}
	return o
}

// transpose writes the columns of a as the rows of transposed.
func (w *bitsWork) transpose(a Matrix) {
	stride := roundUp(a.Rows, columnsTogether) // whole blocks of every instruction set
	n := columnsTogether * stride
	w.transposed = Matrix{Rows: a.Cols, Cols: a.Rows, Stride: max(stride, 1), Data: slices.Grow(w.transposed.Data[:0], n)[:n]}
	current.transposeBlocks(w.transposed, a)
}

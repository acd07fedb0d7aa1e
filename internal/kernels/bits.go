package kernels

import (
	"fmt"
	"math"
)

// Bits is a matrix of units that are on or off, for products with matrices in fixed point. It
// reuses its memory for the next matrix.
type Bits struct {
	set         *instructionSet
	off         int32 // value of a unit that is off: 0 or −1
	depth, cols int
	stride      int      // words per row of words, with padding
	words       []uint32 // one row per wordBits of the depth, with one word per column
}

// NewBits returns an empty matrix for units that are 1 when on, and 0 or −1 when off.
func NewBits(off float32) *Bits {
	b := new(Bits)
	b.setOff(off)
	return b
}

func (b *Bits) setOff(off float32) {
	if off != 0 && off != -1 {
		panic(fmt.Sprintf("kernels: units are %v when off: use 0 or −1", off))
	}
	b.off = int32(off)
}

// BitsBytes returns the approximate memory of a matrix of bits, in bytes.
func BitsBytes(depth, cols float64) float64 {
	return 4 * math.Ceil(depth/float64(current.wordBits())) * (cols + float64(current.columns))
}

// PackRows packs aᵀ: the columns of b are the rows of a. A unit is on if its number is positive.
func (b *Bits) PackRows(a Matrix) {
	b.resize(a, a.Cols, a.Rows)
	if b.depth > 0 && b.cols > 0 {
		b.set.bitsOfRows(b.words, a, b.stride)
	}
}

// PackColumns packs a.
func (b *Bits) PackColumns(a Matrix) {
	b.resize(a, a.Rows, a.Cols)
	if b.cols == 0 {
		return
	}
	each := b.set.wordBits()
	for first := 0; first < b.depth; first += each {
		b.set.bitsOfColumns(b.words[first/each*b.stride:][:b.stride], Rows(a, first, min(first+each, b.depth)))
	}
}

func (b *Bits) resize(a Matrix, depth, cols int) {
	if !complete(a) {
		panic("kernels: the bits of " + describe(a))
	}
	b.set, b.depth, b.cols = current, depth, cols
	b.stride = roundUp(cols, b.set.columns)
	each := b.set.wordBits()
	if n := (depth + each - 1) / each * b.stride; n > cap(b.words) {
		b.words = make([]uint32, n)
	} else {
		b.words = b.words[:n]
	}
}

// A word consists of groups of bits. Each bit of a group stands for one integer, so that the group
// selects a subset of integers, and thus the subset's sum.
const groupsOfWord = 8

func (s *instructionSet) wordBits() int { return groupsOfWord * s.groupBits }

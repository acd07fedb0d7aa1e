package kernels

import (
	"fmt"
	"math"
)

// Precision is how the elements of a packed symmetric matrix are stored.
type Precision int

const (
	// Float32 stores the elements unchanged.
	Float32 Precision = iota
	// Int16 stores the diagonal unchanged, and the other elements as multiples of 1/32767 of the
	// largest magnitude in their block of 16 × 16: their error is at most 2⁻¹⁶ (1 + 2⁻⁷) of this
	// magnitude. A block becomes zero if its largest magnitude is below 2⁻¹⁰⁰.
	Int16
)

const tiny = 0x1p-100

// block is the number of rows and columns of a block of a packed matrix.
const block = 16

// Symmetric is a symmetric matrix of which only one triangle is stored: a product reads only half
// of the matrix from memory, or a quarter with Int16.
//
// The rows are divided into strips of sixteen rows, and each strip, up to the diagonal, into blocks
// of sixteen columns. The blocks are stored one after the other, row-major, padded with zeros.
type Symmetric struct {
	size     int
	float    []float32 // blocks, with Float32
	short    []int16   // blocks, with Int16: off the diagonal
	scales   []float32 // of the blocks of short
	diagonal []float32 // with Int16
}

// NewSymmetrics returns matrices of zeros that are contiguous in memory, for products with all of
// them in turn.
func NewSymmetrics(sizes []int, p Precision) []Symmetric {
	blocks, diagonal := 0, 0
	for _, size := range sizes {
		blocks += blocksOf(size)
		diagonal += size
	}
	var whole Symmetric
	if p == Float32 {
		whole.float = make([]float32, blocks*block*block)
	} else {
		whole.short = make([]int16, blocks*block*block)
		whole.scales = make([]float32, blocks)
		whole.diagonal = make([]float32, diagonal)
	}
	all := make([]Symmetric, len(sizes))
	for i, size := range sizes {
		s := &all[i]
		s.size = size
		blocks := blocksOf(size)
		if p == Float32 {
			s.float, whole.float = divide(whole.float, blocks*block*block)
		} else {
			s.short, whole.short = divide(whole.short, blocks*block*block)
			s.scales, whole.scales = divide(whole.scales, blocks)
			s.diagonal, whole.diagonal = divide(whole.diagonal, size)
		}
	}
	return all
}

// blocksOf returns the number of blocks of a matrix of the given size.
func blocksOf(size int) int {
	strips := (size + block - 1) / block
	return strips * (strips + 1) / 2
}

func divide[E any](s []E, n int) (first, rest []E) { return s[:n:n], s[n:] }

// Bytes returns the size of s in memory, which is what Mul reads.
func (s *Symmetric) Bytes() int {
	return 4*len(s.float) + 2*len(s.short) + 4*len(s.scales) + 4*len(s.diagonal)
}

// SymmetricBytes returns the memory of a matrix of the given size in bytes, including padding.
func SymmetricBytes(size int, p Precision) float64 {
	strips := math.Ceil(float64(size) / block)
	blocks := strips * (strips + 1) / 2
	if p == Float32 {
		return 4 * blocks * block * block
	}
	return 2*blocks*block*block + 4*blocks + 4*float64(size)
}

// Pack sets s to m, reading only the lower triangle of m.
func (s *Symmetric) Pack(m Matrix) {
	if m.Rows != s.size || m.Cols != s.size || !complete(m) {
		panic(fmt.Sprintf("kernels: cannot pack %s into a symmetric matrix of size %d", describe(m), s.size))
	}
	for i := range s.diagonal {
		s.diagonal[i] = m.Data[i*m.Stride+i]
	}
	number := 0
	for top := 0; top < s.size; top += block {
		for left := 0; left <= top; left += block {
			s.packBlock(number, m, top, left)
			number++
		}
	}
}

func (s *Symmetric) packBlock(number int, m Matrix, top, left int) {
	var elements [block * block]float32
	for i := top; i < min(top+block, s.size); i++ {
		row := elements[(i-top)*block:][:block]
		copy(row, m.Data[i*m.Stride+left:i*m.Stride+min(left+block, i+1)])
		if top == left {
			for j := left; j < i; j++ {
				elements[(j-left)*block+i-top] = row[j-left]
			}
		}
	}
	if s.float != nil {
		copy(s.float[number*len(elements):], elements[:])
		return
	}
	if top == left {
		for i := range block {
			elements[i*block+i] = 0
		}
	}
	s.scales[number] = quantize(s.short[number*len(elements):][:len(elements)], &elements)
}

// quantize writes the elements as multiples of a scale, which it returns.
func quantize(to []int16, elements *[block * block]float32) (scale float32) {
	const magnitude = 1<<31 - 1
	bits := uint32(0) // the bits of floats ≥ 0 are ordered like the floats
	for _, e := range elements {
		bits = max(bits, math.Float32bits(e)&magnitude)
	}
	largest := math.Float32frombits(bits)
	if largest < tiny {
		clear(to)
		return 0
	}
	// Adding this number leaves the nearest integer in the lowest bits.
	const rounder = 3 << 22
	inverse := math.MaxInt16 / largest
	for i, e := range elements {
		to[i] = int16(math.Float32bits(e*inverse + rounder))
	}
	return largest / math.MaxInt16
}

// Mul sets y = s·x. y and x must not share memory.
func (s *Symmetric) Mul(y, x []float32) {
	if len(y) != s.size || len(x) != s.size {
		panic(fmt.Sprintf("kernels: product of a symmetric matrix of size %d and %d numbers, into %d", s.size, len(x), len(y)))
	}
	padded := roundUp(s.size, block)
	buffer := scratch.Get().(*[]float32)
	defer scratch.Put(buffer)
	if cap(*buffer) < 2*padded {
		*buffer = make([]float32, 2*padded)
	}
	sums, factors := (*buffer)[:padded], (*buffer)[padded:2*padded]
	clear(sums)
	clear(factors[copy(factors, x):])

	number := 0
	for strip := range padded / block {
		switch {
		case current == &portable:
			s.portableStrip(sums, factors, number, strip)
		case s.float != nil:
			current.strip32(&sums[0], &factors[0], &s.float[number*block*block], strip)
		default:
			current.strip16(&sums[0], &factors[0], &s.short[number*block*block], &s.scales[number], strip)
		}
		number += strip + 1
	}
	copy(y, sums)
	for i, d := range s.diagonal {
		y[i] += d * x[i]
	}
}

// portableStrip multiplies a strip and its mirror image by x, and adds the products to y. number is
// the index of the strip's first block.
func (s *Symmetric) portableStrip(y, x []float32, number, strip int) {
	var elements [block]float32
	for left := range strip + 1 {
		for i := range block {
			s.row(&elements, number+left, i)
			row, sum := strip*block+i, float32(0)
			xs, ys := x[left*block:][:block], y[left*block:][:block]
			for j, e := range elements {
				sum += e * xs[j]
			}
			if left < strip {
				for j, e := range elements {
					ys[j] += e * x[row]
				}
			}
			y[row] += sum
		}
	}
}

// row reads row i of a block.
func (s *Symmetric) row(to *[block]float32, number, i int) {
	first := (number*block + i) * block
	if s.float != nil {
		copy(to[:], s.float[first:])
		return
	}
	for j, e := range s.short[first:][:block] {
		to[j] = float32(e) * s.scales[number]
	}
}

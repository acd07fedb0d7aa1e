package kernels

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Fixed is a matrix in fixed point: integers of 32 bits, times a power of two per row. The power is
// small enough that no sum of a row's integers, each with either sign, overflows. In a row of n
// numbers, the error of each number is at most n·2⁻³⁰ times the row's largest magnitude, or 2⁻¹²⁷
// if that is larger. A row with a number that is not finite gives NaN in products.
type Fixed struct {
	set         *instructionSet
	rows, depth int
	stride      int // integers between rows
	integers    []int32
	sums        []int32   // of the integers of each row
	scales      []float32 // of the integers of each row
}

// quad is the number of rows that are multiplied together.
const quad = 4

// NewFixed returns an empty matrix of the given size.
func NewFixed(rows, depth int) *Fixed {
	f := new(Fixed)
	f.Resize(rows, depth)
	return f
}

// FixedBytes returns the memory of a matrix in fixed point, in bytes.
func FixedBytes(rows, depth int) float64 {
	all := 4 * math.Ceil(float64(rows)/quad)
	return 4 * all * (float64(fixedStride(depth)) + 2)
}

// fixedStride returns the length of a row, with room for whole vectors and whole groups.
func fixedStride(depth int) int { return roundUp(depth+quad, 16) }

// Resize makes f an empty matrix of the given size, and reuses its memory if that is large enough.
func (f *Fixed) Resize(rows, depth int) {
	f.set, f.rows, f.depth, f.stride = current, rows, depth, fixedStride(depth)
	all := roundUp(rows, quad)
	f.integers = slices.Grow(f.integers[:0], all*f.stride)[:all*f.stride]
	f.sums = slices.Grow(f.sums[:0], all)[:all]
	f.scales = slices.Grow(f.scales[:0], all)[:all]
	for i := rows; i < all; i++ {
		f.sums[i], f.scales[i] = 0, 0
		clear(f.integers[i*f.stride:][:f.stride])
	}
}

// Pack converts rows first to last−1 of m. Different rows may be packed concurrently.
func (f *Fixed) Pack(m Matrix, first, last int) {
	if m.Rows != f.rows || m.Cols != f.depth || !complete(m) || first < 0 || last > f.rows {
		panic(fmt.Sprintf("kernels: cannot pack rows %d to %d of %s into %d × %d in fixed point",
			first, last, describe(m), f.rows, f.depth))
	}
	for i := first; i < last; i++ {
		f.packRow(i, Row(m, i))
	}
}

// PackColumns converts columns first to last−1 of m to rows of f. Different columns may be packed
// concurrently.
func (f *Fixed) PackColumns(m Matrix, first, last int) {
	if m.Cols != f.rows || m.Rows != f.depth || !complete(m) || first < 0 || last > f.rows {
		panic(fmt.Sprintf("kernels: cannot pack columns %d to %d of %s into %d × %d in fixed point",
			first, last, describe(m), f.rows, f.depth))
	}
	w := bitsScratch.Get().(*bitsWork)
	defer bitsScratch.Put(w)
	w.packColumns(f, m, first, last)
}

func (f *Fixed) packRow(i int, row []float32) {
	integers := f.integers[i*f.stride:][:f.stride]
	f.sums[i], f.scales[i] = 0, 0
	clear(integers[len(row):])
	if len(row) == 0 {
		return
	}
	exponent, finite := fixedPoint(f.set.largest(row), len(row))
	if !finite {
		f.scales[i] = float32(math.NaN())
		clear(integers)
		return
	}
	f.scales[i] = powerOfTwo(-exponent)
	f.sums[i] = f.set.fix(integers, row, powerOfTwo(exponent))
}

// fixedPoint returns the exponent e for a row of n numbers x: 2ᵉ·x is rounded to integers. largest
// holds the bits of the largest magnitude as a float32. finite is false if that is infinite or NaN.
func fixedPoint(largest uint32, n int) (exponent int, finite bool) {
	biased := int(largest >> 23)
	// |x| < 2^(biased−126), and n < 2^Len(n).
	return min(31-bits.Len(uint(n))-(biased-126), 126), biased < 255
}

// powerOfTwo returns 2ⁿ for −126 ≤ n ≤ 127.
func powerOfTwo(n int) float32 { return math.Float32frombits(uint32(127+n) << 23) }

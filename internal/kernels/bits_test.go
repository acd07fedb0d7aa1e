package kernels

import (
	"math"
	"testing"
)

// bitsOperands are a matrix of numbers and one of units that are 1 or off.
func bitsOperands(f *field, rows, depth, cols int, off float32) (numbers, units Matrix) {
	numbers, units = f.matrix(rows, depth), f.matrix(depth, cols)
	for i := range depth {
		for j := range cols {
			Row(units, i)[j] = off
			if f.random.IntN(2) > 0 {
				Row(units, i)[j] = 1
			}
		}
	}
	return numbers, units
}

func transposeOf(f *field, m Matrix) Matrix {
	t := f.matrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for j := range m.Cols {
			Row(t, j)[i] = Row(m, i)[j]
		}
	}
	return t
}

// fixedProduct computes numbers·units as it is defined, from the row's integers.
func fixedProduct(numbers, units Matrix) Matrix {
	c := NewMatrix(numbers.Rows, units.Cols)
	for i := range c.Rows {
		exponent, finite := fixedPoint(portableLargest(Row(numbers, i)), numbers.Cols)
		for j := range c.Cols {
			sum := int64(0)
			for k, x := range Row(numbers, i) {
				sum += int64(math.RoundToEven(math.Ldexp(float64(x), exponent))) * int64(Row(units, k)[j])
			}
			if sum != int64(int32(sum)) {
				panic("a sum that overflows")
			}
			Row(c, i)[j] = float32(sum) * powerOfTwo(-exponent)
			if !finite {
				Row(c, i)[j] = float32(math.NaN())
			}
		}
	}
	return c
}

// Products with bits are what they are defined to be, bit for bit, with every
// instruction set: of either units, into c or onto it, of all rows or of some.
func TestProductsWithBitsAreExact(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n, s := range shapes(testing.Short()) {
			f := newField(uint64(n))
			off := -float32(n % 2)
			numbers, units := bitsOperands(f, s.rows, s.depth, s.cols, off)
			want := fixedProduct(numbers, units)

			bits := NewBits(off)
			bits.PackRows(transposeOf(f, units))
			fixed := NewFixed(s.rows, s.depth)
			fixed.Pack(numbers, s.rows/2, s.rows)
			fixed.Pack(numbers, 0, s.rows/2)
			c := f.matrix(s.cols, s.rows)
			MulBits(c, bits, fixed)
			same(t, transposeOf(f, c), want)

			bits.PackColumns(units, nil)
			add, g := n%3 == 0, f.matrix(s.rows, s.cols)
			before := Clone(g)
			columns := transposeOf(f, numbers)
			AddTN(g, add, columns, nil, bits)
			for i := range g.Rows {
				for j, x := range Row(want, i) {
					if add {
						x += Row(before, i)[j]
					}
					if Row(g, i)[j] != x {
						t.Fatalf("%+v: element %d, %d is %v, want %v", s, i, j, Row(g, i)[j], x)
					}
				}
			}

			some := []int32{}
			for r := range s.depth {
				if f.random.IntN(3) > 0 {
					some = append(some, int32(r))
				}
			}
			ofSome, unitsOfSome := NewMatrix(s.rows, len(some)), NewMatrix(len(some), s.cols)
			for k, r := range some {
				copy(Row(unitsOfSome, k), Row(units, int(r)))
				for i := range s.rows {
					Row(ofSome, i)[k] = Row(numbers, i)[r]
				}
			}
			bits.PackColumns(units, some)
			AddTN(g, false, columns, some, bits)
			same(t, g, fixedProduct(ofSome, unitsOfSome))
			f.check(t, 2*s.depth*(s.rows+s.cols)+3*s.rows*s.cols)
		}
	})
}

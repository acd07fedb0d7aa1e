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
// instruction set: of either units, into c or onto it.
func TestProductsWithBitsAreExact(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n, s := range shapes(testing.Short()) {
			f := newField(uint64(n))
			off := -float32(n % 2)
			numbers, units := bitsOperands(f, s.rows, s.depth, s.cols, off)
			want := fixedProduct(numbers, units)

			fixed := NewFixed(s.rows, s.depth)
			fixed.Pack(numbers, s.rows/2, s.rows)
			fixed.Pack(numbers, 0, s.rows/2)
			c := f.matrix(s.cols, s.rows)
			rows := transposeOf(f, units)
			MulFixed(c, rows, off, fixed)
			same(t, transposeOf(f, c), want)
			columns := transposeOf(f, numbers)
			fixed.PackColumns(columns, s.rows/2, s.rows)
			fixed.PackColumns(columns, 0, s.rows/2)
			MulTNFixed(c, units, off, fixed)
			same(t, transposeOf(f, c), want)

			bits := NewBits(off)
			bits.PackColumns(units)
			add, g := n%3 == 0, f.matrix(s.rows, s.cols)
			before := Clone(g)
			AddTN(g, add, columns, bits)
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
			f.check(t, 2*s.depth*(s.rows+s.cols)+4*s.rows*s.cols)
		}
	})
}

// A row with a number that is not finite has products that are NaN, and no other row
// has.
func TestProductsWithBitsShowWhatIsNotFinite(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			f := newField(1)
			numbers, units := bitsOperands(f, 7, 40, 30, -1)
			Row(numbers, 3)[33] = float32(bad)
			c, bits, fixed := f.matrix(30, 7), NewBits(-1), NewFixed(7, 40)
			fixed.Pack(numbers, 0, 7)
			MulFixed(c, transposeOf(f, units), -1, fixed)
			bits.PackColumns(units)
			g := f.matrix(7, 30)
			AddTN(g, false, transposeOf(f, numbers), bits)
			for i := range 7 {
				for j := range 30 {
					for _, x := range []float32{Row(c, j)[i], Row(g, i)[j]} {
						if math.IsNaN(float64(x)) != (i == 3) {
							t.Fatalf("with %v in row 3, element %d, %d is %v", bad, i, j, x)
						}
					}
				}
			}
		}
	})
}

// Numbers of any size are off by no more than is said of Fixed, alone and in sums.
func TestFixedPointIsAsExactAsItSays(t *testing.T) {
	f := newField(2)
	for _, size := range []float64{0x1p-140, 0x1p-100, 1e-20, 1, 1e20, 0x1p126} {
		for _, depth := range []int{1, 2, 3, 100, 1000} {
			row, largest := f.vector(depth), 0.0
			for i := range row {
				row[i] *= float32(size)
				largest = max(largest, math.Abs(float64(row[i])))
			}
			exponent, finite := fixedPoint(portableLargest(row), depth)
			if !finite {
				t.Fatalf("%v is not finite", largest)
			}
			magnitudes := 0.0
			for _, x := range row {
				k := math.RoundToEven(math.Ldexp(float64(x), exponent))
				magnitudes += math.Abs(k)
				off := math.Abs(math.Ldexp(k, -exponent) - float64(x))
				if limit := max(float64(depth)*0x1p-30*largest, 0x1p-127); off > limit {
					t.Errorf("%v of a row of %d up to %v is off by %v, more than %v", x, depth, largest, off, limit)
				}
			}
			if magnitudes > math.MaxInt32 {
				t.Errorf("a row of %d up to %v: its integers sum to %v", depth, largest, magnitudes)
			}
		}
	}
}

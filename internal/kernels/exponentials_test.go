package kernels

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
)

// The vector kernels give the bits of package math in every lane, so that old runs resume with the same bytes. The
// numbers include the ends of all branches, and those whose exponentials are too small or too large.
func TestDoublesHaveTheBitsOfPackageMath(t *testing.T) {
	numbers := []float64{0, 0x1p-54, 0x1p-29, 0x1p-20, math.Sqrt2 - 1, 0.625, 1, 44.014, 0x1p52, 0x1p53, 708, 709.4, 709.6, 744.5, 745.2, 1e300, math.Inf(1)}
	for _, x := range numbers {
		numbers = append(numbers, math.Nextafter(x, 0), math.Nextafter(x, 1e308))
	}
	f := newField(1)
	for k := range 100_000 {
		numbers = append(numbers, math.Exp2(float64(k%110-56))*f.random.Float64())
	}
	for _, x := range numbers {
		numbers = append(numbers, -x)
	}
	numbers = append(numbers, math.NaN())
	eachSet(t, func(t *testing.T) {
		for i, kernel := range []func([]float64){Softplus, Logistic, Log1p, Exp, func(x []float64) { current.doubles[4](x) }} {
			for first, n := 0, 0; first < len(numbers); first, n = first+n, (n+1)%40 {
				from := numbers[first:min(first+n, len(numbers))]
				got := append([]float64(nil), from...)
				if i == 2 {
					for j, x := range got {
						got[j] = math.Abs(x)
					}
				}
				want := append([]float64(nil), got...)
				kernel(got)
				portableDoubles[i](want)
				for j, x := range from {
					if math.Float64bits(got[j]) != math.Float64bits(want[j]) && want[j] == want[j] {
						t.Fatalf("function %d of %v is %v, want %v", i, x, got[j], want[j])
					}
				}
			}
		}
	})
}

func TestRoundedTanh(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n := range 300 {
			f := newField(uint64(n))
			x, want := f.vector(n), make([]float32, n)
			for i, v := range x {
				want[i] = float32(math.Tanh(float64(v)))
			}
			if RoundedTanh(x); !sameBits(x, want) {
				t.Fatalf("of %d numbers, tanh is %v, want %v", n, x, want)
			}
			f.check(t, n)
		}
	})
}

// Probabilities have the bits of the portable code for any number of columns, and sum to at most 1.
func TestAtMostOne(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for columns := 1; columns < 70; columns++ {
			f := newField(uint64(columns))
			inputs, biases := f.matrix(9, columns), f.vector(columns)
			for k := range columns {
				for r := range 9 {
					inputs.Data[r*inputs.Stride+k] *= float32(math.Exp2(float64((k+r)%12 - 3)))
				}
			}
			Row(inputs, 3)[0] = float32(math.Inf(1))
			Row(inputs, 2)[columns/2] = float32(math.Inf(-1))
			Row(inputs, 4)[columns-1] = float32(math.NaN())
			want := Clone(inputs)
			groups := [][]int{{0, 2, 7, 8}, {3}, {6, 5, 4}}
			AtMostOne(inputs, biases, groups)
			for _, rows := range groups {
				portableAtMostOne(want, biases, rows)
			}
			for r := range 9 {
				if !sameBits(Row(inputs, r), Row(want, r)) {
					t.Fatalf("with %d columns, row %d is %v, want %v", columns, r, Row(inputs, r), Row(want, r))
				}
			}
			f.check(t, 10*columns)
		}
	})
}

// Dots has the bits of gonum's products, for any number of rows and columns.
func TestDots(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		f := newField(1)
		random := func(n int) []float64 {
			x := Doubles(f.vector(n))
			Softplus(x) // fills all digits
			return x
		}
		for rows := range 10 {
			for columns := range 20 {
				a, x, got := random(rows*columns), random(columns), slices.Repeat([]float64{math.Pi}, rows+1)
				Dots(got[:rows], a, x)
				for i := range rows {
					if want := floats.Dot(a[i*columns:(i+1)*columns], x); got[i] != want || got[rows] != math.Pi {
						t.Fatalf("product %d of %d with %d columns is %v, want %v", i, rows, columns, got[i], want)
					}
				}
			}
		}
	})
}

func TestAddSingles(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n := range 40 {
			f := newField(uint64(n))
			from, to := f.vector(n), slices.Repeat([]float64{math.Pi}, n+1)
			AddSingles(to, from)
			for i, x := range append(Doubles(from), 0) {
				if to[i] != math.Pi+x {
					t.Fatalf("of %d sums, number %d is %v, want %v", n, i, to[i], math.Pi+x)
				}
			}
		}
	})
}

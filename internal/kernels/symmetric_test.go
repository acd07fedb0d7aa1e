package kernels

import (
	"math"
	"testing"
)

// mulSymmetric sets y = m·x for a symmetric matrix m stored whole, as Mul does for
// one of which a triangle is stored.
func mulSymmetric(y []float32, m Matrix, x []float32) {
	row := func(v []float32) Matrix { return Matrix{Rows: 1, Cols: len(v), Stride: max(len(v), 1), Data: v} }
	check("xᵀ·m", row(y), row(x), m, 1, len(x) == m.Rows, m.Cols)
	current.product(row(y), 1, 0, plain(row(x)), plain(m), len(x)) // the rows of m times x
}

// newSymmetric returns a matrix of zeros.
func newSymmetric(size int, p Precision) *Symmetric {
	return &NewSymmetrics([]int{size}, p)[0]
}

func symmetricMatrix(f *field, n int) Matrix {
	m := f.matrix(n, n)
	for i := range n {
		for j := range i {
			// Magnitudes that differ from block to block.
			m.Data[i*m.Stride+j] *= float32(math.Exp(float64(i/block - 2*j/block)))
			m.Data[j*m.Stride+i] = m.Data[i*m.Stride+j]
		}
	}
	return m
}

func symmetricSizes() []int {
	sizes := []int{301}
	step := 1
	if testing.Short() {
		step = 5
	}
	for n := 0; n <= 130; n += step {
		sizes = append(sizes, n)
	}
	return sizes
}

func TestSymmetricAgainstDoublePrecision(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, n := range symmetricSizes() {
			f := newField(uint64(n))
			m, x := symmetricMatrix(f, n), f.vector(n)
			float, short := newSymmetric(n, Float32), newSymmetric(n, Int16)
			float.Pack(m)
			short.Pack(m)
			for name, c := range map[string]struct {
				unit     float64 // of an element, of the largest in its block
				multiply func(y, x []float32)
			}{
				"whole":   {0, func(y, x []float32) { mulSymmetric(y, m, x) }},
				"Float32": {0, float.Mul},
				"Int16":   {0x1p-16 * (1 + 0x1p-7), short.Mul},
			} {
				f := *f
				y := f.vector(n)
				c.multiply(y, x)
				for i := range n {
					want, bound := 0.0, 0.0
					for j := range n {
						p := element(m, false, i, j) * float64(x[j])
						want += p
						bound += float64(n+4) * 0x1p-24 * math.Abs(p)
						bound += c.unit * largestInBlock(m, i, j) * math.Abs(float64(x[j])) * (1 + 0x1p-10)
					}
					if !(math.Abs(float64(y[i])-want) <= bound) {
						t.Fatalf("%s, size %d: element %d is %v, want %v ± %v", name, n, i, y[i], want, bound)
					}
				}
				f.check(t, n*n+2*n)
			}
		}
	})
}

// largestInBlock is the largest magnitude, off the diagonal, in the block of
// an element.
func largestInBlock(m Matrix, i, j int) (largest float64) {
	top, left := i/block*block, j/block*block
	for i := top; i < min(top+block, m.Rows); i++ {
		for j := left; j < min(left+block, m.Cols); j++ {
			if i != j {
				largest = max(largest, math.Abs(element(m, false, i, j)))
			}
		}
	}
	return largest
}

// The columns of a packed matrix are its products with unit vectors.
func TestInt16KeepsTheDiagonalAndSmallBlocks(t *testing.T) {
	m := NewMatrix(33, 33)
	for i := range 33 {
		m.Data[i*33+i] = float32(i) + 0.1
	}
	m.Data[32*33], m.Data[32] = 1e-37, 1e-37
	s := newSymmetric(33, Int16)
	s.Pack(m)
	x, y := make([]float32, 33), make([]float32, 33)
	for i := range x {
		clear(x)
		x[i] = 1
		s.Mul(y, x)
		for j := range y {
			if want := m.Data[i*33+j]; j == i && y[j] != want || j != i && y[j] != 0 {
				t.Errorf("element %d, %d is %v, want %v", i, j, y[j], want)
			}
		}
	}
}

// What a product reads: half of the matrix, or a quarter.
func TestBytesOfPackedMatrices(t *testing.T) {
	const whole = 4 * 301 * 301
	for p, share := range map[Precision]float64{Float32: 0.54, Int16: 0.28} {
		if got := float64(newSymmetric(301, p).Bytes()) / whole; got > share || got < share-0.04 {
			t.Errorf("precision %d takes %.3f of the whole matrix, want at most %v", p, got, share)
		}
	}
}

package kernels

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A shape of a product: a has rows × depth elements, b has depth × cols.
type shape struct{ rows, depth, cols int }

// shapes are those at which each dimension in turn runs through 0 … 130,
// random ones, and those of the layers of the machine of the thesis; short, a
// part of them.
func shapes(short bool) (list []shape) {
	step := 1
	if short {
		step = 5
	}
	for n := 0; n <= 130; n += step {
		list = append(list, shape{n, 9, 21}, shape{9, n, 21}, shape{9, 21, n})
	}
	random := newField(1).random
	for range 40 {
		list = append(list, shape{random.IntN(131), random.IntN(131), random.IntN(131)})
	}
	if short {
		return list
	}
	units := []int{784, 300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}
	for i, n := range units[1:] {
		for _, rows := range []int{32, 80} {
			list = append(list, shape{rows, 1 + units[i], n}, shape{rows, 1 + n, units[i]}) // logits
		}
		list = append(list, shape{32, 320, 1 + n}) // gradients of 32 units
	}
	return list
}

// A productKernel is what a test knows of a kernel: c = β·c + α·a·b.
type productKernel struct {
	name        string
	aT, bT      bool // the kernel takes the transpose
	alpha, beta float64
	run         func(c, a, b Matrix)
}

var productKernels = []productKernel{
	{"MulNT", false, true, 1, 0, MulNT},
	{"MulPacked", false, true, 1, 0, func(c, a, b Matrix) {
		p := NewPacked(b.Rows, b.Cols)
		half := b.Rows / 2 / PackedRows * PackedRows
		p.Pack(b, half, b.Rows)
		p.Pack(b, 0, half)
		MulPacked(c, a, p)
		MulPacked(Cols(c, half, c.Cols), a, p.From(half))
	}},
	{"MulTN, scale 0", true, false, 1, 0, func(c, a, b Matrix) { MulTN(c, 0, a, b) }},
	{"MulTN, scale 0.7", true, false, 1, float64(float32(0.7)), func(c, a, b Matrix) { MulTN(c, 0.7, a, b) }},
	{"AddMulNN", false, false, 1, 1, AddMulNN},
	{"SubMulNN", false, false, -1, 1, SubMulNN},
}

// operands returns a, b and c of a shape as a kernel takes them. Where the
// kernel shall not read c, it is NaN.
func (k productKernel) operands(f *field, s shape) (c, a, b Matrix) {
	oriented := func(transpose bool, rows, cols int) Matrix {
		if transpose {
			return f.matrix(cols, rows)
		}
		return f.matrix(rows, cols)
	}
	a, b = oriented(k.aT, s.rows, s.depth), oriented(k.bT, s.depth, s.cols)
	c = f.matrix(s.rows, s.cols)
	if k.beta == 0 {
		for i := range c.Rows {
			for j := range c.Cols {
				Row(c, i)[j] = float32(math.NaN())
			}
		}
	}
	return c, a, b
}

func element(m Matrix, transpose bool, i, j int) float64 {
	if transpose {
		i, j = j, i
	}
	return float64(m.Data[i*m.Stride+j])
}

// A sum of n terms in single precision is off by at most n units of rounding
// times the sum of their magnitudes.
func TestProductsAgainstDoublePrecision(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for n, s := range shapes(testing.Short()) {
			k := productKernels[n%len(productKernels)]
			f := newField(uint64(n))
			c, a, b := k.operands(f, s)
			before := Clone(c)
			k.run(c, a, b)
			for i := range s.rows {
				for j := range s.cols {
					want, scale := 0.0, 0.0
					if k.beta != 0 {
						want = k.beta * element(before, false, i, j)
						scale = math.Abs(want)
					}
					for d := range s.depth {
						p := element(a, k.aT, i, d) * element(b, k.bT, d, j)
						want += k.alpha * p
						scale += math.Abs(p)
					}
					got := element(c, false, i, j)
					if !(math.Abs(got-want) <= float64(s.depth+2)*0x1p-24*scale) {
						t.Fatalf("%s of %+v: element %d, %d is %v, want %v", k.name, s, i, j, got, want)
					}
				}
			}
			f.check(t, s.rows*s.depth+s.depth*s.cols+s.rows*s.cols)
			if t.Failed() {
				t.Fatalf("%s of %+v", k.name, s)
			}
		}
	})
}

// Every kernel at every shape is too slow in one test; here all meet at some.
func TestEveryProductAtSomeShapes(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, s := range []shape{{0, 5, 5}, {5, 0, 5}, {5, 5, 0}, {1, 1, 1}, {15, 33, 97}, {8, 16, 48}, {13, 17, 49}} {
			for _, k := range productKernels {
				c, a, b := k.operands(newField(2), s)
				want := Clone(c)
				k.run(c, a, b)
				with(&portable, func() { k.run(want, a, b) })
				for i := range s.rows {
					for j, x := range Row(c, i) {
						if !(math.Abs(float64(x-Row(want, i)[j])) <= 1e-5) {
							t.Fatalf("%s of %+v: element %d, %d is %v, portably %v", k.name, s, i, j, x, Row(want, i)[j])
						}
					}
				}
			}
		}
	})
}

// The work may be divided anyhow: by rows of c, or by columns.
func TestProductsDoNotDependOnTheDivisionOfWork(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		f := newField(3)
		for range 30 {
			s := shape{1 + f.random.IntN(100), f.random.IntN(100), 1 + f.random.IntN(100)}
			i, j := f.random.IntN(s.rows+1), f.random.IntN(s.cols+1)
			a, b, c, d := f.matrix(s.rows, s.depth), f.matrix(s.cols, s.depth), f.matrix(s.rows, s.cols), f.matrix(s.rows, s.cols)
			MulNT(c, a, b)
			MulNT(Cols(d, 0, j), a, Rows(b, 0, j))
			MulNT(Cols(d, j, s.cols), a, Rows(b, j, s.cols))
			MulNT(Rows(d, 0, i), Rows(a, 0, i), b)
			same(t, c, Rows(d, 0, i))
			MulNT(Rows(d, i, s.rows), Rows(a, i, s.rows), b)
			same(t, Rows(c, i, s.rows), Rows(d, i, s.rows))

			at, bt := f.matrix(s.depth, s.rows), f.matrix(s.depth, s.cols)
			MulTN(c, 0, at, bt)
			MulTN(Rows(d, 0, i), 0, Cols(at, 0, i), bt)
			MulTN(Rows(d, i, s.rows), 0, Cols(at, i, s.rows), bt)
			same(t, c, d)
		}
	})
}

// same checks that b has the bits of the first rows of a.
func same(t *testing.T, a, b Matrix) {
	t.Helper()
	for i := range b.Rows {
		if !sameBits(Row(a, i), Row(b, i)) {
			t.Fatalf("row %d of %d × %d differs", i, b.Rows, b.Cols)
		}
	}
}

// A sum is rounded once a term in both vector sets: they give the same bits.
func TestVectorProductsAgree(t *testing.T) {
	if !slices.Contains(InstructionSets(), "avx512") {
		t.Skip("needs AVX-512")
	}
	f := newField(4)
	for range 50 {
		s := shape{f.random.IntN(60), f.random.IntN(60), f.random.IntN(110)}
		for _, k := range productKernels {
			c, a, b := k.operands(f, s)
			d := Clone(c)
			with(supported[1], func() { k.run(c, a, b) })
			with(supported[2], func() { k.run(d, a, b) })
			same(t, c, d)
		}
	}
}

func TestProductsFromSeveralGoroutines(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		f := newField(5)
		a, b, want := f.matrix(50, 70), f.matrix(90, 70), NewMatrix(50, 90)
		MulNT(want, a, b)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 20 {
					c := NewMatrix(50, 90)
					MulNT(c, a, b)
					if !slices.Equal(c.Data, want.Data) {
						t.Error("a product depends on what else is computed")
					}
				}
			})
		}
		group.Wait()
	})
}

func TestProductsRefuseShapesThatDoNotFit(t *testing.T) {
	m, packed, symmetric := NewMatrix, NewPacked(100, 10), newSymmetric(10, Int16)
	fixed, bits := NewFixed(4, 5), NewBits(0)
	bits.PackRows(m(3, 5))
	short := m(10, 10)
	short.Data = short.Data[:99]
	for i, call := range []func(){
		func() { MulNT(m(3, 4), m(3, 5), m(4, 6)) },
		func() { MulNT(m(3, 4), m(2, 5), m(4, 5)) },
		func() { MulNT(m(3, 4), m(3, 5), m(3, 5)) },
		func() { MulNT(short, m(10, 5), m(10, 5)) },
		func() { MulTN(m(3, 4), 0, m(5, 3), m(6, 4)) },
		func() { AddMulNN(m(3, 4), m(3, 5), m(4, 5)) },
		func() { SubMulNN(m(3, 4), m(3, 5), m(4, 5)) },
		func() { SubMulNN(m(10, 10), m(10, 10), short) },
		func() { mulSymmetric(make([]float32, 9), m(10, 10), make([]float32, 10)) },
		func() { MulPacked(m(3, 100), m(3, 11), packed) },
		func() { packed.From(50) },
		func() { packed.From(144) },
		func() { packed.Pack(m(100, 11), 0, 100) },
		func() { packed.Pack(m(100, 10), 10, 100) },
		func() { packed.Pack(m(100, 10), 0, 50) },
		func() { NewBits(0.5) },
		func() { bits.PackRows(short) },
		func() { NewFixed(10, 10).Pack(short, 0, 10) },
		func() { fixed.Pack(m(4, 5), 0, 5) },
		func() { fixed.PackColumns(m(5, 4), 0, 5) },
		func() { MulFixed(m(3, 5), m(3, 5), 0, fixed) },
		func() { MulTNFixed(m(3, 4), m(5, 3), 0, NewFixed(4, 6)) },
		func() { AddTN(m(4, 3), false, m(6, 4), bits) },
		func() { symmetric.Pack(short) },
		func() { symmetric.Mul(make([]float32, 9), make([]float32, 10)) },
	} {
		func() {
			defer func() {
				if message, ok := recover().(string); !ok || !strings.HasPrefix(message, "kernels: ") {
					t.Errorf("call %d: panic %v", i, message)
				}
			}()
			call()
		}()
	}
}

func ExamplePacked() {
	weights := Matrix{Rows: 2, Cols: 2, Stride: 2, Data: []float32{1, 2, 3, 4}}
	p := NewPacked(2, 2)
	p.Pack(weights, 0, 2)
	logits := NewMatrix(1, 2)
	MulPacked(logits, Matrix{Rows: 1, Cols: 2, Stride: 2, Data: []float32{1, 10}}, p)
	fmt.Println(logits.Data)
	// Output: [21 43]
}

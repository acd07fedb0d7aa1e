package kernels

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/philox"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// benchmark runs work with each instruction set, in one goroutine and in two
// that do half of it each. It reports billions of operations a second.
func benchmark(b *testing.B, operations float64, unit string, work func(part, parts int)) {
	defer func(s *instructionSet) { current = s }(current)
	for _, name := range InstructionSets() {
		for _, parts := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/goroutines=%d", name, parts), func(b *testing.B) {
				if err := SetInstructionSet(name); err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if parts == 1 {
						work(0, 1)
						continue
					}
					var group sync.WaitGroup
					for p := range parts {
						group.Go(func() { work(p, parts) })
					}
					group.Wait()
				}
				b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
			})
		}
	}
}

// logitShapes are products of the wake phase of the machine of the thesis: of
// all samples of a batch, of a quarter of them, and of the data alone.
var logitShapes = []shape{
	{320, 785, 300}, {80, 785, 300}, {32, 785, 300}, {320, 301, 784}, {320, 301, 200}, {320, 101, 75}, {320, 11, 10},
}

func BenchmarkMulNT(b *testing.B) {
	for _, s := range logitShapes {
		f := newField(1)
		x, w, c := f.matrix(s.rows, s.depth), f.matrix(s.cols, s.depth), f.matrix(s.rows, s.cols)
		operations := 2 * float64(s.rows*s.depth*s.cols)
		b.Run(fmt.Sprintf("%dx%dx%d", s.rows, s.depth, s.cols), func(b *testing.B) {
			benchmark(b, operations, "GFLOP/s", func(part, parts int) {
				first, last := s.rows*part/parts, s.rows*(part+1)/parts
				MulNT(Rows(c, first, last), Rows(x, first, last), w)
			})
			b.Run("gonum", func(b *testing.B) {
				for b.Loop() {
					blas32.Gemm(blas.NoTrans, blas.Trans, 1, x, w, 0, c)
				}
				b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		})
	}
}

func BenchmarkMulPacked(b *testing.B) {
	for _, s := range logitShapes {
		f := newField(1)
		x, w, c := f.matrix(s.rows, s.depth), f.matrix(s.cols, s.depth), f.matrix(s.rows, s.cols)
		packed := map[*instructionSet]*Packed{}
		defer func(s *instructionSet) { current = s }(current)
		for _, current = range supported {
			packed[current] = NewPacked(s.cols, s.depth)
			packed[current].Pack(w, 0, s.cols)
		}
		b.Run(fmt.Sprintf("%dx%dx%d", s.rows, s.depth, s.cols), func(b *testing.B) {
			benchmark(b, 2*float64(s.rows*s.depth*s.cols), "GFLOP/s", func(part, parts int) {
				first, last := s.rows*part/parts, s.rows*(part+1)/parts
				MulPacked(Rows(c, first, last), Rows(x, first, last), packed[current])
			})
		})
	}
}

func BenchmarkPack(b *testing.B) {
	w, p := NewMatrix(300, 785), map[*instructionSet]*Packed{}
	defer func(s *instructionSet) { current = s }(current)
	for _, current = range supported {
		p[current] = NewPacked(w.Rows, w.Cols)
	}
	benchmark(b, 4*300*785, "GB/s", func(part, parts int) {
		if parts == 1 {
			p[current].Pack(w, 0, 300)
		} else {
			p[current].Pack(w, 144*part, 144+156*part)
		}
	})
}

func BenchmarkMulTN(b *testing.B) {
	for _, s := range []shape{{784, 320, 301}, {300, 32, 785}, {200, 320, 301}, {75, 320, 101}, {10, 320, 11}} {
		f := newField(1)
		r, x, c := f.matrix(s.depth, s.rows), f.matrix(s.depth, s.cols), f.matrix(s.rows, s.cols)
		operations := 2 * float64(s.rows*s.depth*s.cols)
		b.Run(fmt.Sprintf("%dx%dx%d", s.rows, s.depth, s.cols), func(b *testing.B) {
			benchmark(b, operations, "GFLOP/s", func(part, parts int) {
				const units = 32
				for first := units * part; first < s.rows; first += units * parts {
					last := min(first+units, s.rows)
					MulTN(Rows(c, first, last), 0, Cols(r, first, last), x)
				}
			})
			b.Run("gonum", func(b *testing.B) {
				for b.Loop() {
					blas32.Gemm(blas.Trans, blas.NoTrans, 1, r, x, 0, c)
				}
				b.ReportMetric(operations*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		})
	}
}

// Products with bits, and those in floating point that they stand for, take turns:
// what is reported is the median of how many times as long the latter take, whatever
// else the machine does.
func BenchmarkBits(b *testing.B) {
	f := newField(1)
	for _, s := range logitShapes {
		w, x := bitsOperands(f, s.cols, s.depth, s.rows, 0)
		x = transposeOf(f, x)
		c := f.matrix(s.rows, s.cols)
		takeTurns(b, fmt.Sprintf("MulFixed/%dx%dx%d", s.rows, s.depth, s.cols), func() (floating, fixed func()) {
			packed, integers := NewPacked(s.cols, s.depth), NewFixed(s.cols, s.depth)
			packed.Pack(w, 0, s.cols)
			integers.Pack(w, 0, s.cols)
			return func() { MulPacked(c, x, packed) }, func() { MulFixed(c, x, 0, integers) }
		})
	}
	for _, s := range []shape{{32, 320, 785}, {32, 32, 785}, {32, 320, 201}, {10, 320, 11}} {
		r, x := bitsOperands(f, s.rows, s.depth, s.cols, 0)
		r = transposeOf(f, r)
		c := f.matrix(s.rows, s.cols)
		takeTurns(b, fmt.Sprintf("AddTN/%dx%dx%d", s.rows, s.depth, s.cols), func() (floating, fixed func()) {
			bits := NewBits(0)
			bits.PackColumns(x)
			return func() { MulTN(c, 0, r, x) }, func() { AddTN(c, false, r, bits) }
		})
	}
}

func takeTurns(b *testing.B, name string, operations func() (floating, fixed func())) {
	defer func(s *instructionSet) { current = s }(current)
	for _, set := range InstructionSets() {
		b.Run(name+"/"+set, func(b *testing.B) {
			if err := SetInstructionSet(set); err != nil {
				b.Fatal(err)
			}
			floating, fixed := operations()
			var ratios []float64
			for b.Loop() {
				start := time.Now()
				floating()
				between := time.Now()
				fixed()
				ratios = append(ratios, float64(between.Sub(start))/float64(time.Since(between)))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "times-float32")
		})
	}
}

// The Fisher blocks of the visible units: more than any cache holds.
func BenchmarkSymmetric(b *testing.B) {
	const units, size = 784, 301
	all := make([]float32, units*size)
	m := symmetricMatrix(newField(1), size)
	each := func(part, parts int, multiply func(unit int, y []float32)) {
		y := make([]float32, size)
		for unit := units * part / parts; unit < units*(part+1)/parts; unit++ {
			multiply(unit, y)
		}
	}
	x := func(unit int) []float32 { return all[unit*size:][:size] }
	b.Run("whole", func(b *testing.B) {
		blocks := make([]Matrix, units)
		for i := range blocks {
			blocks[i] = Clone(m)
		}
		benchmark(b, 4*units*size*size, "GB/s", func(part, parts int) {
			each(part, parts, func(unit int, y []float32) { mulSymmetric(y, blocks[unit], x(unit)) })
		})
		b.Run("gonum", func(b *testing.B) {
			vector := func(v []float32) blas32.Vector { return blas32.Vector{N: size, Inc: 1, Data: v} }
			for b.Loop() {
				each(0, 1, func(unit int, y []float32) {
					blas32.Gemv(blas.NoTrans, 1, blocks[unit], vector(x(unit)), 0, vector(y))
				})
			}
			b.ReportMetric(4*units*size*size*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
		})
	})
	for _, p := range []Precision{Float32, Int16} {
		b.Run(map[Precision]string{Float32: "float32", Int16: "int16"}[p], func(b *testing.B) {
			blocks := make([]*Symmetric, units)
			for i := range blocks {
				blocks[i] = newSymmetric(size, p)
				blocks[i].Pack(m)
			}
			benchmark(b, float64(units*blocks[0].Bytes()), "GB/s", func(part, parts int) {
				each(part, parts, func(unit int, y []float32) { blocks[unit].Mul(y, x(unit)) })
			})
		})
	}
}

// BenchmarkUnits measures the kernels of Bernoulli units on 64 rows.
func BenchmarkUnits(b *testing.B) {
	const rows = 64
	for _, units := range []int{784, 10} {
		logits, states := NewMatrix(rows, units), NewMatrix(rows, units)
		for i := range logits.Data {
			logits.Data[i] = float32(i%17) - 8
		}
		saved := Clone(logits)
		each := func(part, parts int, f func(logits, states []float32)) {
			for r := rows * part / parts; r < rows*(part+1)/parts; r++ {
				copy(Row(logits, r), Row(saved, r))
				f(Row(logits, r), Row(states, r))
			}
		}
		b.Run(fmt.Sprintf("Draw/%d", units), func(b *testing.B) {
			benchmark(b, float64(rows*units), "G/s", func(part, parts int) {
				each(part, parts, func(l, s []float32) { Draw(s, l, 0, 1, philox.Counter{}) })
			})
		})
		b.Run(fmt.Sprintf("Residual/%d", units), func(b *testing.B) {
			benchmark(b, float64(rows*units), "G/s", func(part, parts int) {
				each(part, parts, func(l, s []float32) { Residual(l, s) })
			})
		})
		b.Run(fmt.Sprintf("Score/%d", units), func(b *testing.B) {
			benchmark(b, float64(rows*units), "G/s", func(part, parts int) {
				each(part, parts, func(l, s []float32) { Score(l, s) })
			})
		})
		b.Run(fmt.Sprintf("DrawScore/%d", units), func(b *testing.B) {
			benchmark(b, float64(rows*units), "G/s", func(part, parts int) {
				each(part, parts, func(l, s []float32) { Units(Draws|Scores, s, l, 0, 1, philox.Counter{}) })
			})
		})
		b.Run(fmt.Sprintf("DrawResidual/%d", units), func(b *testing.B) {
			benchmark(b, float64(rows*units), "G/s", func(part, parts int) {
				each(part, parts, func(l, s []float32) { Units(Draws|Residuals, s, l, 0, 1, philox.Counter{}) })
			})
		})
	}
}

//go:build !purego

package kernels

import (
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/klauspost/cpuid/v2"
)

// supportedSets returns the instruction sets of this processor.
func supportedSets() []*instructionSet {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2):
		return []*instructionSet{&portable}
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return []*instructionSet{&portable, &avx2}
	}
	return []*instructionSet{&portable, &avx2, &avx512}
}

var (
	avx2 = assembly{
		transposeAVX2, gatherAVX2, bitsOfRowsAVX2, bitsOfColumnsAVX2, largestAVX2, fixAVX2, subsetsAVX2, writeRowsAVX2, writeColumnsAVX2,
		[]productOfBits{bitsProduct1AVX2, bitsProduct2AVX2, bitsProduct3AVX2},
		atMostOneAVX2, [...]func(*float64, int){softplusAVX2, logisticAVX2, log1pAVX2, expAVX2, tanhAVX2}, dotsAVX2, blocksAVX2, normalsAVX2,
	}.complete(instructionSet{
		name: "avx2", lanes: 8, groupBits: 3, products: [...]product{product1AVX2, product2AVX2, product3AVX2},
		outer: outerAVX2, strip32: symmetricStrip32AVX2, strip16: symmetricStrip16AVX2, units: unitsAVX2, sigmoids: sigmoidsAVX2, negateMeans: negateMeansAVX2, addSingles: addSinglesAVX2, samples: samplesAVX2,
	})
	avx512 = assembly{
		transposeAVX512, gatherAVX512, bitsOfRowsAVX512, bitsOfColumnsAVX512, largestAVX512, fixAVX512, subsetsAVX512, writeRowsAVX512, writeColumnsAVX512,
		[]productOfBits{bitsProduct1AVX512, bitsProduct2AVX512, bitsProduct3AVX512, bitsProduct4AVX512, bitsProduct5AVX512, bitsProduct6AVX512},
		atMostOneAVX512, [...]func(*float64, int){softplusAVX512, logisticAVX512, log1pAVX512, expAVX512, tanhAVX512}, dotsAVX512, blocksAVX512, normalsAVX512,
	}.complete(instructionSet{
		name: "avx512", lanes: 16, groupBits: 4, products: [...]product{product1AVX512, product2AVX512, product3AVX512},
		outer: outerAVX512, strip32: symmetricStrip32AVX512, strip16: symmetricStrip16AVX512, units: unitsAVX512, sigmoids: sigmoidsAVX512, negateMeans: negateMeansAVX512, addSingles: addSinglesAVX512, samples: samplesAVX512,
	})
)

type productOfBits = func(tile, tables *int32, words *uint32, groups, strideTile, strideWords, add int)

// assembly holds kernels whose arguments are pointers, and strides in bytes.
type assembly struct {
	transpose     func(to, from *float32, rows, depth, strideTo, strideFrom int)
	gather        func(to, from *float32, rows *int32, weights *float32, count, columns, strideTo, strideFrom int)
	bitsOfRows    func(to *uint32, from *float32, rows, units, strideTo, strideFrom int)
	bitsOfColumns func(to *uint32, from *float32, rows, columns, strideFrom int)
	largest       func(from *float32, count int) uint32
	fix           func(to *int32, from *float32, count int, factor float32) int32
	subsets       func(to, from *int32, strideFrom, groups int)
	writeRows     func(c *float32, from, starts *int32, scales *float32, rows, columns, strideC, strideFrom, shift, add int)
	writeColumns  func(c *float32, from, starts *int32, scales *float32, rows, columns, strideC, strideFrom, shift int)
	bitsProducts  []productOfBits // for one vector of columns, two, …
	atMostOne     func(inputs, biases *float32, rows *int, count, columns, stride int)
	doubles       [5]func(x *float64, vectors int)
	dots          func(to, rows, x *float64, fours, columns int)
	blocks        func(to *uint32, vectors int, key uint64, counter *[4]uint32)
	normals       func(to *float64, words *uint32, vectors int)
}

// complete returns s with the kernels of k.
func (k assembly) complete(s instructionSet) instructionSet {
	lanes := s.lanes
	s.columns, s.tileColumns = lanes, len(k.bitsProducts)*lanes
	s.transpose = func(to, from []float32, rows, depth, strideTo, strideFrom int) {
		k.transpose(&to[0], &from[0], rows, depth, 4*strideTo, 4*strideFrom)
	}
	s.gather = func(to, from Matrix, rows []int32, weights []float32) {
		k.gather(&to.Data[0], &from.Data[0], &rows[0], &weights[0], len(rows), to.Cols, 4*to.Stride, 4*from.Stride)
	}
	s.bitsOfRows = func(words []uint32, a Matrix, stride int) {
		k.bitsOfRows(&words[0], &a.Data[0], a.Rows, a.Cols, 4*stride, 4*a.Stride)
	}
	s.bitsOfColumns = func(words []uint32, a Matrix) {
		k.bitsOfColumns(&words[0], &a.Data[0], a.Rows, a.Cols, 4*a.Stride)
	}
	s.largest = func(row []float32) uint32 { return k.largest(&row[0], len(row)) }
	s.fix = func(to []int32, from []float32, factor float32) int32 {
		return k.fix(&to[0], &from[0], len(from), factor)
	}
	s.subsets = func(to, from []int32, stride, groups int) { k.subsets(&to[0], &from[0], 4*stride, groups) }
	s.bitsProduct = func(sums, tables []int32, words []uint32, groups, columns, stride, add int) {
		k.bitsProducts[(columns-1)/lanes](&sums[0], &tables[0], &words[0], groups, 4*stride, 4*stride, add)
	}
	s.writeRows = func(c Matrix, sums []int32, stride int, o *fixedOutput, add int) {
		k.writeRows(&c.Data[0], &sums[0], &o.starts[0], &o.scales[0], c.Rows, c.Cols, 4*c.Stride, 4*stride, o.shift, add)
	}
	s.writeColumns = func(c Matrix, sums []int32, stride int, o *fixedOutput) {
		for r := 0; r < c.Cols; r += lanes {
			k.writeColumns(&c.Data[r], &sums[r*stride], &o.starts[r], &o.scales[r], min(lanes, c.Cols-r), c.Rows, 4*c.Stride, 4*stride, o.shift)
		}
	}
	s.atMostOne = func(inputs Matrix, biases []float32, rows []int) {
		k.atMostOne(&inputs.Data[0], &biases[0], &rows[0], len(rows), inputs.Cols, 4*inputs.Stride)
	}
	s.dots = func(to, rows, x []float64) {
		fours := len(to) / 4 * min(len(x), 1)
		if fours > 0 {
			k.dots(&to[0], &rows[0], &x[0], fours, len(x))
		}
		portableDots(to[4*fours:], rows[4*fours*len(x):], x)
	}
	s.blocks = func(r *doubleRoom, n int, key philox.Key, c philox.Counter) {
		r.counter = counterWords(c)
		r.counter[0] |= uint32(c.Unit)
		k.blocks(&r.words[0], (n+lanes-1)/lanes, uint64(key), &r.counter)
	}
	s.normals = func(r *doubleRoom, n int) { k.normals(&r.normals[0], &r.words[0], (n+lanes-1)/lanes) }
	for i, kernel := range k.doubles {
		s.doubles[i] = func(x []float64) {
			vectors := len(x) / (lanes / 2)
			if vectors > 0 {
				kernel(&x[0], vectors)
			}
			portable.doubles[i](x[vectors*lanes/2:])
		}
	}
	return s
}

// The kernels of units are called directly, so that the counter stays on the stack.

func unitsAVX2(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	s, a, n, counter := &states[0], &logits[0], len(logits), counterWords(c)
	switch todo {
	case Draws:
		drawAVX2(s, a, n, off, uint64(key), &counter)
		return 0
	case Draws | Scores:
		return drawScoreAVX2(s, a, n, off, uint64(key), &counter)
	case Draws | Residuals:
		return drawResidualAVX2(s, a, n, off, uint64(key), &counter)
	case Scores:
		return scoreAVX2(a, s, n)
	}
	return residualAVX2(a, s, n)
}

func unitsAVX512(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	s, a, n, counter := &states[0], &logits[0], len(logits), counterWords(c)
	switch todo {
	case Draws:
		drawAVX512(s, a, n, off, uint64(key), &counter)
		return 0
	case Draws | Scores:
		return drawScoreAVX512(s, a, n, off, uint64(key), &counter)
	case Draws | Residuals:
		return drawResidualAVX512(s, a, n, off, uint64(key), &counter)
	case Scores:
		return scoreAVX512(a, s, n)
	}
	return residualAVX512(a, s, n)
}

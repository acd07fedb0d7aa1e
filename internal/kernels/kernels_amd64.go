//go:build !purego

package kernels

import (
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/klauspost/cpuid/v2"
)

// supportedSets returns the instruction sets of this processor.
func supportedSets() []instructionSet {
	switch {
	case !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.BMI2):
		return []instructionSet{portable}
	case !cpuid.CPU.Supports(cpuid.AVX512F, cpuid.AVX512BW, cpuid.AVX512DQ, cpuid.AVX512VL):
		return []instructionSet{portable, avx2}
	}
	return []instructionSet{portable, avx2, avx512}
}

// lanes returns the number of float32 in a vector.
func (s instructionSet) lanes() int {
	if s == avx512 {
		return 16
	}
	return 8
}

// productPanel sets c = β·c + α·a·b for at most 3 vectors of columns.
func (s instructionSet) productPanel(c, a, b *float32, rows, depth, strideC, rowStrideA, depthStrideA, strideB, vectors, lastLanes int, alpha, beta float32) {
	switch {
	case s == avx512 && vectors == 3:
		product3AVX512(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	case s == avx512 && vectors == 2:
		product2AVX512(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	case s == avx512:
		product1AVX512(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	case vectors == 3:
		product3AVX2(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	case vectors == 2:
		product2AVX2(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	default:
		product1AVX2(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	}
}

// outer adds aᵀ·b, for depth rows of a and b, to a tile of c with lanes/2 rows and 3·lanes/2
// columns.
func (s instructionSet) outer(c, a, b *float64, depth, stride int) {
	if s == avx512 {
		outerAVX512(c, a, b, depth, 8*stride)
	} else {
		outerAVX2(c, a, b, depth, 8*stride)
	}
}

// transpose transposes rows, at most one per lane of a vector.
func (s instructionSet) transpose(to, from []float32, rows, depth, strideTo, strideFrom int) {
	if s == avx512 {
		transposeAVX512(&to[0], &from[0], rows, depth, 4*strideTo, 4*strideFrom)
	} else {
		transposeAVX2(&to[0], &from[0], rows, depth, 4*strideTo, 4*strideFrom)
	}
}

func (s instructionSet) gather(to, from Matrix, rows []int32, weights []float32) {
	switch s {
	case avx512:
		gatherAVX512(&to.Data[0], &from.Data[0], &rows[0], &weights[0], len(rows), to.Cols, 4*to.Stride, 4*from.Stride)
	case avx2:
		gatherAVX2(&to.Data[0], &from.Data[0], &rows[0], &weights[0], len(rows), to.Cols, 4*to.Stride, 4*from.Stride)
	default:
		portableGather(to, from, rows, weights)
	}
}

func (instructionSet) addMultiple(x []float32, by float32, y []float32) {
	portableAddMultiple(x, by, y)
}

func (s instructionSet) draw(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) {
	if s == avx512 {
		drawAVX512(&states[0], &logits[0], len(logits), off, uint64(key), counter)
	} else {
		drawAVX2(&states[0], &logits[0], len(logits), off, uint64(key), counter)
	}
}

func (s instructionSet) residual(logits, states []float32) float64 {
	if s == avx512 {
		return residualAVX512(&logits[0], &states[0], len(logits))
	}
	return residualAVX2(&logits[0], &states[0], len(logits))
}

func (s instructionSet) drawResidual(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	if s == avx512 {
		return drawResidualAVX512(&states[0], &logits[0], len(logits), off, uint64(key), counter)
	}
	return drawResidualAVX2(&states[0], &logits[0], len(logits), off, uint64(key), counter)
}

func (s instructionSet) score(logits, states []float32) float64 {
	if s == avx512 {
		return scoreAVX512(&logits[0], &states[0], len(logits))
	}
	return scoreAVX2(&logits[0], &states[0], len(logits))
}

func (s instructionSet) drawScore(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	if s == avx512 {
		return drawScoreAVX512(&states[0], &logits[0], len(logits), off, uint64(key), counter)
	}
	return drawScoreAVX2(&states[0], &logits[0], len(logits), off, uint64(key), counter)
}

func (s instructionSet) symmetricStrip32(y, x, blocks []float32, strip int) {
	if s == avx512 {
		symmetricStrip32AVX512(&y[0], &x[0], &blocks[0], strip)
	} else {
		symmetricStrip32AVX2(&y[0], &x[0], &blocks[0], strip)
	}
}

func (s instructionSet) symmetricStrip16(y, x []float32, blocks []int16, scales []float32, strip int) {
	if s == avx512 {
		symmetricStrip16AVX512(&y[0], &x[0], &blocks[0], &scales[0], strip)
	} else {
		symmetricStrip16AVX2(&y[0], &x[0], &blocks[0], &scales[0], strip)
	}
}

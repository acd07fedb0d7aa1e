//go:build !purego

package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// supportedSets returns the instruction sets of this processor: NEON is part of every arm64.
func supportedSets() []instructionSet { return []instructionSet{portable, neon} }

// lanes returns the number of float32 in a vector.
func (instructionSet) lanes() int { return 4 }

// productPanel sets c = β·c + α·a·b for at most 3 vectors of columns.
func (instructionSet) productPanel(c, a, b *float32, rows, depth, strideC, rowStrideA, depthStrideA, strideB, vectors, lastLanes int, alpha, beta float32) {
	switch vectors {
	case 3:
		product3NEON(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	case 2:
		product2NEON(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	default:
		product1NEON(c, a, b, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes, alpha, beta)
	}
}

// outer adds aᵀ·b, for depth rows of a and b, to a tile of c with lanes/2 rows and 3·lanes/2
// columns.
func (instructionSet) outer(c, a, b *float64, depth, stride int) {
	outerNEON(c, a, b, depth, 8*stride)
}

// transpose transposes rows, at most one per lane of a vector. It writes whole vectors: copies of
// the last row beyond rows, and zeros beyond depth.
func (instructionSet) transpose(to, from []float32, rows, depth, strideTo, strideFrom int) {
	whole := depth / 4 * 4
	if whole > 0 {
		transposeNEON(&to[0], &from[0], rows, whole/4, 4*strideTo, 4*strideFrom)
	}
	for k := whole; k < roundUp(depth, 4); k++ {
		for i := range 4 {
			x := float32(0)
			if k < depth {
				x = from[min(i, rows-1)*strideFrom+k]
			}
			to[k*strideTo+i] = x
		}
	}
}

func (s instructionSet) gather(to, from Matrix, rows []int32, weights []float32) {
	if s == portable {
		portableGather(to, from, rows, weights)
		return
	}
	for k, r := range rows {
		multiplyNEON(&to.Data[k*to.Stride], &from.Data[int(r)*from.Stride], to.Cols, weights[k])
	}
}

func (s instructionSet) addMultiple(x []float32, by float32, y []float32) {
	if s == portable || len(y) == 0 {
		portableAddMultiple(x, by, y)
	} else {
		addMultipleNEON(&x[0], &y[0], len(y), by)
	}
}

// The flags of what unitsNEON does.
const (
	draws = 1 << iota
	scores
	residuals
)

// units treats blocks of sixteen units, and a last block padded with units that are on with
// certainty, whose log-probability is 0.
func units(flags int, states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	const together = 16
	var sums [together]float64
	if blocks := len(logits) / together; blocks > 0 {
		unitsNEON(&states[0], &logits[0], blocks, off, uint64(key), counter, &sums, flags)
		counter[0] += uint32(blocks * together / 4)
		states, logits = states[blocks*together:], logits[blocks*together:]
	}
	if len(logits) > 0 {
		a, s := certain, certain
		copy(a[:], logits)
		copy(s[:], states)
		unitsNEON(&s[0], &a[0], 1, off, uint64(key), counter, &sums, flags)
		copy(logits, a[:])
		copy(states, s[:])
	}
	for half := together / 2; half > 0; half /= 2 {
		for i := range half {
			sums[i] += sums[half+i]
		}
	}
	return sums[0]
}

// certain holds infinite logits, and positive states.
var certain [16]float32

func init() {
	for i := range certain {
		certain[i] = float32(math.Inf(1))
	}
}

func (instructionSet) draw(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) {
	units(draws, states, logits, off, key, counter)
}

func (instructionSet) residual(logits, states []float32) float64 {
	return units(scores|residuals, states, logits, 0, 0, new([4]uint32))
}

func (instructionSet) drawResidual(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	return units(draws|scores|residuals, states, logits, off, key, counter)
}

func (instructionSet) score(logits, states []float32) float64 {
	return units(scores, states, logits, 0, 0, new([4]uint32))
}

func (instructionSet) drawScore(states, logits []float32, off float32, key philox.Key, counter *[4]uint32) float64 {
	return units(draws|scores, states, logits, off, key, counter)
}

func (instructionSet) symmetricStrip32(y, x, blocks []float32, strip int) {
	symmetricStrip32NEON(&y[0], &x[0], &blocks[0], strip)
}

func (instructionSet) symmetricStrip16(y, x []float32, blocks []int16, scales []float32, strip int) {
	symmetricStrip16NEON(&y[0], &x[0], &blocks[0], &scales[0], strip)
}

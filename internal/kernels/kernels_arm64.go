//go:build !purego

package kernels

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// supportedSets returns the instruction sets of this processor: NEON is part of every arm64.
func supportedSets() []*instructionSet { return []*instructionSet{&portable, &neon} }

// Most kernels in assembly work on whole vectors. The functions here do the rests.
var neon = instructionSet{
	name: "neon", lanes: 4, groupBits: 4, columns: 8, tileColumns: 8, products: [...]product{product1NEON, product2NEON, product3NEON},
	outer: outerNEON, strip32: symmetricStrip32NEON, strip16: symmetricStrip16NEON, units: unitsOfNEON, blocks: portableBlocks, normals: portableNormals,
	atMostOne: portableAtMostOne, doubles: portableDoubles, dots: portableDots,
	transpose: transpose, gather: gather, bitsOfRows: bitsOfRows, bitsOfColumns: bitsOfColumns,
	largest: func(row []float32) uint32 {
		vectors := len(row) / 8
		if vectors == 0 {
			return portable.largest(row)
		}
		return max(largestNEON(&row[0], vectors), portable.largest(row[8*vectors:]))
	},
	fix: func(to []int32, from []float32, factor float32) int32 {
		vectors := len(from) / 8
		if vectors == 0 {
			return portable.fix(to, from, factor)
		}
		return fixNEON(&to[0], &from[0], vectors, factor) + portable.fix(to[8*vectors:], from[8*vectors:], factor)
	},
	subsets: func(to, from []int32, stride, groups int) {
		subsetsNEON(&to[0], &from[0], 4*stride, (groups+1)/2)
	},
	bitsProduct: func(sums, tables []int32, words []uint32, groups, _, stride, add int) {
		bitsProductNEON(&sums[0], &tables[0], &words[0], (groups+1)/2, 4*stride, 4*stride, add)
	},
	writeRows: func(c Matrix, sums []int32, stride int, o *fixedOutput, add int) {
		vectors := c.Cols / 4
		for r := range min(vectors, 1) * c.Rows {
			writeRowNEON(&c.Data[r*c.Stride], &sums[r*stride], vectors, o.starts[r], o.scales[r], o.shift, add)
		}
		if rest := Cols(c, 4*vectors, c.Cols); rest.Cols > 0 {
			portable.writeRows(rest, sums[4*vectors:], stride, o, add)
		}
	},
	writeColumns: func(c Matrix, sums []int32, stride int, o *fixedOutput) {
		vectors, rows := c.Rows/4, c.Cols/4*4
		for r := 0; r < min(vectors, 1)*rows; r += 4 {
			writeColumnsNEON(&c.Data[r], &sums[r*stride], &o.starts[r], &o.scales[r], vectors, 4*c.Stride, 4*stride, o.shift)
		}
		portableWriteColumns(c, sums, stride, o, 4*vectors, rows)
	},
	addMultiple: func(x []float32, by float32, y []float32) {
		if len(y) > 0 {
			addMultipleNEON(&x[0], &y[0], len(y), by)
		}
	},
}

// transpose writes whole vectors: copies of the last row beyond rows, and zeros beyond depth.
func transpose(to, from []float32, rows, depth, strideTo, strideFrom int) {
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

func gather(to, from Matrix, rows []int32, weights []float32) {
	for k, r := range rows {
		multiplyNEON(&to.Data[k*to.Stride], &from.Data[int(r)*from.Stride], to.Cols, weights[k])
	}
}

func bitsOfRows(words []uint32, a Matrix, stride int) {
	for r := range a.Rows {
		row, to := Row(a, r), words[r/8*8:]
		whole := len(row) / 32
		if whole > 0 {
			bitsOfRowNEON(&to[0], r%8, &row[0], whole, 4*stride)
		}
		if rest := row[whole*32:]; len(rest) > 0 {
			var padded [32]float32
			copy(padded[:], rest)
			bitsOfRowNEON(&to[whole*stride], r%8, &padded[0], 1, 0)
		}
	}
}

func bitsOfColumns(words []uint32, a Matrix) {
	whole := a.Cols / 8
	if whole > 0 {
		bitsOfColumnsNEON(&words[0], &a.Data[0], a.Rows, whole, 4*a.Stride)
	}
	if whole*8 < a.Cols {
		var padded [32 * 8]float32
		for i := range a.Rows {
			copy(padded[8*i:], Row(a, i)[whole*8:])
		}
		bitsOfColumnsNEON(&words[whole*8], &padded[0], a.Rows, 1, 32)
	}
}

// unitsOfNEON treats blocks of sixteen units, and a last block padded with units that are on with
// certainty, whose log-probability is 0.
func unitsOfNEON(todo int, states, logits []float32, off float32, key philox.Key, c philox.Counter) float64 {
	const together = 16
	var sums [together]float64
	counter := counterWords(c)
	if blocks := len(logits) / together; blocks > 0 {
		unitsNEON(&states[0], &logits[0], blocks, off, uint64(key), &counter, &sums, todo)
		counter[0] += uint32(blocks * together / 4)
		states, logits = states[blocks*together:], logits[blocks*together:]
	}
	if len(logits) > 0 {
		a, s := certain, certain
		copy(a[:], logits)
		copy(s[:], states)
		unitsNEON(&s[0], &a[0], 1, off, uint64(key), &counter, &sums, todo)
		copy(logits, a[:])
		copy(states, s[:])
	}
	return total(&sums)
}

// certain holds infinite logits, and positive states.
var certain [16]float32

func init() {
	for i := range certain {
		certain[i] = float32(math.Inf(1))
	}
}

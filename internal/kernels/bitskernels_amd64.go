//go:build !purego

package kernels

func (s instructionSet) bitsOfRows(words []uint32, a Matrix, stride int) {
	switch s {
	case avx512:
		bitsOfRowsAVX512(&words[0], &a.Data[0], a.Rows, a.Cols, 4*stride, 4*a.Stride)
	case avx2:
		bitsOfRowsAVX2(&words[0], &a.Data[0], a.Rows, a.Cols, 4*stride, 4*a.Stride)
	default:
		portableBitsOfRows(words, a, stride)
	}
}

func (s instructionSet) bitsOfColumns(words []uint32, a Matrix) {
	switch s {
	case avx512:
		bitsOfColumnsAVX512(&words[0], &a.Data[0], a.Rows, a.Cols, 4*a.Stride)
	case avx2:
		bitsOfColumnsAVX2(&words[0], &a.Data[0], a.Rows, a.Cols, 4*a.Stride)
	default:
		portableBitsOfColumns(words, a)
	}
}

func (s instructionSet) largest(row []float32) uint32 {
	switch {
	case len(row) == 0:
		return 0
	case s == avx512:
		return largestAVX512(&row[0], len(row))
	case s == avx2:
		return largestAVX2(&row[0], len(row))
	}
	return portableLargest(row)
}

func (s instructionSet) fix(to []int32, from []float32, factor float32) int32 {
	switch {
	case len(from) == 0:
		return 0
	case s == avx512:
		return fixAVX512(&to[0], &from[0], len(from), factor)
	case s == avx2:
		return fixAVX2(&to[0], &from[0], len(from), factor)
	}
	return portableFix(to, from, factor)
}

func (s instructionSet) subsets(to, from []int32, stride, groups int) {
	switch s {
	case avx512:
		subsetsAVX512(&to[0], &from[0], 4*stride, groups)
	case avx2:
		subsetsAVX2(&to[0], &from[0], 4*stride, groups)
	default:
		portableSubsets(to, from, stride, groups)
	}
}

var bitsProducts = [...][]func(tile, tables *int32, words *uint32, groups, strideTile, strideWords, add int){
	avx2:   {bitsProduct1AVX2, bitsProduct2AVX2, bitsProduct3AVX2},
	avx512: {bitsProduct1AVX512, bitsProduct2AVX512, bitsProduct3AVX512, bitsProduct4AVX512, bitsProduct5AVX512, bitsProduct6AVX512},
}

func (s instructionSet) bitsProduct(sums, tables []int32, words []uint32, groups, columns, stride, add int) {
	if s == portable {
		portableBitsProduct(sums, tables, words, groups, columns, stride, add)
		return
	}
	bitsProducts[s][(columns-1)/s.lanes()](&sums[0], &tables[0], &words[0], groups, 4*stride, 4*stride, add)
}

func (s instructionSet) writeRows(c Matrix, sums []int32, stride int, o *fixedOutput, add bool) {
	old := 0
	if add {
		old = 1
	}
	switch s {
	case avx512:
		writeRowsAVX512(&c.Data[0], &sums[0], &o.starts[0], &o.scales[0], c.Rows, c.Cols, 4*c.Stride, 4*stride, o.shift, old)
	case avx2:
		writeRowsAVX2(&c.Data[0], &sums[0], &o.starts[0], &o.scales[0], c.Rows, c.Cols, 4*c.Stride, 4*stride, o.shift, old)
	default:
		portableWriteRows(c, sums, stride, o, add)
	}
}

func (s instructionSet) writeColumns(c Matrix, sums []int32, stride int, o *fixedOutput) {
	switch s {
	case avx512:
		writeColumnsAVX512(&c.Data[0], &sums[0], &o.starts[0], &o.scales[0], c.Cols, c.Rows, 4*c.Stride, 4*stride, o.shift)
	case avx2:
		for r := 0; r < c.Cols; r += avx2.lanes() {
			writeColumnsAVX2(&c.Data[r], &sums[r*stride], &o.starts[r], &o.scales[r], min(avx2.lanes(), c.Cols-r), c.Rows, 4*c.Stride, 4*stride, o.shift)
		}
	default:
		portableWriteColumns(c, sums, stride, o, 0, 0)
	}
}

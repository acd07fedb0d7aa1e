//go:build !purego

package kernels

// The kernels for arm64 work on whole vectors. Here are the rests.

func (s instructionSet) bitsOfRows(words []uint32, a Matrix, stride int) {
	if s == portable {
		portableBitsOfRows(words, a, stride)
		return
	}
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

func (s instructionSet) bitsOfColumns(words []uint32, a Matrix) {
	if s == portable {
		portableBitsOfColumns(words, a)
		return
	}
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

func (s instructionSet) largest(row []float32) uint32 {
	vectors := len(row) / 8
	if s == portable || vectors == 0 {
		return portableLargest(row)
	}
	return max(largestNEON(&row[0], vectors), portableLargest(row[8*vectors:]))
}

func (s instructionSet) fix(to []int32, from []float32, factor float32) int32 {
	vectors := len(from) / 8
	if s == portable || vectors == 0 {
		return portableFix(to, from, factor)
	}
	return fixNEON(&to[0], &from[0], vectors, factor) + portableFix(to[8*vectors:], from[8*vectors:], factor)
}

func (s instructionSet) subsets(to, from []int32, stride, groups int) {
	if s == portable {
		portableSubsets(to, from, stride, groups)
	} else {
		subsetsNEON(&to[0], &from[0], 4*stride, (groups+1)/2)
	}
}

func (s instructionSet) bitsProduct(sums, tables []int32, words []uint32, groups, columns, stride, add int) {
	if s == portable {
		portableBitsProduct(sums, tables, words, groups, columns, stride, add)
	} else {
		bitsProductNEON(&sums[0], &tables[0], &words[0], (groups+1)/2, 4*stride, 4*stride, add)
	}
}

func (s instructionSet) writeRows(c Matrix, sums []int32, stride int, o *fixedOutput, add bool) {
	vectors := c.Cols / 4
	if s == portable {
		vectors = 0
	}
	old := 0
	if add {
		old = 1
	}
	for r := range min(vectors, 1) * c.Rows {
		writeRowNEON(&c.Data[r*c.Stride], &sums[r*stride], vectors, o.starts[r], o.scales[r], o.shift, old)
	}
	if rest := Cols(c, 4*vectors, c.Cols); rest.Cols > 0 {
		portableWriteRows(rest, sums[4*vectors:], stride, o, add)
	}
}

func (s instructionSet) writeColumns(c Matrix, sums []int32, stride int, o *fixedOutput) {
	vectors, rows := c.Rows/4, c.Cols/4*4
	if s == portable || vectors == 0 {
		vectors, rows = 0, 0
	}
	for r := 0; r < rows; r += 4 {
		writeColumnsNEON(&c.Data[r], &sums[r*stride], &o.starts[r], &o.scales[r], vectors, 4*c.Stride, 4*stride, o.shift)
	}
	portableWriteColumns(c, sums, stride, o, 4*vectors, rows)
}

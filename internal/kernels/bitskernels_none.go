//go:build (!amd64 && !arm64) || purego

package kernels

func (instructionSet) bitsOfRows(words []uint32, a Matrix, stride int) {
	portableBitsOfRows(words, a, stride)
}

func (instructionSet) bitsOfColumns(words []uint32, a Matrix) { portableBitsOfColumns(words, a) }

func (instructionSet) largest(row []float32) uint32 { return portableLargest(row) }

func (instructionSet) fix(to []int32, from []float32, factor float32) int32 {
	return portableFix(to, from, factor)
}

func (instructionSet) subsets(to, from []int32, stride, groups int) {
	portableSubsets(to, from, stride, groups)
}

func (instructionSet) bitsProduct(sums, tables []int32, words []uint32, groups, columns, stride, add int) {
	portableBitsProduct(sums, tables, words, groups, columns, stride, add)
}

func (instructionSet) writeRows(c Matrix, sums []int32, stride int, o *fixedOutput, add bool) {
	portableWriteRows(c, sums, stride, o, add)
}

func (instructionSet) writeColumns(c Matrix, sums []int32, stride int, o *fixedOutput) {
	portableWriteColumns(c, sums, stride, o, 0, 0)
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transpose writes the kernel that turns rows into columns, one square block after the other, with
// as many rows and columns as a vector has lanes:
//
//	source                      destination
//	┌──┬──┬──┬─               ┌──┐
//	│ 0│ 1│ 2│ …   rows        │0ᵀ│
//	└──┴──┴──┴─               ├──┤
//	   depth                    │1ᵀ│
//	                            ├──┤  depth, rounded up to whole blocks
//
// Columns beyond rows are copies of the last, and rows beyond depth are zeros. A block is transposed in registers:
// first the four numbers of four rows within each 128-bit lane, then the lanes.
func transpose(s instructionSet) {
	s.kernel("transpose", "(to, from *float32, rows, depth, strideTo, strideFrom int)")
	to, depth, stride := argument("to"), argument("depth"), argument("strideTo")
	rows := rowPointers(s.lanes)

	offset, lanes, next := GP64(), GP64(), GP64()
	XORQ(offset, offset)
	Label("block")
	CMPQ(depth, Imm(0))
	JLE(LabelRef("done"))
	MOVQ(U32(uint32(s.lanes)), lanes)
	CMPQ(depth, lanes)
	CMOVQLT(depth, lanes)
	first := s.firstLanes(lanes)
	block := make([]reg.VecVirtual, s.lanes)
	for i := range block {
		block[i] = s.vector()
		MOVQ(rows.Offset(8*i), next)
		s.load(Mem{Base: next, Index: offset, Scale: 1}, first, block[i])
	}
	for _, column := range s.exchangeLanes(s.transposeLanes(block)) {
		VMOVUPS(column, Mem{Base: to})
		ADDQ(stride, to)
	}
	ADDQ(Imm(uint64(s.bytes())), offset)
	SUBQ(Imm(uint64(s.lanes)), depth)
	JMP(LabelRef("block"))
	Label("done")
	VZEROUPPER()
	RET()
}

// rowPointers fills a table with pointers to count rows; pointers beyond the argument rows point to
// the last row.
func rowPointers(count int) Mem {
	table := AllocLocal(8 * count)
	row, rows, stride, step := argument("from"), argument("rows"), argument("strideFrom"), GP64()
	for i := range count {
		MOVQ(row, table.Offset(8*i))
		XORQ(step, step)
		CMPQ(rows, Imm(uint64(i+1)))
		CMOVQGT(stride, step)
		ADDQ(step, row)
	}
	return table
}

// transposeLanes transposes the blocks of 4 × 4 in each 128-bit lane. Lane l of element 4g+c of its
// result has column 4l+c of rows 4g to 4g+3.
func (s instructionSet) transposeLanes(rows []reg.VecVirtual) []reg.VecVirtual {
	columns := make([]reg.VecVirtual, len(rows))
	for g := 0; g < len(rows); g += 4 {
		low01, high01 := s.interleave(VUNPCKLPS, VUNPCKHPS, rows[g], rows[g+1])
		low23, high23 := s.interleave(VUNPCKLPS, VUNPCKHPS, rows[g+2], rows[g+3])
		columns[g], columns[g+1] = s.interleave(VUNPCKLPD, VUNPCKHPD, low01, low23)
		columns[g+2], columns[g+3] = s.interleave(VUNPCKLPD, VUNPCKHPD, high01, high23)
	}
	return columns
}

// exchangeLanes assembles the result of transposeLanes into whole columns.
func (s instructionSet) exchangeLanes(part []reg.VecVirtual) []reg.VecVirtual {
	columns := make([]reg.VecVirtual, len(part))
	for c := range 4 {
		if s.lanes == 8 {
			columns[c], columns[4+c] = s.interleave(shuffle(exchangeHalves, 0x20), shuffle(exchangeHalves, 0x31), part[c], part[4+c])
			continue
		}
		even, odd := shuffle(VSHUFF32X4, 0x88), shuffle(VSHUFF32X4, 0xdd) // lanes of both operands
		even01, odd01 := s.interleave(even, odd, part[c], part[4+c])
		even23, odd23 := s.interleave(even, odd, part[8+c], part[12+c])
		columns[c], columns[8+c] = s.interleave(even, odd, even01, even23)
		columns[4+c], columns[12+c] = s.interleave(even, odd, odd01, odd23)
	}
	return columns
}

// interleave returns the results of two shuffles of a and b.
func (s instructionSet) interleave(first, second func(...Op), a, b reg.VecVirtual) (f, g reg.VecVirtual) {
	f, g = s.vector(), s.vector()
	first(b, a, f)
	second(b, a, g)
	return f, g
}

// shuffle returns a shuffle instruction with its control byte.
func shuffle(instruction func(...Op), control uint8) func(...Op) {
	return func(operands ...Op) { instruction(append([]Op{U8(control)}, operands...)...) }
}

func exchangeHalves(o ...Op) { VPERM2F128(o[0], o[1], o[2], o[3]) }

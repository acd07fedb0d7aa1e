package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// gather writes the kernel that multiplies selected rows of a matrix by weights.
func gather(s instructionSet) {
	s.kernel("gather", "(to, from *float32, rows *int32, weights *float32, count, columns, strideTo, strideFrom int)")
	row, of, rows, weights := argument("to"), argument("from"), argument("rows"), argument("weights")
	count, strideTo, strideFrom := argument("count"), argument("strideTo"), argument("strideFrom")
	Label("row")
	to, from, columns, weight := GP64(), GP64(), argument("columns"), s.vector()
	MOVLQSX(Mem{Base: rows}, from)
	IMULQ(strideFrom, from)
	ADDQ(of, from)
	MOVQ(row, to)
	VBROADCASTSS(Mem{Base: weights}, weight)
	s.vectors("vector", columns, func(lanes mask) {
		x := s.vector()
		s.load(Mem{Base: from}, lanes, x)
		VMULPS(weight, x, x)
		s.store(x, lanes, Mem{Base: to})
		ADDQ(Imm(uint64(s.bytes())), from)
		ADDQ(Imm(uint64(s.bytes())), to)
	})
	ADDQ(strideTo, row)
	ADDQ(Imm(4), rows)
	ADDQ(Imm(4), weights)
	DECQ(count)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

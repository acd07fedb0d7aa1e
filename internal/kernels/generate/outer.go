package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// outer writes the kernel of a sum of outer products in double precision, c = c + aᵀ·b, for a tile of
// c that stays in registers while the kernel walks along the rows of a and b: 8 × 24 with AVX-512,
// 4 × 12 with AVX2.
func outer(s instructionSet) {
	const vectors = 3
	height := s.lanes / 2
	s.kernel("outer", "(c, a, b *float64, depth, stride int)")
	c, a, b, depth, stride := argument("c"), argument("a"), argument("b"), argument("depth"), argument("stride")
	sums := make([][]reg.VecVirtual, height)
	for i := range sums {
		for range vectors {
			sums[i] = append(sums[i], s.zero())
		}
	}
	Label("sum")
	row := make([]reg.VecVirtual, vectors)
	for j := range row {
		row[j] = s.vector()
		VMOVUPD(Mem{Base: b, Disp: j * s.bytes()}, row[j])
	}
	for i := range sums {
		element := s.vector()
		VBROADCASTSD(Mem{Base: a, Disp: 8 * i}, element)
		for j := range row {
			VFMADD231PD(row[j], element, sums[i][j])
		}
	}
	ADDQ(stride, a)
	ADDQ(stride, b)
	DECQ(depth)
	JNZ(LabelRef("sum"))
	for i := range sums {
		for j, sum := range sums[i] {
			to := Mem{Base: c, Disp: j * s.bytes()}
			VADDPD(to, sum, sum)
			VMOVUPD(sum, to)
		}
		ADDQ(stride, c)
	}
	VZEROUPPER()
	RET()
}

package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// A wideSet is an instruction set that does each operation on several vectors, one after the other:
// while one waits for its operands, the next already has them.
type wideSet struct {
	instructionSet
	width int
}

// wide holds one register per vector.
type wide []Op

func (s wideSet) wide() wide {
	w := make(wide, s.width)
	s.each(func(i int) { w[i] = s.vector() })
	return w
}

func (s wideSet) each(f func(i int)) {
	for i := range s.width {
		f(i)
	}
}

// operation holds the two forms of an instruction. In the second, for AVX-512 only, the first operand is
// a single number in memory; AVX2 reads that number from one copy per lane.
type operation struct{ plain, broadcast func(...Op) }

var (
	add      = operation{VADDPS, VADDPS_BCST}
	subtract = operation{VSUBPS, VSUBPS_BCST}
	multiply = operation{VMULPS, VMULPS_BCST}
	divide   = operation{VDIVPS, VDIVPS_BCST}
	minimum  = operation{VMINPS, VMINPS_BCST}
	maximum  = operation{VMAXPS, VMAXPS_BCST}
	and      = operation{VANDPS, VANDPS_BCST}
	xor      = operation{VXORPS, VXORPS_BCST}
)

// do emits an operation in the assembler's order of operands: to = b ∘ a. Each of a and b is wide,
// or one operand for all.
func (s wideSet) do(o operation, a, b any, to wide) {
	s.each(func(i int) {
		first := pick(a, i)
		if _, memory := first.(Mem); memory && s.lanes == 16 {
			o.broadcast(first, pick(b, i), to[i])
		} else {
			o.plain(first, pick(b, i), to[i])
		}
	})
}

func pick(operand any, i int) Op {
	if w, ok := operand.(wide); ok {
		return w[i]
	}
	return operand.(Op)
}

// The comparisons are false if an operand is NaN.
const (
	lessThan    = 0x11
	lessOrEqual = 0x12
)

// compare returns the lanes in which the relation of a to b holds.
func (s wideSet) compare(relation uint8, a, b any) wide {
	lanes := make(wide, s.width)
	s.each(func(i int) {
		if s.lanes == 16 {
			lanes[i] = K()
		} else {
			lanes[i] = s.vector()
		}
		VCMPPS(U8(relation), pick(b, i), pick(a, i), lanes[i])
	})
	return lanes
}

// choose returns yes in the lanes that compare returned, and no in the others.
func (s wideSet) choose(lanes wide, yes, no any) wide {
	chosen := s.wide()
	s.each(func(i int) {
		VMOVUPS(pick(no, i), chosen[i])
		if s.lanes == 16 {
			VMOVAPS(pick(yes, i), lanes[i], chosen[i])
		} else {
			VBLENDVPS(lanes[i], pick(yes, i), chosen[i], chosen[i])
		}
	})
	return chosen
}

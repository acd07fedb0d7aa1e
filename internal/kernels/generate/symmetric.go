package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const block = 16 // rows and columns of a block of a packed symmetric matrix

// symmetric writes the kernels that multiply a vector by packed symmetric matrices, of float32, or
// of int16 with one scale per block.
//
// A strip is the blocks of sixteen rows, up to the diagonal. Every block b except the last of a
// strip is read once and used twice, for its place below the diagonal and for its mirror image
// above:
//
//	┌───┐                      y₀ += bᵀ x₂
//	│   │ mirror image
//	├───┼───┐
//	│   │   │
//	├───┼───┼───┐
//	│ b │   │   │  ← strip     y₂ += b x₀
//	└───┴───┴───┘
//
// The sixteen sums of b x stay in registers along a strip, with AVX2 in two passes of eight.
func symmetric(s instructionSet) {
	for _, bits := range []int{32, 16} {
		strip{s, bits}.write()
	}
}

type strip struct {
	instructionSet
	bits int
}

func (s strip) write() {
	signature := "(y, x, blocks *float32, strip int)"
	if s.bits == 16 {
		signature = "(y, x *float32, blocks *int16, scales *float32, strip int)"
	}
	s.kernel(fmt.Sprint("symmetricStrip", s.bits), signature)
	yRows, xRows := GP64(), argument("x")
	offset := argument("strip") // of the strip's part of x and y, in bytes
	SHLQ(Imm(6), offset)
	Load(Param("y"), yRows)
	ADDQ(offset, yRows)
	ADDQ(offset, xRows)
	passes := 16 / s.lanes
	for pass := range passes {
		s.pass(pass, yRows, xRows)
	}
	VZEROUPPER()
	RET()
}

// pass adds the products of s.lanes rows of the strip.
func (s strip) pass(pass int, yRows, xRows reg.Register) {
	label := func(name string) string { return fmt.Sprintf("%s%d", name, pass) }
	blocks, y, x := argument("blocks"), argument("y"), argument("x")
	left := argument("strip")
	var scales reg.Register
	if s.bits == 16 {
		scales = argument("scales")
	}
	sums := make([]reg.VecVirtual, s.lanes)
	for i := range sums {
		sums[i] = s.zero()
	}
	rowBytes := block * s.bits / 8
	first := pass * s.lanes // row of the strip

	part := func(half int, mirror bool) {
		at := half * s.bytes()
		xs := s.vector()
		VMOVUPS(Mem{Base: x, Disp: at}, xs)
		if s.bits == 16 {
			scale := s.vector()
			VBROADCASTSS(Mem{Base: scales}, scale)
			VMULPS(scale, xs, xs)
		}
		var images []reg.VecVirtual // several, because additions to a single one would wait for each other
		if mirror {
			for range s.lanes / 4 {
				images = append(images, s.zero())
			}
		}
		for i, sum := range sums {
			b := s.vector()
			s.elements(Mem{Base: blocks, Disp: (first+i)*rowBytes + half*s.lanes*s.bits/8}, b)
			VFMADD231PS(b, xs, sum)
			if mirror {
				s.addMultiple(Mem{Base: xRows, Disp: 4 * (first + i)}, b, images[i%len(images)])
			}
		}
		if mirror {
			s.addImage(s.sum(images), scales, Mem{Base: y, Disp: at})
		}
	}
	parts := block / s.lanes

	TESTQ(left, left)
	JZ(LabelRef(label("diagonal")))
	Label(label("block"))
	if s.bits == 16 && pass == 0 {
		// Too many instructions lie between two lines of memory for the processor to prefetch far
		// enough by itself.
		const ahead = 8192
		for line := 0; line < block*rowBytes; line += 64 {
			PREFETCHT0(Mem{Base: blocks, Disp: ahead + line})
		}
	}
	for half := range parts {
		part(half, true)
	}
	ADDQ(Imm(64), x)
	ADDQ(Imm(64), y)
	ADDQ(U32(uint32(block*rowBytes)), blocks)
	if s.bits == 16 {
		ADDQ(Imm(4), scales)
	}
	DECQ(left)
	JNZ(LabelRef(label("block")))
	Label(label("diagonal"))
	for half := range parts {
		part(half, false)
	}
	to := Mem{Base: yRows, Disp: 4 * first}
	total := s.total(sums)
	VADDPS(to, total, total)
	VMOVUPS(total, to)
}

// elements loads elements of a block as float32.
func (s strip) elements(from Mem, to reg.VecVirtual) {
	if s.bits == 32 {
		VMOVUPS(from, to)
		return
	}
	VPMOVSXWD(from, to)
	VCVTDQ2PS(to, to)
}

// addMultiple adds x·b to sum.
func (s strip) addMultiple(x Mem, b, sum reg.VecVirtual) {
	if s.lanes == 16 {
		VFMADD231PS_BCST(x, b, sum)
		return
	}
	multiple := s.vector()
	VBROADCASTSS(x, multiple)
	VFMADD231PS(multiple, b, sum)
}

func (s strip) sum(vectors []reg.VecVirtual) reg.VecVirtual {
	for n := len(vectors) / 2; n > 0; n /= 2 {
		for i := range n {
			VADDPS(vectors[n+i], vectors[i], vectors[i])
		}
	}
	return vectors[0]
}

// addImage adds the sums of the mirror image to memory.
func (s strip) addImage(image reg.VecVirtual, scale reg.Register, to Mem) {
	if s.bits == 32 {
		VADDPS(to, image, image)
	} else {
		factor := s.vector()
		VBROADCASTSS(Mem{Base: scale}, factor)
		VFMADD213PS(to, factor, image)
	}
	VMOVUPS(image, to)
}

// total returns the sums of the lanes of each of s.lanes vectors. It adds halves of pairs until one
// vector is left.
func (s strip) total(vectors []reg.VecVirtual) reg.VecVirtual {
	vectors = s.addPairs(vectors, VUNPCKLPS, VUNPCKHPS)
	vectors = s.addPairs(vectors, VUNPCKLPD, VUNPCKHPD)
	if s.lanes == 8 {
		return s.addPairs(vectors, shuffle(exchangeHalves, 0x20), shuffle(exchangeHalves, 0x31))[0]
	}
	even, odd := shuffle(VSHUFF32X4, 0x88), shuffle(VSHUFF32X4, 0xdd)
	return s.addPairs(s.addPairs(vectors, even, odd), even, odd)[0]
}

// addPairs returns first(a, b) + second(a, b) for each pair of vectors.
func (s strip) addPairs(vectors []reg.VecVirtual, first, second func(...Op)) (sums []reg.VecVirtual) {
	for i := 0; i < len(vectors); i += 2 {
		a, b := s.interleave(first, second, vectors[i], vectors[i+1])
		VADDPS(a, b, b)
		sums = append(sums, b)
	}
	return sums
}

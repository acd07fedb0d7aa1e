package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// product writes the kernels of the matrix product c = β·c + α·a·b, each for
// a panel of one to three vectors of columns of c and b.
//
// A tile of c, some rows by the panel's columns, stays in registers while the kernel walks along
// the depth k: it loads row k of b and, for each row of the tile, broadcasts one element of a and
// adds that multiple of the row of b.
//
//	                    b: depth × columns
//	                    ┌────────────────┐
//	a: rows × depth     │  1–3 vectors   │ ← row k
//	┌────────────┐      └────────────────┘
//	│     ×      │      ┌────────────────┐
//	│     ×      │      │ tile of c      │
//	└────────────┘      └────────────────┘
//	   column k
//
// The elements of a may have any two strides, so that one kernel serves a and aᵀ. AVX-512 has tiles
// of 8 × 48 in 24 of its 32 registers, AVX2 tiles of 4 × 24 in 12 of 16; tiles with half as many
// rows do the remaining rows. Each element of c is the sum over k in order, rounded once per term:
// it depends neither on its tile nor on the instruction set.
func product(s instructionSet) {
	for vectors := 3; vectors >= 1; vectors-- {
		productPanel(s, vectors)
	}
}

func productPanel(s instructionSet, vectors int) {
	s.kernel(fmt.Sprint("product", vectors),
		"(c, a, b *float32, rows, depth, strideC, rowStrideA, depthStrideA, strideB, lastLanes int, alpha, beta float32)")
	p := panel{set: s, vectors: vectors,
		c: argument("c"), a: argument("a"), b: argument("b"), rows: argument("rows"),
		strideC: argument("strideC"), strideA: argument("rowStrideA"), depthStrideA: argument("depthStrideA"), strideB: argument("strideB"),
		last: s.firstLanes(argument("lastLanes")),
	}
	p.strideA3 = GP64()
	LEAQ(Mem{Base: p.strideA, Index: p.strideA, Scale: 2}, p.strideA3)
	most := s.lanes / 2
	Label("tall")
	p.tile(most, "short")
	JMP(LabelRef("tall"))
	Label("short")
	for rows := most / 2; rows >= 1; rows /= 2 {
		next := fmt.Sprintf("less_than_%d", rows)
		p.tile(rows, next)
		Label(next)
	}
	VZEROUPPER()
	RET()
}

// panel is the state of a kernel between two tiles: c and a point to the next tile's rows, and rows
// counts the rows that are left.
type panel struct {
	set                        instructionSet
	vectors                    int
	c, a, b, rows              reg.Register
	strideC, strideA, strideA3 reg.Register
	depthStrideA, strideB      reg.Register
	last                       mask
}

// tile computes a tile of the given number of rows and advances to the rows below it. It jumps to
// the label otherwise if fewer rows are left.
func (p panel) tile(rows int, otherwise string) {
	label := func(s string) string { return fmt.Sprintf("%s_%d", s, rows) }
	CMPQ(p.rows, Imm(uint64(rows)))
	JL(LabelRef(otherwise))

	sums := make([][]reg.VecVirtual, rows)
	for i := range sums {
		for range p.vectors {
			sums[i] = append(sums[i], p.set.zero())
		}
	}

	// Rows 0–3 are addressed from the first pointer, rows 4–7 from the second.
	upper, lower, b, depth := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.a, upper)
	if rows > 4 {
		LEAQ(Mem{Base: p.a, Index: p.strideA, Scale: 4}, lower)
	}
	MOVQ(p.b, b)
	Load(Param("depth"), depth)
	TESTQ(depth, depth)
	JZ(LabelRef(label("write")))

	Label(label("sum"))
	row := make([]reg.VecVirtual, p.vectors)
	for j := range row {
		row[j] = p.set.vector()
		from := Mem{Base: b, Disp: j * p.set.bytes()}
		if j < p.vectors-1 {
			p.set.load(from, mask{}, row[j])
		} else {
			p.set.load(from, p.last, row[j])
		}
	}
	for i := range rows {
		element := p.set.vector()
		VBROADCASTSS(p.rowOfA([]reg.Register{upper, lower}[i/4], i%4), element)
		for j := range row {
			VFMADD231PS(row[j], element, sums[i][j])
		}
	}
	ADDQ(p.depthStrideA, upper)
	if rows > 4 {
		ADDQ(p.depthStrideA, lower)
	}
	ADDQ(p.strideB, b)
	DECQ(depth)
	JNZ(LabelRef(label("sum")))

	Label(label("write"))
	alpha, beta, betaBits := p.set.vector(), p.set.vector(), GP32()
	VBROADCASTSS(parameter("alpha"), alpha)
	VBROADCASTSS(parameter("beta"), beta)
	MOVL(parameter("beta"), betaBits)
	TESTL(betaBits, betaBits)
	JZ(LabelRef(label("overwrite")))
	p.write(sums, label("update"), func(sum reg.VecVirtual, load func(to reg.VecVirtual)) {
		old := p.set.vector()
		load(old)
		VMULPS(alpha, sum, sum)
		VFMADD231PS(beta, old, sum)
	})
	JMP(LabelRef(label("next")))
	Label(label("overwrite"))
	p.write(sums, label("set"), func(sum reg.VecVirtual, _ func(reg.VecVirtual)) {
		VMULPS(alpha, sum, sum)
	})
	Label(label("next"))

	LEAQ(Mem{Base: p.a, Index: p.strideA, Scale: uint8(min(rows, 4))}, p.a)
	if rows > 4 {
		LEAQ(Mem{Base: p.a, Index: p.strideA, Scale: uint8(rows - 4)}, p.a)
	}
	SUBQ(Imm(uint64(rows)), p.rows)
}

// rowOfA returns the operand i rows below pointer first, 0 ≤ i ≤ 3.
func (p panel) rowOfA(first reg.Register, i int) Mem {
	switch i {
	case 0:
		return Mem{Base: first}
	case 3:
		return Mem{Base: first, Index: p.strideA3, Scale: 1}
	}
	return Mem{Base: first, Index: p.strideA, Scale: uint8(i)}
}

// write updates and stores each vector of the tile, and moves c below the tile.
func (p panel) write(sums [][]reg.VecVirtual, label string, update func(sum reg.VecVirtual, load func(to reg.VecVirtual))) {
	p.set.partialOrFull(p.last, label, func(last mask) {
		for i := range sums {
			for j, sum := range sums[i] {
				to := Mem{Base: p.c, Disp: j * p.set.bytes()}
				m := mask{}
				if j == p.vectors-1 {
					m = last
				}
				update(sum, func(old reg.VecVirtual) { p.set.load(to, m, old) })
				p.set.store(sum, m, to)
			}
			ADDQ(p.strideC, p.c)
		}
	})
}

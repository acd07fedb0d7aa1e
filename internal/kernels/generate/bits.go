package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	quad         = 4 // rows of integers that are multiplied together
	groupsOfWord = 8
)

// bitsSet is an instruction set for products with bits.
type bitsSet struct {
	instructionSet
	group int // bits that select one of the numbers in a vector
	most  int // maximum number of vectors of columns in a tile
}

// bits writes the kernels of products of integers with bits, which replace multiplication by
// selection. A vector holds the sums of all subsets of a group of integers, and the same group of
// bits, in the lane of a column, selects the sum to add.
//
//	                        words: bits × columns
//	                        ┌──────────────────┐
//	                        │   1–6 vectors    │ ← group g
//	integers: rows × depth  └──────────────────┘
//	┌──────────────┐        ┌──────────────────┐
//	│   ×××        │        │  tile: 4 rows    │
//	└──────────────┘        └──────────────────┘
//	   group g
//
// Groups have 4 integers with AVX-512 and 3 with AVX2.
func bits(s instructionSet) {
	b := bitsSet{s, 4, 6}
	if s.lanes == 8 {
		b.group, b.most = 3, 3
	}
	b.ofRows()
	b.ofColumns()
	b.largest()
	b.fix()
	b.subsets()
	for vectors := 1; vectors <= b.most; vectors++ {
		b.product(vectors)
	}
	b.writeRows()
	b.writeColumns()
}

// ofRows writes the kernel that packs the bits of rows into one word per row, or several words
// strideTo apart.
func (s bitsSet) ofRows() {
	s.kernel("bitsOfRows", "(to *uint32, from *float32, rows, units, strideTo, strideFrom int)")
	column, row, rows := argument("to"), argument("from"), argument("rows")
	strideTo, strideFrom := argument("strideTo"), argument("strideFrom")
	zero := s.zero()
	step := s.group * groupsOfWord
	Label("row")
	to, from, left := GP64(), GP64(), argument("units")
	MOVQ(column, to)
	MOVQ(row, from)
	write := func(whole bool) {
		word, part, rest := GP32(), GP32(), GP64()
		XORL(word, word)
		for first := 0; first < step; first += s.lanes {
			lanes := mask{}
			if !whole {
				MOVQ(left, rest)
				SUBQ(Imm(uint64(first)), rest)
				lanes = s.atMostLanes(rest)
			}
			x := s.vector()
			s.load(Mem{Base: from, Disp: 4 * first}, lanes, x)
			if s.lanes == 16 {
				on := K()
				VCMPPS(U8(lessThan), x, zero, on)
				KMOVW(on, part)
			} else {
				VCMPPS(U8(lessThan), x, zero, x)
				VMOVMSKPS(x, part)
			}
			SHLL(Imm(uint64(first)), part)
			ORL(part, word)
		}
		MOVL(word, Mem{Base: to})
		ADDQ(strideTo, to)
		ADDQ(U32(uint32(4*step)), from)
		SUBQ(Imm(uint64(step)), left)
	}
	Label("word")
	CMPQ(left, Imm(uint64(step)))
	JL(LabelRef("rest"))
	write(true)
	JMP(LabelRef("word"))
	Label("rest")
	CMPQ(left, Imm(0))
	JLE(LabelRef("next"))
	write(false)
	Label("next")
	ADDQ(Imm(4), column)
	ADDQ(strideFrom, row)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// ofColumns writes the kernel that packs the bits of rows into one word per column.
func (s bitsSet) ofColumns() {
	s.kernel("bitsOfColumns", "(to *uint32, from *float32, rows, columns, strideFrom int)")
	to, from, columns, stride := argument("to"), argument("from"), argument("columns"), argument("strideFrom")
	zero := s.zero()
	Label("columns")
	CMPQ(columns, Imm(0))
	JLE(LabelRef("done"))
	lanes := s.atMostLanes(columns)
	words, bit := s.zero(), s.vector()
	one := GP32()
	MOVL(U32(1), one)
	VMOVD(one, bit.AsX())
	VPBROADCASTD(bit.AsX(), bit)
	row, left := GP64(), argument("rows")
	MOVQ(from, row)
	Label("row")
	x := s.vector()
	s.load(Mem{Base: row}, lanes, x)
	if s.lanes == 16 {
		on := K()
		VCMPPS(U8(lessThan), x, zero, on)
		VPORD(bit, words, on, words)
	} else {
		VCMPPS(U8(lessThan), x, zero, x)
		VPAND(bit, x, x)
		VPOR(x, words, words)
	}
	VPSLLD(Imm(1), bit, bit)
	ADDQ(stride, row)
	DECQ(left)
	JNZ(LabelRef("row"))
	VMOVUPS(words, Mem{Base: to})
	ADDQ(Imm(uint64(s.bytes())), to)
	ADDQ(Imm(uint64(s.bytes())), from)
	SUBQ(Imm(uint64(s.lanes)), columns)
	JMP(LabelRef("columns"))
	Label("done")
	VZEROUPPER()
	RET()
}

// eachVector emits body for each vector of count numbers at from, after loading the vector.
func (s bitsSet) eachVector(from, count reg.Register, body func(x reg.VecVirtual)) {
	s.vectors("vector", count, func(lanes mask) {
		x := s.vector()
		s.load(Mem{Base: from}, lanes, x)
		body(x)
		ADDQ(Imm(uint64(s.bytes())), from)
	})
}

// across emits code that combines the lanes of v by an operation on words and returns the result.
func (s bitsSet) across(v reg.VecVirtual, combine func(...Op)) {
	x := s.vector()
	if s.lanes == 16 {
		VEXTRACTI32X8(Imm(1), v, x.AsY())
		combine(x.AsY(), v.AsY(), v.AsY())
	}
	VEXTRACTI128(Imm(1), v.AsY(), x.AsX())
	combine(x.AsX(), v.AsX(), v.AsX())
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} {
		VPSHUFD(U8(order), v.AsX(), x.AsX())
		combine(x.AsX(), v.AsX(), v.AsX())
	}
	result := GP32()
	VMOVD(v.AsX(), result)
	Store(result, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// largest writes the kernel that finds the largest magnitude of a row by its bits: the bits of
// floats without sign are ordered like their values, with NaN above all.
func (s bitsSet) largest() {
	s.kernel("largest", "(from *float32, count int) uint32")
	from, count := argument("from"), argument("count")
	most, magnitude := s.zero(), s.constant(0x7fffffff)
	s.eachVector(from, count, func(x reg.VecVirtual) {
		if s.lanes == 16 {
			VPANDD(magnitude, x, x)
		} else {
			VPAND(magnitude, x, x)
		}
		VPMAXSD(x, most, most)
	})
	s.across(most, func(o ...Op) { VPMAXSD(o[0], o[1], o[2]) })
}

// fix writes the kernel that multiplies a row by a factor and rounds the products to integers. It writes whole
// vectors, with zeros behind the row.
func (s bitsSet) fix() {
	s.kernel("fix", "(to *int32, from *float32, count int, factor float32) int32")
	to, from, count := argument("to"), argument("from"), argument("count")
	factor, sum := s.vector(), s.zero()
	VBROADCASTSS(parameter("factor"), factor)
	s.eachVector(from, count, func(x reg.VecVirtual) {
		VMULPS(factor, x, x)
		VCVTPS2DQ(x, x)
		VMOVUPS(x, Mem{Base: to})
		VPADDD(x, sum, sum)
		ADDQ(Imm(uint64(s.bytes())), to)
	})
	s.across(sum, func(o ...Op) { VPADDD(o[0], o[1], o[2]) })
}

// subsets writes the kernel that sums the subsets of groups of four rows, with AVX-512 of pairs of groups.
func (s bitsSet) subsets() {
	s.kernel("subsets", "(to, from *int32, strideFrom, groups int)")
	to, row, stride, groups := argument("to"), argument("from"), argument("strideFrom"), argument("groups")
	stride3 := GP64()
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	rows, sums := panel{strideA: stride, strideA3: stride3}, s.subsetsOfOne
	together := 1 // groups
	if s.lanes == 16 {
		sums, together = s.subsetsOfTwo(), 2
	}
	Label("group")
	for r := range quad {
		for g, subsets := range sums(rows.rowOfA(row, r)) {
			VMOVUPS(subsets, Mem{Base: to, Disp: (g*quad + r) * s.bytes()})
		}
	}
	ADDQ(U32(uint32(4*s.group*together)), row)
	ADDQ(U32(uint32(together*quad*s.bytes())), to)
	SUBQ(Imm(uint64(together)), groups)
	JG(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// subsetsOfOne sums the subsets of a group: lane l has the sum of the integers i for which bit i of
// l is set.
func (s bitsSet) subsetsOfOne(from Mem) []reg.VecVirtual {
	sums := s.vector()
	for i := range s.group {
		with := make([]uint32, s.lanes)
		for lane := range with {
			if lane>>i&1 != 0 {
				with[lane] = 0xffffffff
			}
		}
		x := s.vector()
		VPBROADCASTD(from.Offset(4*i), x)
		VPAND(table(with...), x, x)
		if i == 0 {
			sums = x
		} else {
			VPADDD(x, sums, sums)
		}
	}
	return []reg.VecVirtual{sums}
}

// subsetsOfTwo is like subsetsOfOne, for two groups of four. It permutes a vector of the eight
// integers in one half and sums of pairs of integers in the other: one permutation selects the part
// of the lower two bits, another the part of the upper two bits.
func (s bitsSet) subsetsOfTwo() func(from Mem) []reg.VecVirtual {
	lanes := func(bits uint32) Op {
		k, word := K(), GP32()
		MOVL(U32(bits), word)
		KMOVW(word, k)
		return k
	}
	upper, some := lanes(0xff00), []Op{lanes(0xeeee), lanes(0xfff0)}
	var choices [2][2]Op // for each group, the lower and the upper two bits
	for g := range choices {
		for half := range choices[g] {
			choice := make([]uint32, 16)
			for lane := range choice {
				pair := lane >> (2 * half) & 3
				choice[lane] = uint32(4*g+2*half) + []uint32{0, 0, 1, 8}[pair]
			}
			choices[g][half] = s.constant(choice...)
		}
	}
	return func(from Mem) []reg.VecVirtual {
		integers, neighbors := s.vector(), s.vector()
		VBROADCASTI32X8(from, integers)
		VPSHUFD(U8(0b10_11_00_01), integers, neighbors)
		VPADDD(neighbors, integers, upper, integers)
		subsets := make([]reg.VecVirtual, 2)
		for g := range subsets {
			subsets[g] = s.vector()
			part := s.vector()
			VPERMD_Z(integers, choices[g][0], some[0], subsets[g])
			VPERMD_Z(integers, choices[g][1], some[1], part)
			VPADDD(part, subsets[g], subsets[g])
		}
		return subsets
	}
}

// product writes the kernel of a tile of four rows and some vectors of columns, which are added to where add is not
// 0.
func (s bitsSet) product(vectors int) {
	s.kernel(fmt.Sprintf("bitsProduct%d", vectors), "(tile, tables *int32, words *uint32, groups, strideTile, strideWords, add int)")
	tables, words, groups, stride := argument("tables"), argument("words"), argument("groups"), argument("strideWords")
	row, strideTile, add := argument("tile"), argument("strideTile"), argument("add")
	sums := make([][]reg.VecVirtual, quad)
	for r := range sums {
		for range vectors {
			sums[r] = append(sums[r], s.zero())
		}
	}
	TESTQ(add, add)
	JZ(LabelRef("word"))
	MOVQ(row, add)
	for r := range sums {
		for v, sum := range sums[r] {
			VMOVUPS(Mem{Base: add, Disp: v * s.bytes()}, sum)
		}
		ADDQ(strideTile, add)
	}
	Label("word")
	for g := range groupsOfWord {
		chosen := make([]Op, quad)
		for r := range chosen {
			from := Mem{Base: tables, Disp: (g*quad + r) * s.bytes()}
			chosen[r] = from
			if s.lanes == 16 {
				chosen[r] = s.vector()
				VMOVUPS(from, chosen[r])
			}
		}
		for v := range vectors {
			bits, from := s.vector(), Mem{Base: words, Disp: v * s.bytes()}
			switch {
			case g == 0:
				VMOVUPS(from, bits)
			case s.lanes == 16:
				VPSRLD(Imm(uint64(g*s.group)), from, bits)
			default:
				VMOVUPS(from, bits)
				VPSRLD(Imm(uint64(g*s.group)), bits, bits)
			}
			for r := range chosen {
				x := s.vector()
				VPERMD(chosen[r], bits, x)
				VPADDD(x, sums[r][v], sums[r][v])
			}
		}
		DECQ(groups)
		JZ(LabelRef("write"))
	}
	ADDQ(U32(uint32(groupsOfWord*quad*s.bytes())), tables)
	ADDQ(stride, words)
	JMP(LabelRef("word"))
	Label("write")
	for r := range sums {
		for v, sum := range sums[r] {
			VMOVUPS(sum, Mem{Base: row, Disp: v * s.bytes()})
		}
		ADDQ(strideTile, row)
	}
	VZEROUPPER()
	RET()
}

// An output converts the integers k of a row to floats, (2ˢ·k + start)·scale.
type output struct{ shift, start, scale reg.VecVirtual }

func (s bitsSet) newOutput(loadStart, loadScale func(...Op), starts, scales reg.Register) output {
	o := output{XMM(), s.vector(), s.vector()}
	VMOVQ(parameter("shift"), o.shift)
	loadStart(Mem{Base: starts}, o.start)
	loadScale(Mem{Base: scales}, o.scale)
	return o
}

func (o output) convert(x reg.VecVirtual) {
	VPSLLD(o.shift, x, x)
	VPADDD(o.start, x, x)
	VCVTDQ2PS(x, x)
	VMULPS(o.scale, x, x)
}

// writeRows writes the kernel that converts rows of integers to rows of floats, which are added to where add is not
// 0.
func (s bitsSet) writeRows() {
	s.kernel("writeRows", "(c *float32, from *int32, starts *int32, scales *float32, rows, columns, strideC, strideFrom, shift, add int)")
	row, of, starts, scales, rows := argument("c"), argument("from"), argument("starts"), argument("scales"), argument("rows")
	strideC, strideFrom := argument("strideC"), argument("strideFrom")
	Label("row")
	c, from, columns, add := GP64(), GP64(), argument("columns"), argument("add")
	MOVQ(row, c)
	MOVQ(of, from)
	out := s.newOutput(VPBROADCASTD, func(o ...Op) { VBROADCASTSS(o[0], o[1]) }, starts, scales)
	s.vectors("vector", columns, func(lanes mask) {
		x := s.vector()
		VMOVUPS(Mem{Base: from}, x)
		out.convert(x)
		old, set := s.vector(), fmt.Sprint("set", lanes.all())
		TESTQ(add, add)
		JZ(LabelRef(set))
		s.load(Mem{Base: c}, lanes, old)
		VADDPS(old, x, x)
		Label(set)
		s.store(x, lanes, Mem{Base: c})
		ADDQ(Imm(uint64(s.bytes())), c)
		ADDQ(Imm(uint64(s.bytes())), from)
	})
	ADDQ(strideC, row)
	ADDQ(strideFrom, of)
	ADDQ(Imm(4), starts)
	ADDQ(Imm(4), scales)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}

// writeColumns writes the kernel that converts columns of integers, of at most as many rows as a vector has lanes,
// to rows of floats. It reads as many rows, starts and scales as a vector has lanes.
func (s bitsSet) writeColumns() {
	s.kernel("writeColumns", "(c *float32, from *int32, starts *int32, scales *float32, rows, columns, strideC, strideFrom, shift int)")
	c, of, starts, scales, columns := argument("c"), argument("from"), argument("starts"), argument("scales"), argument("columns")
	strideC, strideFrom := argument("strideC"), argument("strideFrom")
	lanes := s.firstLanes(argument("rows"))
	out := s.newOutput(VMOVUPS, VMOVUPS, starts, scales)
	strideFrom3 := GP64()
	LEAQ(Mem{Base: strideFrom, Index: strideFrom, Scale: 2}, strideFrom3)
	rows := panel{strideA: strideFrom, strideA3: strideFrom3}
	Label("vector")
	row, block := GP64(), make([]reg.VecVirtual, s.lanes)
	MOVQ(of, row)
	for i := range block {
		block[i] = s.vector()
		VMOVUPS(rows.rowOfA(row, i%4), block[i])
		if i%4 == 3 {
			LEAQ(Mem{Base: row, Index: strideFrom, Scale: 4}, row)
		}
	}
	for i, x := range s.exchangeLanes(s.transposeLanes(block)) {
		out.convert(x)
		s.storeFast(x, lanes, Mem{Base: c}, fmt.Sprint("column", i))
		ADDQ(strideC, c)
		DECQ(columns)
		JZ(LabelRef("done"))
	}
	ADDQ(Imm(uint64(s.bytes())), of)
	JMP(LabelRef("vector"))
	Label("done")
	VZEROUPPER()
	RET()
}

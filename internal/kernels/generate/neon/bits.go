package main

import "fmt"

// bits writes the kernels of products of integers with bits. A look-up replaces bytes by bytes of
// a table: the table of a pair of groups of four integers has one byte of each sum of a group's
// integers, and there is one table for each of the four bytes of a sum. A sum of looked-up bytes
// has 16 bits, enough for 64 groups.
//
// The words of eight columns lie together: first byte 0 of each, then byte 1, 2 and 3. A byte has
// the bits of a pair of groups.
func (f *file) bits() {
	f.bitsOfRow()
	f.bitsOfColumns()
	f.subsets()
	f.bitsProduct()
}

// halve sets low to the even and high to the odd elements of the registers a and b.
func (f *file) halve(arrangement string, a, b, low, high vector) {
	f.three("VUZP1", arrangement, low, a, b)
	f.three("VUZP2", arrangement, high, a, b)
}

// bitsOfRow writes the kernel that packs the bits of a row, 32 in a word of the column at a place from 0 to 7 of
// eight.
func (f *file) bitsOfRow() {
	f.stackKernel("bitsOfRow", "to *uint32, place int, from *float32, words int, strideTo int")
	to, place, from, words, stride := f.argument("to"), f.argument("place"), f.argument("from"), f.argument("words"), f.argument("strideTo")
	f.do("ADD %v, %v", place, to)
	weights := f.vector()
	f.do("MOVD $0x8040201008040201, %v", place)
	f.do("VDUP %v, %v.D2", place, weights)
	x := f.many(8)
	f.loop(words, func() {
		f.do("VLD1.P 64(%v), %v", from, list(x[:4]))
		f.do("VLD1.P 64(%v), %v", from, list(x[4:]))
		for _, v := range x {
			f.word("FCMGT 4S 4S #0", v, v)
		}
		for n := 4; n >= 2; n /= 2 { // narrower lanes
			for i := range n {
				f.three("VUZP1", map[int]string{4: "H8", 2: "B16"}[n], x[i], x[2*i], x[2*i+1])
			}
		}
		for _, v := range x[:2] {
			f.three("VAND", "B16", v, v, weights)
		}
		for range 3 {
			f.three("VADDP", "B16", x[0], x[0], x[1])
		}
		for i := range 4 {
			f.do("VST1 %v.B[%d], (%v)", x[0], i, to)
			f.do("ADD $8, %v", to)
		}
		f.do("ADD %v, %v", stride, to)
		f.do("SUB $32, %v", to)
	})
	f.do("RET")
}

// bitsOfColumns writes the kernel that packs bit i of the words of columns from row i, in vectors of eight columns.
func (f *file) bitsOfColumns() {
	f.stackKernel("bitsOfColumns", "to *uint32, from *float32, rows int, vectors int, strideFrom int")
	to, from, rows, vectors, stride := f.argument("to"), f.argument("from"), f.argument("rows"), f.argument("vectors"), f.argument("strideFrom")
	row, left := f.integer(), f.integer()
	x, words := f.many(2), f.many(2)
	f.loop(vectors, func() {
		f.zero(words...)
		f.do("SUB $1, %v, %v", rows, row)
		f.do("MADD %v, %v, %v, %v", stride, from, row, row) // from the last row to the first
		f.do("MOVD %v, %v", rows, left)
		f.loop(left, func() {
			f.do("VLD1 (%v), %v", row, list(x))
			f.do("SUB %v, %v", stride, row)
			for i := range x {
				f.word("FCMGT 4S 4S #0", x[i], x[i])
				f.three("VADD", "S4", words[i], words[i], words[i])
				f.three("VSUB", "S4", words[i], words[i], x[i])
			}
		})
		f.halve("B16", words[0], words[1], x[0], x[1])
		f.halve("B16", x[0], x[1], words[0], words[1])
		f.do("VST1.P [%v.B16, %v.B16], 32(%v)", words[0], words[1], to)
		f.do("ADD $32, %v", from)
	})
	f.do("RET")
}

// subsets writes the kernel that writes the tables of pairs of groups for four rows.
func (f *file) subsets() {
	f.kernel("subsets", "to *int32, from *int32, strideFrom int, pairs int", "")
	to, row, stride, pairs := f.argument("to"), f.argument("from"), f.argument("strideFrom"), f.argument("pairs")
	from := f.integer()
	x, choice := f.many(2), f.many(2)
	sums, tables := f.many(4), f.many(8)
	for i, words := range [][2]uint64{{0x03020100_ffffffff, 0x03020100_07060504}, {0xffffffff_ffffffff, 0x07060504_ffffffff}} {
		for lane, word := range words {
			f.do("MOVD $%#x, %v", word, from)
			f.do("VMOV %v, %v.D[%d]", from, choice[i], lane)
		}
	}
	f.loop(pairs, func() {
		f.do("MOVD %v, %v", row, from)
		for r := range 4 {
			f.do("VLD1 (%v), %v", from, list(x))
			for g, x := range x {
				f.do("VTBL %v.B16, [%v.B16], %v.B16", choice[0], x, sums[0])
				f.do("VTBL %v.B16, [%v.B16], %v.B16", choice[1], x, sums[1])
				f.three("VADD", "S4", sums[0], sums[0], sums[1])
				f.do("VDUP %v.S[2], %v.S4", x, sums[2])
				f.do("VDUP %v.S[3], %v.S4", x, sums[3])
				f.three("VADD", "S4", sums[1], sums[0], sums[2])
				f.three("VADD", "S4", sums[2], sums[0], sums[3])
				f.three("VADD", "S4", sums[3], sums[1], sums[3])
				even, odd := tables[:2], tables[2:4] // bytes
				f.halve("B16", sums[0], sums[1], even[0], odd[0])
				f.halve("B16", sums[2], sums[3], even[1], odd[1])
				f.halve("B16", even[0], even[1], sums[0], sums[2])
				f.halve("B16", odd[0], odd[1], sums[1], sums[3])
				for b, bytes := range sums {
					f.do("FMOVQ F%d, %d(%v)", bytes, r*128+b*32+g*16, to)
				}
			}
			f.do("ADD %v, %v", stride, from)
		}
		f.do("ADD $512, %v", to)
		f.do("ADD $32, %v", row)
	})
	f.do("RET")
}

// bitsProduct writes the kernel of a tile of four rows and eight columns, which is added to where add is not 0.
func (f *file) bitsProduct() {
	f.kernel("bitsProduct", "tile *int32, tables *int32, words *uint32, pairs int, strideTile int, strideWords int, add int", "")
	tile, tables, words, pairs := f.argument("tile"), f.argument("tables"), f.argument("words"), f.argument("pairs")
	strideTile, strideWords, add, scratch := f.argument("strideTile"), f.argument("strideWords"), f.argument("add"), f.integer()
	half, second, bits, shifted := f.vector(), f.vector(), f.vector(), f.vector()
	sums, table := make([][]vector, 4), f.many(8)
	f.do("MOVD $0x0f0f0f0f0f0f0f0f, %v", scratch)
	f.do("VDUP %v, %v.D2", scratch, half)
	f.do("MOVD $0x1000100010001000, %v", scratch)
	f.do("VDUP %v, %v.D2", scratch, second)
	for r := range sums {
		sums[r] = f.many(4)
		f.zero(sums[r]...)
	}
	again, write := f.unique("word"), f.unique("write")
	f.label(again)
	for b := range 4 {
		f.do("FMOVD %d(%v), F%d", 8*b, words, bits)
		f.do("VUSHLL $4, %v.B8, %v.H8", bits, shifted)
		f.do("VUXTL %[1]v.B8, %[1]v.H8", bits)
		f.three("VORR", "B16", bits, bits, shifted)
		f.three("VBIF", "B16", bits, second, half) // the group, and 16 + the other one
		for r := range sums {
			for part := range 2 {
				t := table[4*(r%2^part):][:4] // of two bytes of the sums
				f.do("VLD1.P 64(%v), %v", tables, list(t))
				for i := range 2 {
					f.do("VTBL %v.B16, [%v.B16, %v.B16], %v.B16", bits, t[2*i], t[2*i+1], shifted)
					f.word("UADALP 8H 16B", sums[r][2*part+i], shifted)
				}
			}
		}
		f.do("SUBS $1, %v", pairs)
		f.do("BEQ %s", write)
	}
	f.do("ADD %v, %v", strideWords, words)
	f.do("B %s", again)
	f.label(write)
	x := table[:4]
	for r := range sums {
		for side, instruction := range []string{"VUSHLL", "VUSHLL2"} {
			for b, sum := range sums[r] {
				f.do("%s $%d, %v.%s, %v.S4", instruction, b%2*8, sum, []string{"H4", "H8"}[side], x[b])
			}
			f.three("VADD", "S4", x[0], x[0], x[1])
			f.three("VADD", "S4", x[2], x[2], x[3])
			f.do("VSHL $16, %[1]v.S4, %[1]v.S4", x[2])
			f.three("VADD", "S4", x[0], x[0], x[2])
			set := f.unique("set")
			f.do("CBZ %v, %s", add, set)
			f.do("FMOVQ %d(%v), F%d", 16*side, tile, x[1])
			f.three("VADD", "S4", x[0], x[0], x[1])
			f.label(set)
			f.do("FMOVQ F%d, %d(%v)", x[0], 16*side, tile)
		}
		f.do("ADD %v, %v", strideTile, tile)
	}
	f.do("RET")
}

// write writes the kernels that convert rows to fixed point, in vectors of eight, and sums to rows of floats, in
// vectors of four, from a row or from the columns of four rows. The row is added to where add is not 0.
func (f *file) write() {
	f.kernel("largest", "from *float32, vectors int", "uint32")
	from, count := f.argument("from"), f.argument("vectors")
	x, most := f.many(2), f.many(2)
	f.zero(most...)
	f.loop(count, func() {
		f.do("VLD1.P 32(%v), %v", from, list(x))
		for i := range x {
			f.word("FABS 4S 4S", x[i], x[i])
			f.three("VUMAX", "S4", most[i], most[i], x[i])
		}
	})
	f.across("VUMAX", most)

	f.kernel("fix", "to *int32, from *float32, vectors int, factor float32", "int32")
	to, from, count := f.argument("to"), f.argument("from"), f.argument("vectors")
	factor := f.broadcast("factor")
	x, sums := f.many(2), f.many(2)
	f.zero(sums...)
	f.loop(count, func() {
		f.do("VLD1.P 32(%v), %v", from, list(x))
		for i := range x {
			f.word("FMUL 4S 4S 4S", x[i], x[i], factor)
			f.word("FCVTNS 4S 4S", x[i], x[i])
			f.three("VADD", "S4", sums[i], sums[i], x[i])
		}
		f.do("VST1.P %v, 32(%v)", list(x), to)
	})
	f.across("VADD", sums)

	f.kernel("writeRow", "c *float32, from *int32, vectors int, start int32, scale float32, shift int, add int", "")
	c, from, count, add := f.argument("c"), f.argument("from"), f.argument("vectors"), f.argument("add")
	start, scale, shift := f.broadcast("start"), f.broadcast("scale"), f.shift()
	v, old := f.vector(), f.vector()
	f.loop(count, func() {
		set := f.unique("set")
		f.do("FMOVQ.P 16(%v), F%d", from, v)
		f.floats(v, start, scale, shift)
		f.do("CBZ %v, %s", add, set)
		f.do("FMOVQ (%v), F%d", c, old)
		f.word("FADD 4S 4S 4S", v, v, old)
		f.label(set)
		f.do("FMOVQ.P F%d, 16(%v)", v, c)
	})
	f.do("RET")

	f.kernel("writeColumns", "c *float32, from *int32, starts *int32, scales *float32, vectors int, strideC int, strideFrom int, shift int", "")
	c, from, starts, scales := f.argument("c"), f.argument("from"), f.argument("starts"), f.argument("scales")
	count, strideC, strideFrom, row := f.argument("vectors"), f.argument("strideC"), f.argument("strideFrom"), f.integer()
	start, scale, shift, block := f.vector(), f.vector(), f.shift(), f.many(4)
	f.do("FMOVQ (%v), F%d", starts, start)
	f.do("FMOVQ (%v), F%d", scales, scale)
	f.loop(count, func() {
		f.do("MOVD %v, %v", from, row)
		for _, v := range block {
			f.do("VLD1 (%v), [%v.S4]", row, v)
			f.do("ADD %v, %v", strideFrom, row)
		}
		f.transpose(block)
		for _, v := range block {
			f.floats(v, start, scale, shift)
			f.do("VST1 [%v.S4], (%v)", v, c)
			f.do("ADD %v, %v", strideC, c)
		}
		f.do("ADD $16, %v", from)
	})
	f.do("RET")
}

// across returns the result of an operation on all lanes of two registers.
func (f *file) across(instruction string, v []vector) {
	result := f.integer()
	f.three(instruction, "S4", v[0], v[0], v[1])
	for _, bytes := range []int{8, 4} {
		f.do("VEXT $%d, %[2]v.B16, %[2]v.B16, %v.B16", bytes, v[0], v[1])
		f.three(instruction, "S4", v[0], v[0], v[1])
	}
	f.do("VMOV %v.S[0], %v", v[0], result)
	f.do("MOVW %v, %s", result, f.arguments["ret"])
	f.do("RET")
}

func (f *file) shift() vector {
	v, r := f.vector(), f.argument("shift")
	f.do("VDUP %v, %v.S4", r, v)
	return v
}

// floats replaces the integers k in v by (2ˢ·k + start)·scale.
func (f *file) floats(v, start, scale, shift vector) {
	f.word("SSHL 4S 4S 4S", v, v, shift)
	f.three("VADD", "S4", v, v, start)
	f.word("SCVTF 4S 4S", v, v)
	f.word("FMUL 4S 4S 4S", v, v, scale)
}

// rest writes the kernels that transpose one to four rows of vectors, with copies of the last row for those beyond;
// that multiply rows; and that add outer products of depth ≥ 1 rows to a tile of 2 × 6.
func (f *file) rest() {
	f.kernel("transpose", "to *float32, from *float32, rows int, vectors int, strideTo int, strideFrom int", "")
	to, rows, count, strideTo, stride := f.argument("to"), f.argument("rows"), f.argument("vectors"), f.argument("strideTo"), f.argument("strideFrom")
	from, block := []integer{f.argument("from"), f.integer(), f.integer(), f.integer()}, f.many(4)
	for i := 1; i < 4; i++ {
		f.do("CMP $%d, %v", i, rows)
		f.do("CSEL GT, %v, ZR, %[1]v", stride)
		f.do("ADD %v, %v, %v", stride, from[i-1], from[i])
	}
	f.loop(count, func() {
		for i, v := range block {
			f.do("FMOVQ.P 16(%v), F%d", from[i], v)
		}
		f.transpose(block)
		for _, v := range block {
			f.do("VST1 [%v.S4], (%v)", v, to)
			f.do("ADD %v, %v", strideTo, to)
		}
	})
	f.do("RET")

	f.multiply("multiply", false)
	f.multiply("addMultiple", true)

	f.kernel("outer", "c *float64, a *float64, b *float64, depth int, stride int", "")
	c, a, b, depth, stride := f.argument("c"), f.argument("a"), f.argument("b"), f.argument("depth"), f.argument("stride")
	row, element, sums := f.many(3), f.many(2), f.many(6)
	doubles := func(v []vector) string { return fmt.Sprintf("[%v.D2, %v.D2, %v.D2]", v[0], v[1], v[2]) }
	f.zero(sums...)
	f.loop(depth, func() {
		f.do("VLD1.P (%v)(%v), %s", b, stride, doubles(row))
		f.do("VLD1.P (%v)(%v), [%v.D2]", a, stride, element[0])
		f.do("VDUP %v.D[1], %v.D2", element[0], element[1])
		f.do("VDUP %v.D[0], %[1]v.D2", element[0])
		for i, sum := range sums {
			f.three("VFMLA", "D2", sum, row[i%3], element[i/3])
		}
	})
	for i := range element {
		f.do("VLD1 (%v), %s", c, doubles(row))
		for j, v := range row {
			f.word("FADD 2D 2D 2D", v, v, sums[3*i+j])
		}
		f.do("VST1 %s, (%v)", doubles(row), c)
		f.do("ADD %v, %v", stride, c)
	}
	f.do("RET")
}

// multiply writes a kernel that multiplies a row by a number, and perhaps adds the products,
// rounded, to another row.
func (f *file) multiply(name string, add bool) {
	f.kernel(name, "to *float32, from *float32, count int, by float32", "")
	to, from, count, by := f.argument("to"), f.argument("from"), f.argument("count"), f.broadcast("by")
	x, old := f.many(4), f.many(4)
	single, one, end, again := f.unique("single"), f.unique("one"), f.unique("end"), f.unique("loop")
	f.do("SUBS $16, %v", count)
	f.do("BLT %s", single)
	f.label(again)
	f.do("VLD1.P 64(%v), %v", from, list(x))
	if add {
		f.do("VLD1 (%v), %v", to, list(old))
	}
	for i, v := range x {
		f.word("FMUL 4S 4S 4S", v, v, by)
		if add {
			f.word("FADD 4S 4S 4S", v, v, old[i])
		}
	}
	f.do("VST1.P %v, 64(%v)", list(x), to)
	f.do("SUBS $16, %v", count)
	f.do("BGE %s", again)
	f.label(single)
	f.do("ADDS $16, %v", count)
	f.do("BEQ %s", end)
	f.label(one)
	f.do("FMOVS.P 4(%v), F%d", from, x[0])
	f.do("FMULS F%d, F%[2]d, F%[2]d", by, x[0])
	if add {
		f.do("FMOVS (%v), F%d", to, old[0])
		f.do("FADDS F%d, F%[2]d, F%[2]d", old[0], x[0])
	}
	f.do("FMOVS.P F%d, 4(%v)", x[0], to)
	f.do("SUBS $1, %v", count)
	f.do("BNE %s", one)
	f.label(end)
	f.do("RET")
}

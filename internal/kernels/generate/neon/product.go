package main

import "fmt"

// product writes the kernels of c = β·c + α·a·b for one to three vectors of columns, like the
// kernels for amd64, with tiles of 8 × 12. A load that copies one element of a to all lanes also
// advances its pointer, so that each row of the tile has a pointer.
func (f *file) product() {
	for vectors := 3; vectors >= 1; vectors-- {
		f.kernel(fmt.Sprint("product", vectors),
			"c *float32, a *float32, b *float32, rows int, depth int, strideC int, rowStrideA int, depthStrideA int, strideB int, lastLanes int, alpha float32, beta float32", "")
		p := panel{file: f, vectors: vectors,
			c: f.argument("c"), a: f.argument("a"), b: f.argument("b"), rows: f.argument("rows"), depth: f.argument("depth"), strideC: f.argument("strideC"),
			strideA: f.argument("rowStrideA"), depthStrideA: f.argument("depthStrideA"), strideB: f.argument("strideB"), last: f.argument("lastLanes"), lane: f.integer(),
		}
		for rows := 8; rows >= 1; rows /= 2 {
			p.tile(rows)
		}
		f.do("RET")
	}
}

// panel is the state of a kernel between two tiles: c and a point to the next tile's rows.
type panel struct {
	*file
	vectors                                              int
	c, a, b, rows, depth, strideC, strideA, depthStrideA integer
	strideB, last                                        integer
	lane                                                 integer // for addresses
}

// tile computes tiles of the given number of rows until fewer are left.
func (p panel) tile(rows int) {
	integers := p.integers
	p.file.vectors = 0
	sums := make([][]vector, rows)
	for i := range sums {
		sums[i] = p.many(p.vectors)
	}
	row, elements := p.many(p.vectors), p.many(min(rows, 31-(rows+1)*p.vectors))
	pointers := make([]integer, rows)
	for i := range pointers {
		pointers[i] = p.integer()
	}
	b, left := p.integer(), p.integer()

	again, otherwise, write := p.unique("tile"), p.unique("less"), p.unique("write")
	p.label(again)
	p.do("CMP $%d, %s", rows, p.rows)
	p.do("BLT %s", otherwise)
	for i := range sums {
		p.zero(sums[i]...)
		if i == 0 {
			p.do("MOVD %s, %s", p.a, pointers[0])
		} else {
			p.do("ADD %s, %s, %s", p.strideA, pointers[i-1], pointers[i])
		}
	}
	p.do("ADD %s, %s, %s", p.strideA, pointers[rows-1], p.a)
	p.do("MOVD %s, %s", p.b, b)
	p.do("MOVD %s, %s", p.depth, left)
	p.do("CBZ %s, %s", left, write)
	p.fullOrNot(func(full bool) {
		p.loop(left, func() {
			if full {
				p.do("VLD1.P (%s)(%s), %s", b, p.strideB, list(row))
			} else {
				p.load(b, row)
				p.do("ADD %s, %s", p.strideB, b)
			}
			for i := range sums {
				element := elements[i%len(elements)]
				p.do("VLD1R.P (%s)(%s), [%v.S4]", pointers[i], p.depthStrideA, element)
				for j, sum := range sums[i] {
					p.three("VFMLA", "S4", sum, row[j], element)
				}
			}
		})
	})
	p.label(write)
	p.do("SUB $%d, %s", rows, p.rows)
	alpha, beta := elements[0], p.vector()
	p.do("MOVWU %s, %s", p.arguments["alpha"], left)
	p.do("VDUP %s, %v.S4", left, alpha)
	p.do("MOVWU %s, %s", p.arguments["beta"], left)
	p.do("VDUP %s, %v.S4", left, beta)
	p.fullOrNot(func(full bool) {
		for i := range sums {
			set := p.unique("set")
			for _, sum := range sums[i] {
				p.word("FMUL 4S 4S 4S", sum, sum, alpha)
			}
			p.do("CBZ %s, %s", left, set)
			if full {
				p.do("VLD1 (%s), %s", p.c, list(row))
			} else {
				p.load(p.c, row)
			}
			for j, sum := range sums[i] {
				p.three("VFMLA", "S4", sum, row[j], beta)
			}
			p.label(set)
			if full {
				p.do("VST1 %s, (%s)", list(sums[i]), p.c)
			} else {
				p.store(sums[i], p.c)
			}
			p.do("ADD %s, %s", p.strideC, p.c)
		}
	})
	p.do("B %s", again)
	p.label(otherwise)
	p.integers = integers
}

// fullOrNot writes body for a last vector that is full, and for one that is not.
func (p panel) fullOrNot(body func(full bool)) {
	partial, end := p.unique("partial"), p.unique("end")
	p.do("CMP $4, %s", p.last)
	p.do("BNE %s", partial)
	body(true)
	p.do("B %s", end)
	p.label(partial)
	body(false)
	p.label(end)
}

// load loads vectors, the last one up to its last lane and then with zeros.
func (p panel) load(from integer, to []vector) {
	whole, last := to[:len(to)-1], to[len(to)-1]
	p.do("MOVD %s, %s", from, p.lane)
	if len(whole) > 0 {
		p.do("VLD1.P %d(%s), %s", 16*len(whole), p.lane, list(whole))
	}
	p.zero(last)
	p.lanes(func(part string, bytes int) { p.do("VLD1.P %d(%s), %v.%s", bytes, p.lane, last, part) })
}

func (p panel) store(from []vector, to integer) {
	whole, last := from[:len(from)-1], from[len(from)-1]
	p.do("MOVD %s, %s", to, p.lane)
	if len(whole) > 0 {
		p.do("VST1.P %s, %d(%s)", list(whole), 16*len(whole), p.lane)
	}
	p.lanes(func(part string, bytes int) { p.do("VST1.P %v.%s, %d(%s)", last, part, bytes, p.lane) })
}

// lanes writes body for the one to three lanes of a vector.
func (p panel) lanes(body func(part string, bytes int)) {
	one, end := p.unique("one"), p.unique("end")
	p.do("CMP $2, %s", p.last)
	p.do("BLT %s", one)
	body("D[0]", 8)
	p.do("BEQ %s", end)
	body("S[2]", 4)
	p.do("B %s", end)
	p.label(one)
	body("S[0]", 4)
	p.label(end)
}

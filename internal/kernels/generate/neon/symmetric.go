package main

import "fmt"

// symmetric writes the kernels that multiply a vector by packed symmetric matrices, like the
// kernels for amd64. The sums of eight rows stay in registers along a strip.
func (f *file) symmetric() {
	for _, bits := range []int{32, 16} {
		blocks := "blocks *float32"
		if bits == 16 {
			blocks = "blocks *int16, scales *float32"
		}
		f.kernel(fmt.Sprint("symmetricStrip", bits), "y *float32, x *float32, "+blocks+", strip int", "")
		yRows, xRows, left, offset := f.argument("y"), f.argument("x"), f.integer(), f.argument("strip")
		f.do("LSL $6, %v", offset)
		f.do("ADD %v, %v", offset, yRows)
		f.do("ADD %v, %v", offset, xRows)
		integers := f.integers
		for pass := range 2 {
			s := strip{file: f, bits: bits, first: 8 * pass}
			f.vectors = 0
			s.sums, s.xs, s.factors, s.images = f.many(8), f.many(4), f.many(2), f.many(4)
			s.b, s.scale = f.many(4), f.vector()
			s.blocks, s.y, s.x = f.argument("blocks"), f.argument("y"), f.argument("x")
			if bits == 16 {
				s.scales = f.argument("scales")
			}
			f.do("MOVD %s, %v", f.arguments["strip"], left)
			f.do("ADD $%d, %v", s.first*2*bits, s.blocks)
			f.do("VLD1.P 32(%v), %v", xRows, list(s.factors))
			f.zero(s.sums...)
			diagonal := f.unique("diagonal")
			f.do("CBZ %v, %s", left, diagonal)
			f.loop(left, func() { s.block(true) })
			f.label(diagonal)
			s.block(false)
			for n := 4; n >= 2; n /= 2 {
				for i := range n {
					f.word("FADDP 4S 4S 4S", s.sums[i], s.sums[2*i], s.sums[2*i+1])
				}
			}
			f.do("VLD1 (%v), %v", yRows, list(s.images[:2]))
			for i := range 2 {
				f.word("FADD 4S 4S 4S", s.images[i], s.images[i], s.sums[i])
			}
			f.do("VST1.P %v, 32(%v)", list(s.images[:2]), yRows)
			f.integers = integers
		}
		f.do("RET")
	}
}

// strip is the state of a pass over the rows from first on.
type strip struct {
	*file
	bits, first                  int
	sums, xs, factors, images, b []vector
	scale                        vector
	blocks, y, x, scales         integer
}

// block adds the products of eight rows of a block and, if mirror is true, of its mirror image. It
// advances to the next block.
func (s strip) block(mirror bool) {
	s.do("VLD1.P 64(%v), %v", s.x, list(s.xs))
	if s.bits == 16 {
		s.do("VLD1R.P 4(%v), [%v.S4]", s.scales, s.scale)
		for _, v := range s.xs {
			s.word("FMUL 4S 4S 4S", v, v, s.scale)
		}
	}
	if mirror {
		s.zero(s.images...)
	}
	for row, sum := range s.sums {
		s.elements()
		for i, b := range s.b {
			s.three("VFMLA", "S4", sum, b, s.xs[i])
			if mirror {
				s.element("FMLA 4S 4S S", row%4, s.images[i], b, s.factors[row/4])
			}
		}
	}
	s.do("ADD $%d, %v", 16*s.bits, s.blocks)
	if mirror {
		s.do("VLD1 (%v), %v", s.y, list(s.b))
		for i, image := range s.images {
			if s.bits == 16 {
				s.three("VFMLA", "S4", s.b[i], image, s.scale)
			} else {
				s.word("FADD 4S 4S 4S", s.b[i], s.b[i], image)
			}
		}
		s.do("VST1.P %v, 64(%v)", list(s.b), s.y)
	}
}

// elements loads a row of a block as float32.
func (s strip) elements() {
	if s.bits == 32 {
		s.do("VLD1.P 64(%v), %v", s.blocks, list(s.b))
		return
	}
	s.do("VLD1.P 32(%v), [%v.H8, %v.H8]", s.blocks, s.b[2], s.b[3])
	s.word("SXTL 4S 4H", s.b[0], s.b[2])
	s.word("SXTL2 4S 8H", s.b[1], s.b[2])
	s.word("SXTL 4S 4H", s.b[2], s.b[3])
	s.word("SXTL2 4S 8H", s.b[3], s.b[3])
	for _, b := range s.b {
		s.word("SCVTF 4S 4S", b, b)
	}
}

package main

import (
	"log"
	"math"
)

// The flags of what the kernel of Bernoulli units does.
const (
	draws = iota
	scores
	residuals
)

// wide holds sixteen float32.
type wide []vector

func (f *file) wide() wide { return f.many(4) }

// number returns a register with copies of a constant, valid until the next call.
func (f *file) number(x float64) vector { return f.constant(math.Float32bits(float32(x))) }

func (f *file) constant(word uint32) vector {
	at := 0
	for at < len(f.constants) && f.constants[at] != word {
		at++
	}
	if at == len(f.constants) {
		f.constants = append(f.constants, word)
	}
	if f.vectors > 31 {
		log.Fatal("neon: a constant overwrites a register")
	}
	f.do("FMOVQ %d(R26), F31", 16*at)
	return 31
}

// four writes an instruction of three operands, each wide or one vector for all.
func (f *file) four(instruction string, to wide, operands ...any) {
	for i := range to {
		registers := []vector{to[i]}
		for _, o := range operands {
			if w, ok := o.(wide); ok {
				o = w[i]
			}
			registers = append(registers, o.(vector))
		}
		f.word(instruction, registers...)
	}
}

// fourDo is like four, for an instruction of Go's assembler on registers in the given arrangement.
func (f *file) fourDo(instruction, arrangement string, to wide, a, b wide) {
	for i := range to {
		f.three(instruction, arrangement, to[i], a[i], b[i])
	}
}

// units writes the kernel of Bernoulli units. It repeats the portable code operation by operation,
// without fused multiply-adds, for sixteen units at a time, so that its sums are the portable ones. A bit of flags is
// set for each part that is to be done: draws, log-probabilities added to sums, and residuals.
func (f *file) units() {
	f.stackKernel("units", "states *float32, logits *float32, blocks int, off float32, key uint64, counter *[4]uint32, sums *[16]float64, flags int")
	states, logits, blocks := f.argument("states"), f.argument("logits"), f.argument("blocks")
	key, counter, sums, flags := f.argument("key"), f.argument("counter"), f.argument("sums"), f.argument("flags")
	f.do("MOVD $neonConstants<>(SB), R26")
	scratch := f.integer()
	first, off := f.vector(), f.broadcast("off")
	given, scored := f.unique("given"), f.unique("scored")
	f.do("TBZ $%d, %v, %s", draws, flags, given)
	f.do("MOVWU (%v), %v", counter, scratch)
	f.do("VDUP %v, %v.S4", scratch, first)
	for lane := 1; lane < 4; lane++ {
		f.do("ADD $1, %v", scratch)
		f.do("VMOV %v, %v.S[%d]", scratch, first, lane)
	}
	f.label(given)

	before := f.vectors
	f.loop(blocks, func() {
		f.vectors = before
		on, undrawn, drawn := f.wide(), f.unique("undrawn"), f.unique("drawn")
		f.do("TBZ $%d, %v, %s", draws, flags, undrawn)
		f.words(on, first, key, counter, scratch)
		f.label(undrawn)

		e := f.wide()
		f.do("VLD1 (%v), %v", logits, list(e))
		f.four("FABS 4S 4S", e, e)
		f.expNegative(e)
		a, onePlus := f.wide(), f.wide()
		f.do("VLD1 (%v), %v", logits, list(a))
		f.four("FADD 4S 4S 4S", onePlus, e, f.number(1))

		temporaries := f.vectors
		known := f.unique("known")
		f.do("TBZ $%d, %v, %s", draws, flags, known)
		sigma, u := f.wide(), on
		f.four("FCMGE 4S 4S #0", sigma, a)
		one := f.number(1)
		for i := range sigma {
			f.three("VBSL", "B16", sigma[i], one, e[i])
			f.do("VUSHR $9, %[1]v.S4, %[1]v.S4", u[i])
		}
		f.four("FDIV 4S 4S 4S", sigma, sigma, onePlus)
		f.four("SCVTF 4S 4S", u, u)
		f.four("FMUL 4S 4S 4S", u, u, f.number(0x1p-23))
		f.four("FADD 4S 4S 4S", u, u, f.number(0x1p-24))
		f.four("FCMGT 4S 4S 4S", on, sigma, u)
		one = f.number(1)
		for i := range on {
			f.three("VORR", "B16", sigma[i], on[i], on[i])
			f.three("VBSL", "B16", sigma[i], one, off)
		}
		f.do("VST1 %v, (%v)", list(sigma), states)
		f.do("B %s", drawn)
		f.label(known)
		f.do("VLD1 (%v), %v", states, list(on))
		f.four("FCMGT 4S 4S #0", on, on)
		f.label(drawn)
		f.vectors = temporaries

		f.do("TBZ $%d, %v, %s", scores, flags, scored)
		flip := on // the sign bit of the units that are off
		f.four("BIC 16B 16B 16B", flip, f.constant(0x80000000), on)
		f.fourDo("VEOR", "B16", a, a, flip) // the logit of the unit's state
		f.score(a, e, onePlus, flip, logits, sums, flags)
		f.label(scored)
		f.do("ADD $64, %v", states)
		f.do("ADD $64, %v", logits)
	})
	f.do("RET")
}

// score adds log σ(z) to the sums, and writes the residuals σ(−z) with the signs of flip. It
// overwrites its operands.
func (f *file) score(z, e, onePlus, flip wide, logits, sums, flags integer) {
	before, skip := f.vectors, f.unique("unchanged")
	f.do("TBZ $%d, %v, %s", residuals, flags, skip)
	share, negative := onePlus, f.wide()
	f.four("FDIV 4S 4S 4S", share, e, onePlus)
	rest := f.wide()
	f.four("FSUB 4S 4S 4S", rest, f.number(1), share)
	f.four("FCMLT 4S 4S #0", negative, z)
	for i := range share {
		f.three("VBSL", "B16", negative[i], rest[i], share[i])
	}
	f.fourDo("VEOR", "B16", negative, negative, flip)
	f.do("VST1 %v, (%v)", list(negative), logits)
	f.label(skip)
	f.vectors = before

	r := flip
	f.four("FADD 4S 4S 4S", r, e, f.number(2))
	f.four("FDIV 4S 4S 4S", r, e, r)
	square, low := onePlus, e
	f.four("FMUL 4S 4S 4S", square, r, r)
	f.logSeries(low, square)
	f.four("FADD 4S 4S 4S", r, r, r)
	f.four("FMUL 4S 4S 4S", r, r, low)
	zero := f.vector()
	f.zero(zero)
	f.four("FMIN 4S 4S 4S", z, z, zero)
	f.four("FSUB 4S 4S 4S", z, z, r)
	old := f.many(4)
	for half := range 2 { // eight units
		f.do("VLD1 (%v), [%v.D2, %v.D2, %v.D2, %v.D2]", sums, old[0], old[1], old[2], old[3])
		for i := range 2 {
			f.word("FCVTL 2D 2S", r[0], z[2*half+i])
			f.word("FCVTL2 2D 4S", r[1], z[2*half+i])
			f.word("FADD 2D 2D 2D", old[2*i], old[2*i], r[0])
			f.word("FADD 2D 2D 2D", old[2*i+1], old[2*i+1], r[1])
		}
		f.do("VST1.P [%v.D2, %v.D2, %v.D2, %v.D2], 64(%v)", old[0], old[1], old[2], old[3], sums)
	}
	f.do("SUB $128, %v", sums)
	f.vectors = before
}

// expNegative replaces t by e⁻ᵗ; see the portable code.
func (f *file) expNegative(t wide) {
	before := f.vectors
	n, r, x := f.wide(), f.wide(), f.wide()
	f.four("FMUL 4S 4S 4S", n, t, f.number(1.4426950408889634))
	f.four("FADD 4S 4S 4S", n, n, f.number(0.5))
	f.four("FCVTZS 4S 4S", n, n)
	f.four("SCVTF 4S 4S", x, n)
	f.four("FMUL 4S 4S 4S", r, x, f.number(0.693359375))
	f.four("FSUB 4S 4S 4S", r, r, t)
	f.four("FMUL 4S 4S 4S", x, x, f.number(-2.12194440054690583e-4))
	f.four("FADD 4S 4S 4S", r, r, x)
	exponent := f.constant(127)
	for i := range n {
		f.three("VSUB", "S4", n[i], exponent, n[i])
		f.do("VSHL $23, %[1]v.S4, %[1]v.S4", n[i])
	}
	limit := f.number(87.3)
	f.four("FCMGT 4S 4S 4S", t, t, limit)

	square, part := f.wide(), f.wide()
	f.four("FMUL 4S 4S 4S", square, r, r)
	f.four("FMUL 4S 4S 4S", x, r, f.number(1.0/120))
	f.four("FADD 4S 4S 4S", x, x, f.number(1.0/24))
	f.four("FMUL 4S 4S 4S", part, square, f.number(1.0/720))
	f.four("FADD 4S 4S 4S", x, x, part)
	f.four("FMUL 4S 4S 4S", square, square, x)
	f.linear(x, r, 1.0/6, 0.5)
	f.four("FADD 4S 4S 4S", x, x, square)
	for range 2 {
		f.four("FMUL 4S 4S 4S", x, x, r)
		f.four("FADD 4S 4S 4S", x, x, f.number(1))
	}
	f.four("FMUL 4S 4S 4S", x, x, n)
	f.four("BIC 16B 16B 16B", t, x, t)
	f.vectors = before
}

// logSeries sets to to the polynomial of the portable logarithm at x.
func (f *file) logSeries(to, x wide) {
	before := f.vectors
	square, high, part := f.wide(), f.wide(), f.wide()
	f.four("FMUL 4S 4S 4S", square, x, x)
	for _, half := range []struct {
		sum          wide
		coefficients [4]float64
	}{{high, [4]float64{1.0 / 11, 1.0 / 9, 1.0 / 15, 1.0 / 13}}, {to, [4]float64{1.0 / 3, 1, 1.0 / 7, 1.0 / 5}}} {
		f.linear(half.sum, x, half.coefficients[0], half.coefficients[1])
		f.linear(part, x, half.coefficients[2], half.coefficients[3])
		f.four("FMUL 4S 4S 4S", part, part, square)
		f.four("FADD 4S 4S 4S", half.sum, half.sum, part)
	}
	f.four("FMUL 4S 4S 4S", square, square, square)
	f.four("FMUL 4S 4S 4S", high, high, square)
	f.four("FADD 4S 4S 4S", to, to, high)
	f.vectors = before
}

// linear sets to to a·x + b.
func (f *file) linear(to, x wide, a, b float64) {
	f.four("FMUL 4S 4S 4S", to, x, f.number(a))
	f.four("FADD 4S 4S 4S", to, to, f.number(b))
}

// words sets u to the random words of sixteen units and advances the first words of the counters.
// Lane l of each register belongs to counter l. A product of words is two words.
func (f *file) words(u wide, first vector, key, counter, scratch integer) {
	before := f.vectors
	c, keys, products := f.wide(), f.many(2), f.many(2)
	f.three("VORR", "B16", u[0], first, first)
	for i := 1; i < 4; i++ {
		f.do("MOVWU %d(%v), %v", 4*i, counter, scratch)
		f.do("VDUP %v, %v.S4", scratch, u[i])
	}
	f.three("VADD", "S4", first, first, f.constant(4))
	f.do("VDUP %v, %v.S4", key, keys[0])
	f.do("LSR $32, %v, %v", key, scratch)
	f.do("VDUP %v, %v.S4", scratch, keys[1])
	for round := range 10 {
		for i, multiplier := range []uint32{0xD2511F53, 0xCD9E8D57} {
			m := f.constant(multiplier)
			f.word("UMULL 2D 2S 2S", products[0], u[2*i], m)
			f.word("UMULL2 2D 4S 4S", products[1], u[2*i], m)
			f.three("VUZP1", "S4", c[2*i], products[0], products[1])
			f.three("VUZP2", "S4", c[2*i+1], products[0], products[1])
		}
		for i := range 2 { // the lower product gives the upper words, and the reverse
			f.three("VEOR", "B16", u[2*i], u[2*i+1], c[3-2*i])
			f.three("VEOR", "B16", u[2*i], u[2*i], keys[i])
		}
		u[1], u[3], c[2], c[0] = c[2], c[0], u[1], u[3]
		if round < 9 {
			for i, increment := range []uint32{0x9E3779B9, 0xBB67AE85} {
				f.three("VADD", "S4", keys[i], keys[i], f.constant(increment))
			}
		}
	}
	f.transpose(u)
	f.vectors = before
}

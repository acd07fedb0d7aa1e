package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// bernoulli writes the kernels of Bernoulli units: draw, residual, and both in one, which computes
// e⁻ᵃ once; and the kernels that score without residuals.
//
// They repeat the portable code operation by operation, without fused multiply-adds, and sum the
// log-probability in the same sixteen partial sums, so that all instruction sets give the same
// bits. Each operation waits for the previous one, so AVX-512, which has enough registers, works on
// two vectors at a time, and on one for the last 16 units or fewer.
func bernoulli(s instructionSet) {
	w := wideSet{s, s.lanes / 8}
	unitsKernel{wideSet: w, draws: true}.write("draw")
	unitsKernel{wideSet: w, scores: true, residuals: true}.write("residual")
	unitsKernel{wideSet: w, draws: true, scores: true, residuals: true}.write("drawResidual")
	unitsKernel{wideSet: w, scores: true}.write("score")
	unitsKernel{wideSet: w, draws: true, scores: true}.write("drawScore")
	unitsKernel{wideSet: wideSet{s, 2}}.randomWords("samples", 1)
	one := unitsKernel{wideSet: wideSet{s, 1}}
	one.means("sigmoids", func(c constants, a, e, onePlus wide) wide { return one.sigmoid(c, a, e, onePlus) })
	one.means("negateMeans", func(c constants, a, e, onePlus wide) wide {
		one.do(xor, c.sign, a, a)
		return one.residual(c, a, e, onePlus, wide{c.sign})
	})
}

// randomWords writes a kernel of the words of counters that differ in the given word, where it counts blocks.
func (s unitsKernel) randomWords(name string, word int) {
	TEXT(name+s.name, 0, "func(to *uint32, vectors int, key uint64, counter *[4]uint32)")
	Pragma("noescape") // the counter is on the stack
	to, vectors, p := argument("to"), argument("vectors"), s.newPhilox(word)
	Label("vector")
	for i, words := range s.words(p) {
		VMOVUPS(words, Mem{Base: to, Disp: i * s.bytes()})
	}
	ADDQ(Imm(uint64(s.width*s.bytes())), to)
	SUBQ(Imm(uint64(s.width)), vectors)
	JG(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// means writes a kernel that replaces logits a by a function of e = e^−|a|.
func (s unitsKernel) means(name string, of func(c constants, a, e, onePlus wide) wide) {
	s.kernel(name, "(logits *float32, units int)")
	at, units, c := argument("logits"), argument("units"), s.newConstants()
	s.vectors("vector", units, func(lanes mask) {
		a, t, onePlus := s.wide(), s.wide(), s.wide()
		s.load(Mem{Base: at}, lanes, a[0].(reg.VecVirtual))
		s.do(and, table(0x7fffffff), a, t)
		e := s.expNegative(c, t)
		s.do(add, c.one, e, onePlus)
		s.store(of(c, a, e, onePlus)[0].(reg.VecVirtual), lanes, Mem{Base: at})
		ADDQ(Imm(uint64(s.bytes())), at)
	})
	VZEROUPPER()
	RET()
}

type unitsKernel struct {
	wideSet
	draws, scores, residuals bool
}

func (s unitsKernel) write(name string) {
	signature := "func(logits, states *float32, units int)"
	if s.draws {
		signature = "func(states, logits *float32, units int, off float32, key uint64, counter *[4]uint32)"
	}
	if s.scores {
		signature += " float64"
	}
	TEXT(name+s.name, 0, signature)
	Pragma("noescape") // the counter is on the stack
	states, logits, units := argument("states"), argument("logits"), argument("units")

	var philox philoxLanes
	var off Op
	if s.draws {
		philox = s.newPhilox(0)
		v := s.vector()
		VBROADCASTSS(parameter("off"), v)
		off = v
	}
	var sums []reg.VecVirtual // of float64: the sixteen partial sums
	if s.scores {
		for range 2 * 16 / s.lanes {
			sums = append(sums, s.zero())
		}
	}
	c := s.newConstants()

	k := vectorsKernel{s, c, philox, off, sums, states, logits, units}
	Label("units")
	if s.lanes == 16 {
		CMPQ(units, Imm(uint64(s.lanes)))
		JLE(LabelRef("last"))
		k.vectors("two", 0)
		JMP(LabelRef("units"))
		Label("last")
		k.width = 1
	}
	CMPQ(units, Imm(0))
	JLE(LabelRef("done"))
	for half := range 16 / s.lanes {
		k.vectors(fmt.Sprint("one", half), half)
	}
	if s.lanes == 8 {
		JMP(LabelRef("units"))
	}
	Label("done")
	if s.scores {
		Store(total(sums), ReturnIndex(0))
	}
	VZEROUPPER()
	RET()
}

// vectorsKernel is a kernel whose arguments are in registers.
type vectorsKernel struct {
	unitsKernel
	constants             constants
	philox                philoxLanes
	off                   Op
	sums                  []reg.VecVirtual
	states, logits, units reg.Register
}

// vectors computes k.width vectors and advances. With AVX2, their log-probabilities go to the
// partial sums of the given half.
func (k vectorsKernel) vectors(label string, half int) {
	c := k.constants
	masks := make([]mask, k.width)
	for i := range masks {
		masks[i] = k.atMostLanes(k.units)
		SUBQ(Imm(uint64(k.lanes)), k.units)
	}
	at := func(base reg.Register, i int) Mem { return Mem{Base: base, Disp: i * k.bytes()} }
	load := func(base reg.Register) wide {
		w := k.wide()
		k.each(func(i int) { k.load(at(base, i), masks[i], w[i].(reg.VecVirtual)) })
		return w
	}
	store := func(w wide, base reg.Register, name string) {
		k.each(func(i int) {
			k.storeFast(w[i].(reg.VecVirtual), masks[i], at(base, i), fmt.Sprintf("%s_%s_%d", label, name, i))
		})
	}

	a, t, onePlus := load(k.logits), k.wide(), k.wide()
	k.do(and, table(0x7fffffff), a, t)
	e := k.expNegative(c, t)
	if k.draws || k.residuals {
		k.do(add, c.one, e, onePlus)
	}
	var on wide // lanes
	if k.draws {
		on = k.draw(c, k.philox, a, e, onePlus)
		store(k.choose(on, c.one, k.off), k.states, "states")
	} else {
		on = k.compare(lessThan, k.zero(), load(k.states))
	}
	if k.scores {
		flip, z := k.choose(on, k.zero(), c.sign), k.wide() // z: the logit of the unit's state
		k.do(xor, flip, a, z)
		if k.residuals {
			store(k.residual(c, z, e, onePlus, flip), k.logits, "logits")
		}
		for i, l := range k.logProbability(z, e) {
			k.accumulate(l.(reg.VecVirtual), masks[i], k.sums[2*half:])
		}
	}
	ADDQ(Imm(uint64(k.width*k.bytes())), k.logits)
	ADDQ(Imm(uint64(k.width*k.bytes())), k.states)
}

// total adds the second half of the partial sums to the first, until one is left.
func total(sums []reg.VecVirtual) reg.Register {
	for n := len(sums) / 2; n > 0; n /= 2 {
		for i := range n {
			VADDPD(sums[n+i], sums[i], sums[i])
		}
	}
	sum, half := sums[0], YMM()
	if sum.Size() == 64 {
		VEXTRACTF64X4(Imm(1), sum, half)
		VADDPD(half, sum.AsY(), sum.AsY())
	}
	VEXTRACTF128(Imm(1), sum.AsY(), half.AsX())
	VADDPD(half.AsX(), sum.AsX(), sum.AsX())
	VUNPCKHPD(sum.AsX(), sum.AsX(), half.AsX())
	VADDSD(half.AsX(), sum.AsX(), sum.AsX())
	return sum.AsX()
}

// constants holds the constants, in registers if there are enough.
type constants struct{ one, sign, limit, exponent Op }

func (s unitsKernel) newConstants() constants {
	return constants{
		one:      s.constant(number(1)),
		sign:     s.constant(0x80000000),
		limit:    s.constant(number(87.3)),
		exponent: s.constant(127),
	}
}

func number(x float64) uint32 { return math.Float32bits(float32(x)) }

// draw returns the units that are on: those whose uniform draw is below σ(a).
func (s unitsKernel) draw(c constants, p philoxLanes, a, e, onePlus wide) wide {
	sigma, u := s.sigmoid(c, a, e, onePlus), s.words(p)
	s.each(func(i int) {
		VPSRLD(Imm(9), u[i], u[i])
		VCVTDQ2PS(u[i], u[i])
	})
	s.do(multiply, table(number(0x1p-23)), u, u)
	s.do(add, table(number(0x1p-24)), u, u)
	return s.compare(lessThan, u, sigma)
}

func (s unitsKernel) sigmoid(c constants, a, e, onePlus wide) wide {
	sigma := s.choose(s.compare(lessOrEqual, s.zero(), a), c.one, e)
	s.do(divide, onePlus, sigma, sigma)
	return sigma
}

// residual returns σ(−z) with the signs of flip.
func (s unitsKernel) residual(c constants, z, e, onePlus, flip wide) wide {
	share, rest := s.wide(), s.wide()
	s.do(divide, onePlus, e, share)
	s.each(func(i int) { VMOVUPS(c.one, rest[i]) })
	s.do(subtract, share, rest, rest)
	r := s.choose(s.compare(lessThan, z, s.zero()), rest, share)
	s.do(xor, flip, r, r)
	return r
}

// logProbability returns log σ(z) = min(z, 0) − log(1+e).
func (s unitsKernel) logProbability(z, e wide) wide {
	r, square := s.wide(), s.wide()
	s.do(add, table(number(2)), e, r)
	s.do(divide, r, e, r)
	s.do(maximum, table(number(0x1p-15)), r, square) // smaller squares change nothing, and denormal ones are slow
	s.do(multiply, square, square, square)
	p := s.logSeries(square)
	s.do(add, r, r, r)
	s.do(multiply, p, r, r)
	l := s.wide()
	s.do(minimum, z, s.zero(), l) // z where it is NaN
	s.do(subtract, r, l, l)
	return l
}

// accumulate adds the lanes of x to two vectors of float64.
func (s unitsKernel) accumulate(x reg.VecVirtual, lanes mask, sums []reg.VecVirtual) {
	low, high := s.vector(), s.vector()
	if s.lanes == 16 {
		VMOVAPS_Z(x, lanes.register, x)
		VCVTPS2PD(x.AsY(), low)
		VEXTRACTF32X8(Imm(1), x, x.AsY())
		VCVTPS2PD(x.AsY(), high)
	} else {
		VANDPS(lanes.words(), x, x)
		VCVTPS2PD(x.AsX(), low)
		VEXTRACTF128(Imm(1), x, x.AsX())
		VCVTPS2PD(x.AsX(), high)
	}
	VADDPD(low, sums[0], sums[0])
	VADDPD(high, sums[1], sums[1])
}

// expNegative returns e⁻ᵗ = 2⁻ⁿ eʳ with |r| ≤ ln 2/2; see the portable code.
func (s unitsKernel) expNegative(c constants, t wide) wide {
	n, f, r := s.wide(), s.wide(), s.wide()
	s.do(multiply, table(number(1.4426950408889634)), t, n)
	s.do(add, table(number(0.5)), n, n)
	s.each(func(i int) {
		VCVTTPS2DQ(n[i], n[i])
		VCVTDQ2PS(n[i], f[i])
	})
	s.do(multiply, table(number(0.693359375)), f, r)
	s.do(subtract, t, r, r)
	s.do(multiply, table(number(-2.12194440054690583e-4)), f, f)
	s.do(add, f, r, r)
	p := s.expSeries(c, r)
	power, limit := s.wide(), s.wide()
	s.each(func(i int) {
		VMOVUPS(c.exponent, power[i])
		VPSUBD(n[i], power[i], power[i])
		VPSLLD(Imm(23), power[i], power[i])
		VMOVUPS(c.limit, limit[i])
	})
	s.do(multiply, power, p, p)
	return s.choose(s.compare(lessThan, limit, t), s.zero(), p)
}

// expSeries and logSeries are the polynomials of the portable code, with the same roundings.
func (s unitsKernel) expSeries(c constants, r wide) wide {
	square, top := s.wide(), s.wide()
	s.do(multiply, r, r, square)
	s.do(multiply, table(number(1.0/720)), square, top)
	middle, p := s.linear(1.0/120, 1.0/24, r), s.linear(1.0/6, 0.5, r)
	s.do(add, top, middle, middle)
	s.addProduct(square, middle, p)
	for range 2 {
		s.do(multiply, r, p, p)
		s.do(add, c.one, p, p)
	}
	return p
}

func (s unitsKernel) logSeries(x wide) wide {
	square := s.wide()
	s.do(multiply, x, x, square)
	high := s.linear(1.0/11, 1.0/9, x)
	s.addProduct(square, s.linear(1.0/15, 1.0/13, x), high)
	low := s.linear(1.0/3, 1, x)
	s.addProduct(square, s.linear(1.0/7, 1.0/5, x), low)
	s.do(multiply, square, square, square)
	s.addProduct(square, high, low)
	return low
}

// linear returns a·x + b.
func (s unitsKernel) linear(a, b float64, x wide) wide {
	p := s.wide()
	s.do(multiply, table(number(a)), x, p)
	s.do(add, table(number(b)), p, p)
	return p
}

// addProduct adds a·b, rounded, to sum. It overwrites b.
func (s unitsKernel) addProduct(a, b, sum wide) {
	s.do(multiply, a, b, b)
	s.do(add, b, sum, sum)
}

// philoxLanes is the state of vectors of Philox counters. A 128-bit lane holds the four words of
// one counter. Each round multiplies the even words by the two multipliers. The words of the two
// products in reverse order, combined by exclusive or with the odd words and the key, are the words
// of the next round.
type philoxLanes struct {
	counters                          wide
	step, key, increment, multipliers Op
}

// newPhilox returns counters that differ in the given word, and count blocks there.
func (s unitsKernel) newPhilox(word int) (p philoxLanes) {
	key, counter := s.vector(), argument("counter")
	VMOVQ(parameter("key"), key.AsX())
	VPMOVZXDQ(key.AsX(), key.AsX())
	if s.lanes == 16 {
		VSHUFI32X4(Imm(0), key, key, key)
	} else {
		VINSERTI128(Imm(1), key.AsX(), key, key)
	}
	p.key = key
	words := s.vector() // loaded one by one, since a load of all would wait until the caller has written them to the cache
	VMOVD(Mem{Base: counter}, words.AsX())
	for i := 1; i < 4; i++ {
		VPINSRD(Imm(uint64(i)), Mem{Base: counter, Disp: 4 * i}, words.AsX(), words.AsX())
	}
	if s.lanes == 16 {
		VSHUFI32X4(Imm(0), words, words, words)
	} else {
		VINSERTI128(Imm(1), words.AsX(), words, words)
	}
	p.counters = s.wide()
	s.each(func(i int) {
		first := make([]uint32, s.lanes)
		for j := 0; j < s.lanes; j += 4 {
			first[j+word] = uint32(i*s.lanes+j) / 4
		}
		VPADDD(s.constant(first...), words, p.counters[i])
	})
	step := make([]uint32, 4)
	step[word] = uint32(s.width * s.lanes / 4)
	p.step = s.constant(step...)
	p.increment = s.constant(0x9E3779B9, 0, 0xBB67AE85, 0)
	p.multipliers = s.constant(0xD2511F53, 0, 0xCD9E8D57, 0)
	return p
}

// words returns the words of the counters and advances the counters.
func (s unitsKernel) words(p philoxLanes) wide {
	state, key := s.wide(), s.vector()
	s.each(func(i int) {
		VMOVUPS(p.counters[i], state[i])
		VPADDD(p.step, p.counters[i], p.counters[i])
	})
	VMOVUPS(p.key, key)
	for round := range 10 {
		s.each(func(i int) {
			products := s.vector()
			VPMULUDQ(p.multipliers, state[i], products)
			VPSRLQ(Imm(32), state[i], state[i])
			VPSHUFD(Imm(0b00_01_10_11), products, products)
			if s.lanes == 16 {
				VPTERNLOGD(U8(0x96), key, products, state[i])
			} else {
				VPXOR(products, state[i], state[i])
				VPXOR(key, state[i], state[i])
			}
		})
		if round < 9 {
			VPADDD(p.increment, key, key)
		}
	}
	return state
}

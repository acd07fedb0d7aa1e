package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponentials writes the kernels in double precision. Exponentials and logarithms repeat package math of Go operation by
// operation, so that they give its bits on an amd64 processor that has fused multiply-add.
func exponentials(s instructionSet) {
	addSingles(s)
	atMostOne(s)
	dots(s)
	s.doubles("exp", s.exp)
	s.doubles("softplus", func(x reg.VecVirtual) {
		e := s.vector()
		s.with(orDoubles, math.Copysign(0, -1), x, e) // −|x|
		s.exp(e)
		s.log1p(e)
		VMAXPD(x, s.zero(), x) // x where it is NaN
		VADDPD(e, x, x)
	})
	s.doubles("log1p", s.log1p)
	s.doubles("tanh", s.tanh)
	s.doubles("logistic", func(x reg.VecVirtual) {
		s.with(xorDoubles, math.Copysign(0, -1), x, x)
		s.exp(x)
		s.with(addDoubles, 1, x, x)
		VDIVPD(x, s.copies(1), x)
	})
}

// doubles writes a kernel that replaces the numbers of whole vectors.
func (s instructionSet) doubles(name string, replace func(x reg.VecVirtual)) {
	s.kernel(name, "(x *float64, vectors int)")
	at, vectors := argument("x"), argument("vectors")
	Label("vector")
	x := s.vector()
	VMOVUPD(Mem{Base: at}, x)
	replace(x)
	VMOVUPD(x, Mem{Base: at})
	ADDQ(Imm(uint64(s.bytes())), at)
	DECQ(vectors)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// copies returns a register with copies of x.
func (s instructionSet) copies(x float64) reg.VecVirtual {
	v := s.vector()
	VBROADCASTSD(double(x), v)
	return v
}

func double(x float64) Mem {
	b := math.Float64bits(x)
	return table(uint32(b), uint32(b>>32))
}

var (
	addDoubles      = operation{VADDPD, VADDPD_BCST}
	subtractDoubles = operation{VSUBPD, VSUBPD_BCST}
	multiplyDoubles = operation{VMULPD, VMULPD_BCST}
	orDoubles       = operation{VORPD, VORPD_BCST}
	xorDoubles      = operation{VXORPD, VXORPD_BCST}
	multiplyAdd     = operation{VFMADD213PD, VFMADD213PD_BCST}
	subtractProduct = operation{VFNMADD231PD, VFNMADD231PD_BCST}
)

// with emits an operation whose first operand is copies of c.
func (s instructionSet) with(o operation, c float64, x, to Op) {
	if s.lanes == 16 {
		o.broadcast(double(c), x, to)
	} else {
		o.plain(double(c), x, to)
	}
}

// where sets x to value in the lanes in which the relation of a to b holds; see compare.
func (s instructionSet) where(relation uint8, a reg.VecVirtual, b, value Op, x reg.VecVirtual) {
	if s.lanes == 16 {
		k := K()
		VCMPPD(U8(relation), b, a, k)
		VMOVAPD(value, k, x)
		return
	}
	lanes := s.vector()
	VCMPPD(U8(relation), b, a, lanes)
	VBLENDVPD(lanes, value, x, x)
}

const (
	equal          = 0x00
	greaterThan    = 0x1e
	greaterOrEqual = 0x1d
)

const (
	nearest = iota
	down
	up
)

// round rounds x to integers in a direction.
func (s instructionSet) round(direction uint64, x reg.VecVirtual) {
	if s.lanes == 16 {
		VRNDSCALEPD(Imm(direction), x, x)
	} else {
		VROUNDPD(Imm(direction), x, x)
	}
}

// exp replaces x by eˣ = 2ⁿ·(eʳ)¹⁶.
func (s instructionSet) exp(x reg.VecVirtual) {
	n, p := s.vector(), s.copies(2.4801587301587301587e-5)
	VMAXPD(x, s.copies(-1000), x) // whose exponential is 0, or x where it is NaN
	s.with(multiplyDoubles, math.Log2E, x, n)
	s.round(nearest, n)
	s.with(subtractProduct, 0.69314718055966295651160180568695068359375, n, x)
	s.with(subtractProduct, 0.28235290563031577122588448175013436025525412068e-12, n, x)
	s.with(multiplyDoubles, 1.0/16, x, x)
	for _, c := range []float64{1.984126984126984127e-4, 1.3888888888888888889e-3, 8.3333333333333333333e-3, 4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1} {
		s.with(multiplyAdd, c, x, p)
	}
	VMULPD(p, x, x)
	for range 3 { // from eʳ − 1 to e²ʳ − 1
		s.with(addDoubles, 2, x, p)
		VMULPD(p, x, x)
	}
	s.with(addDoubles, 2, x, p)
	s.with(multiplyAdd, 1, p, x)
	if s.lanes == 16 {
		VSCALEFPD(n, x, x)
	} else { // by two factors, since 2ⁿ may be too small
		exponents, half := XMM(), XMM()
		VCVTPD2DQY(n, exponents)
		VPSRAD(Imm(1), exponents, half)
		VPSUBD(half, exponents, exponents)
		for _, e := range []reg.VecVirtual{half, exponents} {
			power := s.vector()
			VPMOVSXDQ(e, power)
			VPADDQ(table(1023, 0), power, power)
			VPSLLQ(Imm(52), power, power)
			VMULPD(power, x, x)
		}
	}
	s.where(greaterThan, n, s.copies(1023), s.copies(math.Inf(1)), x)
}

// tanh replaces x by 1 − 2/(e²ˣ + 1), and near 0 by x + x³ times a fraction of polynomials of x².
func (s instructionSet) tanh(x reg.VecVirtual) {
	magnitude, far := s.vector(), s.vector()
	VANDPD(table(0xffffffff, 0x7fffffff), x, magnitude)
	VADDPD(magnitude, magnitude, far)
	s.exp(far)
	s.with(addDoubles, 1, far, far)
	VDIVPD(far, s.copies(2), far)
	VSUBPD(far, s.copies(1), far)
	sign := s.vector()
	VANDPD(table(0, 1<<31), x, sign)
	VORPD(sign, far, far)

	square, numerator, denominator := s.vector(), s.copies(-9.64399179425052238628e-1), s.vector()
	VMULPD(x, x, square)
	for _, c := range []float64{-9.92877231001918586564e1, -1.61468768441708447952e3} {
		VMULPD(square, numerator, numerator)
		s.with(addDoubles, c, numerator, numerator)
	}
	s.with(addDoubles, 1.12811678491632931402e2, square, denominator)
	for _, c := range []float64{2.23548839060100448583e3, 4.84406305325125486048e3} {
		VMULPD(square, denominator, denominator)
		s.with(addDoubles, c, denominator, denominator)
	}
	near := s.vector()
	VMULPD(square, x, near)
	VMULPD(numerator, near, near)
	VDIVPD(denominator, near, near)
	VADDPD(near, x, near)
	s.where(equal, x, s.zero(), x, near)
	s.where(greaterOrEqual, magnitude, s.copies(0.625), far, near)
	VMOVAPD(near, x)
}

// log1p replaces x by log(1+x), for 0 ≤ x < 2⁵³. With u = 1+x = 2ᵏ(1+f), it is k·ln 2 + log(1+f) + c, where c corrects the
// rounding of u. It takes k = 0 and f = x if x is small, and leaves c out if k = 0.
func (s instructionSet) log1p(x reg.VecVirtual) {
	one := s.copies(1)
	u, f, k, c, correction := s.vector(), s.vector(), s.vector(), s.vector(), s.vector()
	VADDPD(x, one, u)
	VSUBPD(one, u, correction)
	VSUBPD(correction, x, correction) // x − (u − 1)
	VSUBPD(x, u, c)
	VSUBPD(c, one, c) // 1 − (u − x)
	s.where(lessThan, u, s.copies(2), correction, c)
	VDIVPD(u, c, c)
	VPSRLQ(Imm(52), u, k)
	s.with(orDoubles, 1<<52, k, k)
	s.with(subtractDoubles, 1<<52+1023, k, k)
	VANDPD(table(0xffffffff, 0xfffff), u, f)
	VORPD(one, f, f)
	half, next := s.vector(), s.vector()
	s.with(multiplyDoubles, 0.5, f, half)
	VADDPD(one, k, next)
	root := s.copies(math.Float64frombits(0x3ff6a09e667f3bcd))
	s.where(greaterOrEqual, f, root, next, k)
	s.where(greaterOrEqual, f, root, half, f)
	VSUBPD(one, f, f)
	small := s.copies(4.142135623730950488017e-01)
	s.where(lessThan, x, small, x, f)
	s.where(lessThan, x, small, s.zero(), k)
	s.where(equal, k, s.zero(), s.zero(), c)

	square, series, fraction, z := s.vector(), s.copies(1.479819860511658591e-01), s.vector(), s.vector()
	s.with(multiplyDoubles, 0.5, f, square)
	VMULPD(f, square, square) // f²/2
	s.with(addDoubles, 2, f, fraction)
	VDIVPD(fraction, f, fraction)
	VMULPD(fraction, fraction, z)
	for _, coefficient := range []float64{1.531383769920937332e-01, 1.818357216161805012e-01, 2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01, 6.666666666666735130e-01} {
		VMULPD(z, series, series)
		s.with(addDoubles, coefficient, series, series)
	}
	VMULPD(z, series, series)
	VADDPD(series, square, series)
	VMULPD(fraction, series, series)

	low := s.vector() // of k·ln 2
	s.with(multiplyDoubles, 1.90821492927058770002e-10, k, low)
	VADDPD(c, low, low)
	VADDPD(low, series, series)
	VSUBPD(series, square, series)
	VSUBPD(f, series, series)
	s.with(multiplyDoubles, 6.93147180369123816490e-01, k, k)
	VSUBPD(series, k, k)

	tiny := s.vector()
	VMULPD(x, x, tiny)
	s.with(multiplyDoubles, 0.5, tiny, tiny)
	VSUBPD(tiny, x, tiny)
	s.where(lessThan, x, s.copies(0x1p-29), tiny, k)
	VMOVAPD(k, x)
}

// atMostOne writes the kernel of units of which at most one in a group is on. The units of a group have the same column
// in several rows.
func atMostOne(s instructionSet) {
	s.kernel("atMostOne", "(inputs, biases *float32, rows *int, count, columns, stride int)")
	at, biases, columns, stride := argument("inputs"), argument("biases"), argument("columns"), argument("stride")
	Label("vector")
	lanes := s.atMostLanes(columns)
	most, bias, total, one, x := s.zero(), s.vector(), s.vector(), s.vector(), s.vector()
	VMOVUPS(table(number(1)), one)
	s.load(Mem{Base: biases}, lanes, bias)
	each := func(label string, do func(unit Mem)) {
		rows, count, offset := argument("rows"), argument("count"), GP64()
		Label(label)
		MOVQ(Mem{Base: rows}, offset)
		IMULQ(stride, offset)
		do(Mem{Base: at, Index: offset, Scale: 1})
		ADDQ(Imm(8), rows)
		DECQ(count)
		JNZ(LabelRef(label))
	}
	each("most", func(unit Mem) {
		s.load(unit, lanes, x)
		VADDPS(bias, x, x)
		VMAXPS(most, x, most) // most where x is NaN
	})
	s.exponentialsFrom(most, s.zero(), one, total)
	each("exponentials", func(unit Mem) {
		e := s.vector()
		s.load(unit, lanes, x)
		VADDPS(bias, x, x)
		s.exponentialsFrom(most, x, one, e)
		s.storeFast(e, lanes, unit, "exponential")
		VADDPS(e, total, total)
	})
	each("probabilities", func(unit Mem) {
		s.load(unit, lanes, x)
		VDIVPS(total, x, x)
		s.storeFast(x, lanes, unit, "probability")
	})
	ADDQ(Imm(uint64(s.bytes())), at)
	ADDQ(Imm(uint64(s.bytes())), biases)
	SUBQ(Imm(uint64(s.lanes)), columns)
	JG(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// exponentialsFrom sets to = e^(x−from), rounded from double precision, and to 1 where x = from, also if both are infinite.
func (s instructionSet) exponentialsFrom(from, x, one, to reg.VecVirtual) {
	same, low, high := s.vector(), s.vector(), s.vector()
	VSUBPS(from, x, to)
	if s.lanes == 16 {
		half, k := YMM(), K()
		VCVTPS2PD(to.AsY(), low)
		VEXTRACTF32X8(Imm(1), to, half)
		VCVTPS2PD(half, high)
		s.exp(low)
		s.exp(high)
		VCVTPD2PS(low, to.AsY())
		VCVTPD2PS(high, half)
		VINSERTF32X8(Imm(1), half, to, to)
		VCMPPS(U8(equal), from, x, k)
		VMOVAPS(one, k, to)
		return
	}
	half := XMM()
	VCVTPS2PD(to.AsX(), low)
	VEXTRACTF128(Imm(1), to, half)
	VCVTPS2PD(half, high)
	s.exp(low)
	s.exp(high)
	VCVTPD2PSY(low, to.AsX())
	VCVTPD2PSY(high, half)
	VINSERTF128(Imm(1), half, to, to)
	VCMPPS(U8(equal), from, x, same)
	VBLENDVPS(same, one, to, to)
}

// dots writes the kernel of the products of rows, four at a time, with a vector. Each is summed as gonum does, in four
// sums, the first of which also takes what is left of the columns.
func dots(s instructionSet) {
	s.kernel("dots", "(to, rows, x *float64, fours, columns int)")
	to, row, fours, stride, stride3 := argument("to"), argument("rows"), argument("fours"), argument("columns"), GP64()
	SHLQ(Imm(3), stride)
	LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, stride3)
	Label("rows")
	x, columns, at := argument("x"), argument("columns"), GP64()
	MOVQ(row, at)
	rows := []Mem{{Base: at}, {Base: at, Index: stride, Scale: 1}, {Base: at, Index: stride, Scale: 2}, {Base: at, Index: stride3, Scale: 1}}
	v, product := YMM(), YMM()
	var sums, lows, highs []Op
	for range rows {
		sum := YMM()
		VXORPD(sum, sum, sum)
		sums, lows, highs = append(sums, sum), append(lows, sum.AsX()), append(highs, XMM())
	}
	term := func(n uint64, load func(...Op), multiply, add func(...Op), v, product Op, sums []Op) {
		load(Mem{Base: x}, v)
		for i, sum := range sums {
			multiply(rows[i], v, product)
			add(product, sum, sum)
		}
		ADDQ(Imm(8*n), at)
		ADDQ(Imm(8*n), x)
		SUBQ(Imm(n), columns)
	}
	JMP(LabelRef("columns"))
	Label("four")
	term(4, VMOVUPD, VMULPD, VADDPD, v, product, sums)
	Label("columns")
	CMPQ(columns, Imm(4))
	JGE(LabelRef("four"))
	for i, sum := range sums {
		VEXTRACTF128(Imm(1), sum, highs[i])
	}
	JMP(LabelRef("rest"))
	Label("one")
	term(1, VMOVSD, VMULSD, VADDSD, v.AsX(), product.AsX(), lows)
	Label("rest")
	TESTQ(columns, columns)
	JG(LabelRef("one"))
	for i, sum := range lows {
		VADDPD(highs[i], sum, sum)
		VUNPCKHPD(sum, sum, highs[i])
		VADDSD(highs[i], sum, sum)
		VMOVSD(sum, Mem{Base: to, Disp: 8 * i})
	}
	ADDQ(Imm(32), to)
	LEAQ(Mem{Base: row, Index: stride, Scale: 4}, row)
	DECQ(fours)
	JNZ(LabelRef("rows"))
	VZEROUPPER()
	RET()
}

// addSingles writes the kernel that adds vectors in single precision to vectors in double precision.
func addSingles(s instructionSet) {
	s.kernel("addSingles", "(to *float64, from *float32, vectors int)")
	to, from, vectors, x := argument("to"), argument("from"), argument("vectors"), s.vector()
	Label("vector")
	VCVTPS2PD(Mem{Base: from}, x)
	VADDPD(Mem{Base: to}, x, x)
	VMOVUPD(x, Mem{Base: to})
	ADDQ(Imm(uint64(s.bytes()/2)), from)
	ADDQ(Imm(uint64(s.bytes())), to)
	DECQ(vectors)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// gaussian writes the kernels of standard normal draws. Logarithms, sines and cosines repeat package math of Go operation
// by operation, so that they give its bits.
func gaussian(s instructionSet) {
	unitsKernel{wideSet: wideSet{s, 2}}.randomWords("blocks", 0)
	s.kernel("normals", "(to *float64, words *uint32, vectors int)")
	to, words, vectors := argument("to"), argument("words"), argument("vectors")
	Label("vector")
	radius, angle := s.vector(), s.vector() // of pairs of words
	VMOVUPS(Mem{Base: words}, angle)
	VPSLLQ(Imm(32), angle, radius)
	s.uniform(radius)
	s.uniform(angle)
	s.log(radius)
	s.with(multiplyDoubles, -2, radius, radius)
	VSQRTPD(radius, radius)
	s.with(multiplyDoubles, 2*math.Pi, angle, angle)
	sin, cos := s.sinCos(angle)
	VMULPD(radius, sin, sin)
	VMULPD(radius, cos, cos)
	even, odd := s.vector(), s.vector()
	VUNPCKLPD(sin, cos, even)
	VUNPCKHPD(sin, cos, odd)
	for i := range s.lanes / 4 {
		for j, pairs := range []reg.VecVirtual{even, odd} {
			at := Mem{Base: to, Disp: 32*i + 16*j}
			if s.lanes == 16 {
				VEXTRACTF64X2(Imm(uint64(i)), pairs, at)
			} else {
				VEXTRACTF128(Imm(uint64(i)), pairs, at)
			}
		}
	}
	ADDQ(Imm(uint64(s.bytes())), words)
	ADDQ(Imm(uint64(2*s.bytes())), to)
	DECQ(vectors)
	JNZ(LabelRef("vector"))
	VZEROUPPER()
	RET()
}

// uniform replaces the high halves of the lanes, which are random words, by the draws of philox.Uniform.
func (s instructionSet) uniform(x reg.VecVirtual) {
	VPSRLQ(Imm(32+9), x, x)
	s.with(orDoubles, 1<<52, x, x)
	s.with(subtractDoubles, 1<<52, x, x)
	s.with(addDoubles, 0.5, x, x)
	s.with(multiplyDoubles, 0x1p-23, x, x)
}

// log replaces x by log x, for positive normal numbers x = 2ᵏ(1+f). It is k·ln 2 + log(1+f).
func (s instructionSet) log(x reg.VecVirtual) {
	k, next, f, twice := s.vector(), s.vector(), s.vector(), s.vector()
	VPSRLQ(Imm(52), x, k)
	s.with(orDoubles, 1<<52, k, k)
	s.with(subtractDoubles, 1<<52+1022, k, k)
	VANDPD(table(0xffffffff, 0xfffff), x, f)
	s.with(orDoubles, 0.5, f, f)
	root := s.copies(math.Sqrt2 / 2)
	s.with(subtractDoubles, 1, k, next)
	VADDPD(f, f, twice)
	s.where(greaterOrEqual, root, f, next, k)
	s.where(greaterOrEqual, root, f, twice, f)
	s.with(subtractDoubles, 1, f, f)

	fraction, square, fourth := s.vector(), s.vector(), s.vector()
	s.with(addDoubles, 2, f, fraction)
	VDIVPD(fraction, f, fraction)
	VMULPD(fraction, fraction, square)
	VMULPD(square, square, fourth)
	series := func(times reg.VecVirtual, coefficients ...float64) reg.VecVirtual {
		p := s.copies(coefficients[0])
		for _, c := range coefficients[1:] {
			VMULPD(fourth, p, p)
			s.with(addDoubles, c, p, p)
		}
		VMULPD(times, p, p)
		return p
	}
	sum := series(square, 1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01)
	VADDPD(series(fourth, 1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01), sum, sum)
	half, low := s.vector(), s.vector()
	s.with(multiplyDoubles, 0.5, f, half)
	VMULPD(f, half, half) // f²/2
	VADDPD(half, sum, sum)
	VMULPD(fraction, sum, sum)
	s.with(multiplyDoubles, 1.90821492927058770002e-10, k, low)
	VADDPD(low, sum, sum)
	VSUBPD(sum, half, half)
	VSUBPD(f, half, half)
	s.with(multiplyDoubles, 6.93147180369123816490e-01, k, k)
	VSUBPD(half, k, x)
}

// sinCos returns the sine and the cosine of 0 < x < 8π/4. It takes off the nearest even multiple of π/4, 2q·π/4 with q from
// 0 to 4, in three parts.
func (s instructionSet) sinCos(x reg.VecVirtual) (sin, cos reg.VecVirtual) {
	q, y, quarters := s.vector(), s.vector(), s.vector()
	s.with(multiplyDoubles, 4/math.Pi, x, q)
	s.round(down, q)
	s.with(multiplyDoubles, 0.5, q, q)
	s.round(up, q)
	VADDPD(q, q, y)
	for _, part := range []float64{7.85398125648498535156e-1, 3.77489470793079817668e-8, 2.69515142907905952645e-15} {
		product := s.vector()
		s.with(multiplyDoubles, part, y, product)
		VSUBPD(product, x, x)
	}

	square, half, fourth := s.vector(), s.vector(), s.vector()
	VMULPD(x, x, square)
	VMULPD(square, square, fourth)
	s.with(multiplyDoubles, 0.5, square, half)
	series := func(coefficients ...float64) reg.VecVirtual {
		p := s.copies(coefficients[0])
		for _, c := range coefficients[1:] {
			VMULPD(square, p, p)
			s.with(addDoubles, c, p, p)
		}
		return p
	}
	cosine := series(-1.13585365213876817300e-11, 2.08757008419747316778e-9, -2.75573141792967388112e-7, 2.48015872888517045348e-5, -1.38888888888730564116e-3, 4.16666666666665929218e-2)
	VMULPD(fourth, cosine, cosine)
	VSUBPD(half, s.copies(1), half)
	VADDPD(half, cosine, cosine)
	sine := series(1.58962301576546568060e-10, -2.50507477628578072866e-8, 2.75573136213857245213e-6, -1.98412698295895385996e-4, 8.33333333332211858878e-3, -1.66666666666666307295e-1)
	VMULPD(x, square, square)
	VMULPD(square, sine, sine)
	VADDPD(x, sine, sine)

	// They change places where q is odd. The sine is negative for q = 2 and 3, the cosine for 1 and 2.
	sin, cos = s.vector(), s.vector()
	VMOVAPD(sine, sin)
	VMOVAPD(cosine, cos)
	s.with(multiplyDoubles, 0.5, q, y)
	s.round(down, y)
	VADDPD(y, y, y)
	s.where(greaterThan, q, y, cosine, sin)
	s.where(greaterThan, q, y, sine, cos)
	negate := func(of reg.VecVirtual, next float64) {
		s.with(addDoubles, 1<<52+next, q, quarters)
		VPSLLQ(Imm(62), quarters, quarters)
		VANDPD(table(0, 1<<31), quarters, quarters)
		VXORPD(quarters, of, of)
	}
	negate(sin, 0)
	negate(cos, 1)
	return sin, cos
}

package statistics

import (
	"math"
	"runtime"
)

// Exp returns eˣ with the bits of math.Exp on an amd64 processor that has FMA, so that training in
// fixed point gives the same bytes on every processor.
func Exp(x float64) float64 {
	if runtime.GOARCH == "amd64" {
		return math.Exp(x)
	}
	return exp(x)
}

// exp computes eˣ = 2ⁿ·(eʳ)¹⁶ from the Taylor series of eʳ − 1, as package math does on amd64: with
// fused operations where it fuses, and explicit roundings elsewhere.
func exp(x float64) float64 {
	switch {
	case x != x, x > 800:
		return x + math.Inf(1)
	case x < -800:
		return 0
	}
	n := math.RoundToEven(x * math.Log2E)
	if n > 1023 {
		return math.Inf(1)
	}
	r := math.FMA(-n, 0.69314718055966295651160180568695068359375, x)
	r = math.FMA(-n, 0.28235290563031577122588448175013436025525412068e-12, r) / 16
	p := 2.4801587301587301587e-5
	for _, c := range [...]float64{1.984126984126984127e-4, 1.3888888888888888889e-3, 8.3333333333333333333e-3, 4.1666666666666666667e-2, 1.6666666666666666667e-1, 0.5, 1} {
		p = math.FMA(p, r, c)
	}
	r *= p
	for range 3 { // from eʳ − 1 to e²ʳ − 1
		r = float64(r * float64(r+2))
	}
	return math.Ldexp(math.FMA(r, float64(r+2), 1), int(n))
}

// Log returns ln x for x > 0 with the bits of math.Log on amd64.
func Log(x float64) float64 {
	if runtime.GOARCH == "amd64" {
		return math.Log(x)
	}
	return log(x)
}

// log computes ln x = k·ln 2 + ln(1+f) as package math does on amd64, with explicit roundings.
func log(x float64) float64 {
	if !(x >= 0x1p-1022 && x <= math.MaxFloat64) {
		return math.Log(x)
	}
	f, exponent := math.Frexp(x)
	k := float64(exponent)
	if f <= math.Sqrt2/2 {
		f, k = 2*f, k-1
	}
	f--
	s := f / (2 + f)
	square := float64(s * s)
	fourth := float64(square * square)
	series := func(coefficients ...float64) (sum float64) {
		for _, c := range coefficients {
			sum = float64(sum*fourth) + c
		}
		return sum
	}
	odd := float64(square * series(1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01, 6.666666666666735130e-01))
	even := float64(fourth * series(1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01))
	half := float64(float64(0.5*f) * f)
	low := float64(s*float64(half+float64(odd+even))) + float64(k*1.90821492927058770002e-10)
	return float64(k*6.93147180369123816490e-01) - (half - low - f)
}

package dataset

import (
	"math"
	"math/bits"
)

// tens holds the powers of ten that fit into 64 bits.
var tens = func() (all [20]uint64) {
	for i, ten := 0, uint64(1); i < len(all); i, ten = i+1, 10*ten {
		all[i] = ten
	}
	return all
}()

// plainNumber parses up to 19 digits, perhaps with a sign and a point, several times faster than strconv.ParseFloat, but
// with the same result, and returns the number of digits behind the point. It reports false for other text.
func plainNumber(text string) (v float64, decimals int, is bool) {
	unsigned := text
	if text != "" && (text[0] == '-' || text[0] == '+') {
		unsigned = text[1:]
	}
	digits, rest := withDigits(0, unsigned)
	whole := len(unsigned) - len(rest)
	if rest != "" && rest[0] == '.' {
		fraction := rest[1:]
		digits, rest = withDigits(digits, fraction)
		decimals = len(fraction) - len(rest)
	}
	if n := whole + decimals; rest != "" || n == 0 || n > 19 {
		return 0, 0, false
	}
	if v = float64(digits); decimals > 0 && digits < 1<<53 {
		v /= float64(tens[decimals]) // exact up to 22 decimals, so that the quotient is rounded once
	} else if decimals > 0 {
		v = quotient(digits, tens[decimals])
	}
	if text[0] == '-' {
		v = -v
	}
	return v, decimals, true
}

// withDigits appends the digits at the start of text to a number, and returns the text behind them.
func withDigits(number uint64, text string) (uint64, string) {
	i := 0
	for ; i < len(text) && '0' <= text[i] && text[i] <= '9'; i++ {
		number = 10*number + uint64(text[i]-'0')
	}
	return number, text[i:]
}

// isWhole reports whether text has digits alone.
func isWhole(text string) bool {
	_, rest := withDigits(0, text)
	return rest == ""
}

// quotient returns a/b, rounded once. b is not 0, and a is at least b/2⁶⁰.
func quotient(a, b uint64) float64 {
	up, down := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a <<= up
	q, rest := bits.Div64(a>>1, a<<63, b<<down) // 63 or 64 bits, more than a float64 keeps
	if rest != 0 {
		q |= 1 // which decides between two neighbours if all other bits are equally far from both
	}
	return math.Ldexp(float64(q), down-up-63)
}

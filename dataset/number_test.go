package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// The fast parser of numbers gives the bits of strconv.ParseFloat, for numbers of every length, and halfway between two
// neighbours.
func TestPlainNumbersAreRoundedOnce(t *testing.T) {
	source := rand.New(rand.NewPCG(1, 2))
	texts := []string{"0", "-0", "+0.0", "-.5", "5.", ".", "", "-", "+", "1.2.3", "1e5", "0x10", "1_000", "12345678", "1234567/", "1234567:", "12\u06653", "00000000000000000.25",
		"9007199254740993", "9007199254740992.5", "9007199254740993.000", "4503599627370496.5", "4503599627370497.5", "9999999999999999999", "0.9999999999999999999", "18446744073709551615", "1234567890123456789012", "1234,5678", "Infinity", " 1"}
	for range 200000 {
		text := strconv.FormatUint(source.Uint64()>>source.IntN(64), 10)
		if k := source.IntN(len(text) + 1); source.IntN(4) > 0 {
			text = text[:k] + "." + text[k:]
		}
		texts = append(texts, []string{"", "-", "+", "0.000"}[source.IntN(4)]+text, strconv.FormatFloat(source.NormFloat64(), 'f', -1, 64), fmt.Sprintf("%.3f", 100*source.NormFloat64()))
	}
	fast := 0
	for _, text := range texts {
		v, _, is := plainNumber(text)
		want, err := strconv.ParseFloat(text, 64)
		if is && (err != nil || math.Float64bits(v) != math.Float64bits(want)) {
			t.Fatalf("%q: %v, want %v (%v)", text, v, want, err)
		}
		if digits := len(strings.Trim(strings.Replace(text, ".", "", 1), "+-")); !is && err == nil && digits <= 19 && strings.Trim(text, "+-0123456789.") == "" {
			t.Fatalf("%q is not read", text)
		}
		if is {
			fast++
		}
	}
	if fast < len(texts)/2 {
		t.Errorf("only %d of %d numbers are read", fast, len(texts))
	}
}

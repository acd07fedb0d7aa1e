package philox

import (
	"math"
	"slices"
	"testing"
)

// The known answers are those that the authors of Philox publish with their
// reference implementation (Random123, kat_vectors).
func TestKnownAnswers(t *testing.T) {
	for _, c := range []struct {
		key     [2]uint32
		counter [4]uint32
		want    [4]uint32
	}{
		{[2]uint32{0, 0}, [4]uint32{0, 0, 0, 0},
			[4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[2]uint32{0xffffffff, 0xffffffff}, [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[2]uint32{0xa4093822, 0x299f31d0}, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		got := rounds(c.key[0], c.key[1], c.counter[0], c.counter[1], c.counter[2], c.counter[3])
		if got != c.want {
			t.Errorf("key %x, counter %x: got %x, want %x", c.key, c.counter, got, c.want)
		}
	}
}

func TestCounterWords(t *testing.T) {
	c := Counter{Word: Word{Purpose: Sleep, Layer: 3, Unit: 0x1234}, Sample: 5, Datum: 6, Step: 7}
	want := rounds(0x89abcdef, 0x01234567, 0x1234|3<<16|uint32(Sleep)<<24, 5, 6, 7)
	if got := Key(0x0123456789abcdef).Block(c); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestUniformLiesWithinZeroAndOne(t *testing.T) {
	if u := Uniform(math.MaxUint32); u >= 1 {
		t.Errorf("the largest uniform draw is %v, want less than 1", u)
	}
	if u := Uniform(0); u <= 0 {
		t.Errorf("the smallest uniform draw is %v, want more than 0", u)
	}
	for _, w := range []uint32{0, 1 << 9, 0x12345678, 1 << 31, math.MaxUint32} {
		if u := Uniform(w); u+Uniform(^w) != 1 {
			t.Errorf("the draws of %#x and of its complement are %v and %v, want them symmetric about ½", w, u, Uniform(^w))
		}
	}
}

// Over all starting positions of an element, each of the final positions is
// equally frequent: a chi-squared test with 24 permutations of 4 elements.
func TestPermIsUniform(t *testing.T) {
	const draws = 24_000
	counts := map[[4]int]int{}
	s := NewStream(1, Order, 0)
	for range draws {
		counts[[4]int(s.Perm(4))]++
	}
	chi2, expected := 0.0, draws/24.0
	for _, n := range counts {
		chi2 += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	if len(counts) != 24 || chi2 > 49.7 { // 99.9 % quantile at 23 degrees of freedom
		t.Errorf("%d permutations, chi-squared %.1f", len(counts), chi2)
	}
}

func TestStreamsOfDifferentIndexDiffer(t *testing.T) {
	a, b := NewStream(1, Order, 0).Perm(100), NewStream(1, Order, 1).Perm(100)
	if slices.Equal(a, b) {
		t.Error("epochs 0 and 1 have the same order")
	}
}

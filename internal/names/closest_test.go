package names

import (
	"testing"

	"pgregory.net/rapid"
)

func TestTheClosestWordIsMeant(t *testing.T) {
	words := []string{"mnist", "fashion", "glyphs", "miniglyphs", "3by3", "nws", "nrws"}
	for word, want := range map[string]string{
		"mnsit": "mnist", "minst": "mnist", "glyph": "glyphs", "nwrs": "nrws", "fasion": "fashion", "MNIST": "mnist", "3x3": "", "omniglot": "", "": "",
	} {
		if want != "" {
			want = ` (did you mean "` + want + `"?)`
		}
		if got := Meant(word, words...); got != want {
			t.Errorf("%q is answered by %q, not %q", word, got, want)
		}
	}
}

// The distance of words is symmetric, 0 of the same alone, and at most their length.
func TestDistanceOfWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 6).Draw(t, "a"), rapid.SliceOfN(rapid.RuneFrom([]rune("abc")), 0, 6).Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (string(a) == string(b)) || d > max(len(a), len(b)) || d < len(a)-len(b) {
			t.Errorf("the distance of %q and %q is %d", string(a), string(b), d)
		}
	})
}

package plotting

import (
	"math"
	"testing"

	"gonum.org/v1/plot/vg"
)

// The marks of p̃ and p̂ are centred above the p.
func TestMarksStandOverTheCharacterBeforeThem(t *testing.T) {
	face := tickStyle.Handler.(outlines).Fonts.Lookup(tickStyle.Font, tickStyle.Font.Size)
	all := func(rune) bool { return true }
	plain := len(outline(face, "log p", vg.Point{}, all))
	start, end := face.Width("log "), face.Width("log p")
	for _, marked := range []string{"log p\u0303", "log p\u0302"} {
		left, right := vg.Length(math.Inf(1)), vg.Length(math.Inf(-1))
		for _, c := range outline(face, marked, vg.Point{}, all)[plain:] {
			if c.Type != vg.CloseComp {
				left, right = min(left, c.Pos.X), max(right, c.Pos.X)
			}
		}
		if left < start || right > end || math.Abs(float64(left+right-start-end)) > 0.01 {
			t.Errorf("the mark of %q reaches from %.2f to %.2f, the p from %.2f to %.2f", marked, left, right, start, end)
		}
	}
}

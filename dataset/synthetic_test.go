package dataset

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"slices"
	"testing"
)

// Várady 2025, Appendix A: 12 patterns, of which the vertical ones are twice as likely.
func TestThreeByThree(t *testing.T) {
	s, err := Open("3by3")
	if err != nil {
		t.Fatal(err)
	}
	if s.Train().Rows != 18_000 || s.Validation().Rows != 0 || s.Test().Rows != 18 || s.Shape() != (Shape{3, 3}) {
		t.Fatalf("%d, %d and %d rows of shape %v", s.Train().Rows, s.Validation().Rows, s.Test().Rows, s.Shape())
	}
	for _, c := range []struct {
		split                Split
		horizontal, vertical int
	}{{s.Train(), 1000, 2000}, {s.Test(), 1, 2}} {
		counts := map[[9]uint8]int{}
		for i := range c.split.Rows {
			counts[[9]uint8(c.split.Row(i))]++
		}
		if len(counts) != 12 {
			t.Errorf("%s: %d patterns, want 12", c.split.Name, len(counts))
		}
		for pattern, n := range counts {
			want := 0
			if isHorizontal(pattern) {
				want = c.horizontal
			} else if isHorizontal(transpose(pattern)) {
				want = c.vertical
			}
			if n != want {
				t.Errorf("%s: pattern %v occurs %d times, want %d", c.split.Name, pattern, n, want)
			}
		}
	}
}

// isHorizontal says whether all rows of the grid are on or off, not all alike.
func isHorizontal(p [9]uint8) bool {
	for i, v := range p {
		if v != p[i/3*3] || v != 0 && v != 255 {
			return false
		}
	}
	return p[0] != p[3] || p[0] != p[6]
}

func transpose(p [9]uint8) (q [9]uint8) {
	for i, v := range p {
		q[i%3*3+i/3] = v
	}
	return q
}

// The lower picture of a pair is the upper one, shifted cyclically as the class says, but for pixels that are drawn anew: of
// the two in a hundred that are, 18 % differ.
func TestShiftedDots(t *testing.T) {
	s, err := Open("shifteddots")
	if err != nil {
		t.Fatal(err)
	}
	test := s.Test()
	if s.Classes() != 49 || s.Shape() != (Shape{26, 13}) {
		t.Fatalf("%d classes of shape %v", s.Classes(), s.Shape())
	}
	on, other := 0.0, 0.0
	for i := range test.Rows {
		pair, down, right := test.Row(i), int(test.Labels[i])/7-3, int(test.Labels[i])%7-3
		for y := range 13 {
			for x := range 13 {
				moved := (y+down+13)%13*13 + (x+right+13)%13
				if pair[y*13+x] != pair[169+moved] {
					other++
				}
				on += float64(pair[y*13+x] / 255)
			}
		}
	}
	n := float64(169 * test.Rows)
	for _, c := range []struct {
		what        string
		share, want float64
	}{{"on", on / n, 0.1}, {"not those that move there", other / n, 0.0036}} {
		if math.Abs(c.share-c.want) > 4*math.Sqrt(c.want/n) {
			t.Errorf("%v of the pixels are %s, want %v", c.share, c.what, c.want)
		}
	}
}

// The tags of a glyph are its digit and what its font is.
func TestTaggedGlyphs(t *testing.T) {
	tagged, err := Open("taggedglyphs")
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Open("miniglyphs")
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, len(GlyphTags))
	for i := range tagged.Test().Rows {
		row, units := tagged.Test().Row(i), plain.Shape().Units()
		if !slices.Equal(row[:units], plain.Test().Row(i)) {
			t.Fatalf("image %d is another", i)
		}
		for tag, on := range row[units:] {
			counts[tag] += int(on) / 255
			if digit := tagged.Test().Labels[i]; tag < 10 && (on > 0) != (tag == int(digit)) {
				t.Fatalf("image %d has the tag %d and the digit %d", i, tag, digit)
			}
		}
	}
	// One of the seven fonts is medium, two are bold and italic, and three are mono.
	for k, want := range []int{290, 570, 570, 850} {
		if n := counts[10+k]; n < want-20 || n > want+20 {
			t.Errorf("%d of 2000 images are %s, want some %d", n, GlyphTags[10+k], want)
		}
	}
}

// fontglyphs has the training glyphs without the tag mono, and the test glyphs with it, in order.
func TestFontGlyphs(t *testing.T) {
	tagged, fonts := opened(t, Spec{Name: "taggedglyphs", Validation: new(0)}), opened(t, Spec{Name: "fontglyphs", Validation: new(0)})
	for _, c := range []struct {
		tagged, fonts Split
		mono          uint8
		want          int
	}{{tagged.Train(), fonts.Train(), 0, 5720}, {tagged.Test(), fonts.Test(), 255, 850}} {
		n := 0
		for r, digit := range c.tagged.Labels {
			if row := c.tagged.Row(r); row[209] == c.mono {
				if !slices.Equal(row[:196], c.fonts.Row(n)) || digit != c.fonts.Labels[n] {
					t.Fatalf("%s row %d is not row %d of the tagged glyphs", c.fonts.Name, n, r)
				}
				n++
			}
		}
		if n != c.want || n != c.fonts.Rows {
			t.Errorf("%d %s rows, and %d of the tagged glyphs, want %d", c.fonts.Rows, c.fonts.Name, n, c.want)
		}
	}
}

// A tile is a square of a face: the tiles of a picture follow each other by rows, and each fifth picture has test
// tiles.
func TestPatchesAreTilesOfFaces(t *testing.T) {
	faces, err := Spec{Name: "olivettifaces", Binarization: Gray, Validation: new(0)}.load()
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err) // the faces are not the project's to publish, so only HELMHOLTZ_DATA has them
	}
	tiles, other := Spec{Name: "olivettipatches"}.load()
	if err := errors.Join(err, other); err != nil {
		t.Fatal(err)
	}
	const picture, row, column = 9, 3, 5 // the second picture with test tiles
	for y := range 8 {
		for x := range 8 {
			want := faces.train.Bytes()[picture*4096+(8*row+y)*64+8*column+x]
			if got := tiles.test.Bytes()[(64+8*row+column)*64+8*y+x]; got != want {
				t.Fatalf("pixel %d, %d of the tile is %d, want %d", y, x, got, want)
			}
		}
	}
}

func TestGlyphsAreTheSameEveryTime(t *testing.T) {
	a, _ := drawGlyphs(200, 1)
	b, _ := drawGlyphs(200, 1)
	other, _ := drawGlyphs(200, 2)
	if !bytes.Equal(a, b) {
		t.Error("two calls with one seed differ")
	}
	if bytes.Equal(a, other) {
		t.Error("two seeds give the same glyphs")
	}
}

func TestGlyphsLookLikeCenteredDigits(t *testing.T) {
	s, err := Spec{Name: "glyphs", Binarization: Stochastic}.Open()
	if err != nil {
		t.Fatal(err)
	}
	if s.Train().Rows != 9000 || s.Validation().Rows != 1000 || s.Test().Rows != 2000 || s.Shape() != (Shape{28, 28}) {
		t.Fatalf("%d, %d and %d rows of shape %v", s.Train().Rows, s.Validation().Rows, s.Test().Rows, s.Shape())
	}
	var classes [10]int
	for _, split := range []Split{s.Train(), s.Validation(), s.Test()} {
		for i := range split.Rows {
			classes[split.Labels[i]]++
			top, bottom, left, right, ink := 28, -1, 28, -1, 0
			for k, v := range split.Row(i) {
				if v > 0 {
					y, x := k/28, k%28
					top, bottom = min(top, y), max(bottom, y)
					left, right = min(left, x), max(right, x)
				}
				ink += int(v)
			}
			if top < 1 || left < 1 || bottom > 26 || right > 26 {
				t.Fatalf("%s glyph %d touches the border: rows %d–%d, columns %d–%d", split.Name, i, top, bottom, left, right)
			}
			if height := bottom - top + 1; height < 14 || height > 23 {
				t.Fatalf("%s glyph %d is %d pixels high", split.Name, i, height)
			}
			if on := float64(ink) / 255 / 784; on < 0.03 || on > 0.35 {
				t.Fatalf("%s glyph %d has %.3f of its pixels on", split.Name, i, on)
			}
		}
	}
	if classes != [10]int{1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200, 1200} {
		t.Errorf("classes have %v rows", classes)
	}
}

// The rows of miniglyphs are those of glyphs, divided alike, and each of their
// pixels is the mean of four.
func TestMiniglyphsAreGlyphsShrunk(t *testing.T) {
	large, err := Spec{Name: "glyphs", Binarization: Stochastic}.Open()
	if err != nil {
		t.Fatal(err)
	}
	small, err := Spec{Name: "miniglyphs", Binarization: Stochastic}.Open()
	if err != nil {
		t.Fatal(err)
	}
	for _, pair := range [][2]Split{
		{large.Train(), small.Train()}, {large.Validation(), small.Validation()}, {large.Test(), small.Test()},
	} {
		whole, mean := pair[0], pair[1]
		if mean.Rows != whole.Rows || mean.Shape != (Shape{14, 14}) || !bytes.Equal(mean.Labels, whole.Labels) {
			t.Fatalf("%s: %d rows of shape %v, want %d of 14×14 with the same labels", mean.Name, mean.Rows, mean.Shape, whole.Rows)
		}
		for i := range mean.Rows {
			for k, v := range mean.Row(i) {
				y, x := 2*(k/14), 2*(k%14)
				upper, lower := whole.Row(i)[28*y+x:], whole.Row(i)[28*(y+1)+x:]
				if sum := int(upper[0]) + int(upper[1]) + int(lower[0]) + int(lower[1]); 4*int(v)-sum > 2 || sum-4*int(v) > 2 {
					t.Fatalf("%s row %d: the pixel at %d, %d is %d, its four are %d together", mean.Name, i, y/2, x/2, v, sum)
				}
			}
		}
	}
}

// The digits are told apart by the nearest class mean far better than by
// chance (0.1): the labels belong to the pictures.
func TestGlyphsBelongToTheirLabels(t *testing.T) {
	s, err := Spec{Name: "glyphs", Binarization: Stochastic}.Open()
	if err != nil {
		t.Fatal(err)
	}
	var means [10][784]float64
	train, test := s.Train(), s.Test()
	for i := range train.Rows {
		for k, v := range train.Row(i) {
			means[train.Labels[i]][k] += float64(v) / float64(train.Rows/10)
		}
	}
	right := 0
	for i := range test.Rows {
		best, nearest := 0, 0.0
		for digit, mean := range means {
			distance := 0.0
			for k, v := range test.Row(i) {
				distance += (float64(v) - mean[k]) * (float64(v) - mean[k])
			}
			if digit == 0 || distance < nearest {
				best, nearest = digit, distance
			}
		}
		if best == int(test.Labels[i]) {
			right++
		}
	}
	if accuracy := float64(right) / float64(test.Rows); accuracy < 0.7 {
		t.Errorf("nearest class mean recognises %.3f of the test glyphs", accuracy)
	}
}

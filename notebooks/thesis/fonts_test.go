package thesis

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

var writeFonts = flag.String("write-fonts", "", "`folder` for the glyphs that sklearn_factors.py fonts reads")

// The mono fonts, of which training has seen no glyph, are three with as many glyphs of each digit.
func TestMonoFontsAreNew(t *testing.T) {
	set := must(dataset.Spec{Name: "taggedglyphs", Validation: new(0)}.Open())
	known, mono := glyphsOf(false, set.Train()), glyphsOf(true, set.Train(), set.Test())
	if len(known.styles) != 4 || len(mono.styles) != 3 {
		t.Errorf("%d known and %d mono fonts, want 4 and 3", len(known.styles), len(mono.styles))
	}
	var counts [3][10]int
	for r, font := range mono.fonts {
		counts[font][mono.Labels[r]]++
	}
	for font := range counts {
		for digit, n := range counts[font] {
			if n != 171 {
				t.Errorf("mono font %d has %d glyphs of %d, want 171", font, n, digit)
			}
		}
	}
	if *writeFonts == "" {
		return
	}
	for name, of := range map[string]fontGlyphs{"known": known, "mono": mono} {
		var rows []byte
		for r, digit := range of.Labels {
			rows = append(append(rows, of.Row(r)...), digit)
		}
		path := filepath.Join(*writeFonts, fmt.Sprintf("%s-%dx%d.u8", name, of.Rows, of.Shape.Units()+1))
		if err := os.WriteFile(path, rows, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// One label a digit is enough where glyphs of a digit have the same features; features that are alike, or all as far
// apart, tell nothing of the glyphs without a label.
func TestOneLabelOfEachDigit(t *testing.T) {
	g := fontGlyphs{styles: make([][]uint8, 2)}
	var digits, alike, far, apart [][]float64
	for r := range 60 {
		digit, font := r%10, r/10%2
		g.Labels, g.fonts = append(g.Labels, uint8(digit)), append(g.fonts, font)
		digits, alike = append(digits, []float64{float64(digit), 1}), append(alike, []float64{1, 1})
		far = append(far, []float64{float64((digit + 5*font) % 10), 100 * float64(font)})
		apart = append(apart, make([]float64, 60))
		apart[r][r] = 1
	}
	g.Rows = len(g.Labels)
	for name, c := range map[string]struct {
		x    [][]float64
		want float64
	}{"digits": {digits, 0}, "alike": {alike, 0.9}, "other digits in the other font": {far, 0}, "apart": {apart, 0.9}} {
		for draw, wrong := range g.oneShot(c.x, 3) {
			if math.Abs(wrong-c.want) > 1e-12 {
				t.Errorf("%s: a share of %v is wrong in draw %d, want %v", name, wrong, draw, c.want)
			}
		}
	}
	for _, x := range [][][]float64{digits, far} {
		if share := g.separation(x); share != 1 {
			t.Errorf("features without variance within a digit and font: a share of %v lies between digits", share)
		}
	}
	for r := range digits {
		digits[r][0] += math.Sqrt(8.25) * math.Sqrt(1.5) * float64(r/20-1) // the variance of the digits 0 to 9 is 8.25
		digits[r][1] += float64(g.fonts[r])
	}
	if share := g.separation(digits); math.Abs(share-0.5) > 1e-12 {
		t.Errorf("as much variance within as between digits: a share of %v lies between them", share)
	}
}

// Mistakes on glyphs whose features give the digit and the tags are none.
func TestMistakesOnFonts(t *testing.T) {
	set := must(dataset.Spec{Name: "taggedglyphs", Validation: new(0), Subset: 700}.Open())
	s := fontSplits{glyphsOf(false, set.Train()), glyphsOf(false, set.Test()), glyphsOf(true, set.Test()), 2}
	given := func(of dataset.Split) (x [][]float64) {
		for _, g := range []fontGlyphs{s.known, s.held, s.mono} {
			if g.Rows == of.Rows {
				for r, font := range g.fonts {
					row := make([]float64, 13)
					row[g.Labels[r]] = 1
					for tag, on := range g.styles[font] {
						row[10+tag] = float64(on) / 1000
					}
					x = append(x, row)
				}
			}
		}
		return x
	}
	for task, of := range s.mistakes(given).Tasks {
		for k, all := range of {
			if len(all) == 0 || mean(all) != 0 {
				t.Errorf("%s, glyphs %d: %d mistakes with the mean %v", fontTasks[task].name, k, len(all), mean(all))
			}
		}
	}
}

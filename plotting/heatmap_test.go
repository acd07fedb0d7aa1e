package plotting

import (
	"image/color"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Settings rise whatever the order of the cells, and pairs without a finite value are missing.
func TestCellsAreSortedBySetting(t *testing.T) {
	h, err := newHeatMap([]Cell{{0.2, 10, 1}, {3 * 0.1, 2, 2}, {0.05, 2, 3}, {0.3, 10, math.Inf(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(h.columns, []float64{0.05, 0.2, 0.3}) || !slices.Equal(h.rows, []float64{2, 10}) {
		t.Fatalf("columns %v and rows %v", h.columns, h.rows)
	}
	nan := math.NaN()
	for row, want := range [][]float64{{3, nan, 2}, {nan, 1, nan}} {
		for column, value := range want {
			if got := h.values[row][column]; got != value && !(math.IsNaN(got) && math.IsNaN(value)) {
				t.Errorf("row %d, column %d has %v, want %v", row, column, got, value)
			}
		}
	}
	if !h.missing() {
		t.Error("none is said to be missing")
	}
}

func TestSettingsAreWrittenWithTheDigitsTheyNeed(t *testing.T) {
	for value, want := range map[float64]string{0.0005: "0.0005", 3 * 0.1: "0.3", 20: "20", 1.5: "1.5", 10000: "10,000", -0.25: "−0.25"} {
		if got := setting(rounded(value)); got != want {
			t.Errorf("%v is written %s, want %s", value, got, want)
		}
	}
}

// One value far above the others has the last colour; evenly spread values use all colours.
func TestColorsAreOfMostValues(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   colorScale
	}{
		{[]float64{3, 1, 2, 4, 5}, colorScale{1, 5, 5}},
		{[]float64{3, 1, 2, 400, 5}, colorScale{1, 11, 400}},
		{[]float64{2, 2, 2, 9}, colorScale{2, 9, 9}},
		{[]float64{2, 2}, colorScale{2, 3, 2}},
	} {
		got := newColorScale(c.values)
		if got != c.want {
			t.Errorf("the colours of %v are %v, want %v", c.values, got, c.want)
		}
		if got.color(got.greatest+1) != got.color(got.most) {
			t.Errorf("%v above %v has a colour of its own", got.greatest+1, got.most)
		}
	}
}

// Equal differences of values are equal differences of lightness, and text on any of the colours is
// legible.
func TestColorsAreUniformInLightness(t *testing.T) {
	s := colorScale{0, 1, 1}
	first, last := lightness(s.color(0)), lightness(s.color(1))
	if first-last < 60 {
		t.Errorf("lightness from %.1f to %.1f, want most of 100 to 0", first, last)
	}
	for i := range 101 {
		value := float64(i) / 100
		c := s.color(value)
		if got, want := lightness(c), first+value*(last-first); math.Abs(got-want) > 1 {
			t.Errorf("%v has lightness %.1f, want %.1f", value, got, want)
		}
		if contrast := contrast(c, color.NRGBAModel.Convert(readableOn(c)).(color.NRGBA)); contrast < 4 {
			t.Errorf("text on the colour of %v has a contrast of %.2f", value, contrast)
		}
	}
}

// lightness returns L* of CIE 1976, 0 to 100.
func lightness(c color.NRGBA) float64 {
	if y := luminance(c); y > 216./24389 {
		return 116*math.Cbrt(y) - 16
	} else {
		return 24389. / 27 * y
	}
}

// luminance returns the relative luminance of an sRGB colour, 0 to 1.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		u := float64(v) / 255
		if u <= 0.04045 {
			return u / 12.92
		}
		return math.Pow((u+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

// contrast returns the contrast ratio of WCAG, 1 to 21.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a)+0.05, luminance(b)+0.05
	return max(x/y, y/x)
}

func TestHeatMapsThatCannotBeDrawn(t *testing.T) {
	nan := math.NaN()
	for want, cells := range map[string][]Cell{
		"give at least one":            nil,
		"no finite value among 1":      {{1, 2, nan}},
		"two cells at 0.3, 2":          {{0.3, 2, 1}, {3 * 0.1, 2, nan}},
		"settings that are not finite": {{nan, 2, 1}},
		"too far apart to draw":        {{1, 2, -1e308}, {2, 2, 1e308}},
	} {
		err := HeatMap("x", "y", "loss", cells...).Save(filepath.Join(t.TempDir(), "figure.png"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
}

// The smallest heat map, and one with a diverged run, are drawn in every format.
func TestExtremeHeatMaps(t *testing.T) {
	for name, f := range map[string]*Figure{
		"one cell":       HeatMap("x", "y", "loss", Cell{1, 2, 3}),
		"one, and large": HeatMap("x", "y", "loss", Cell{1, 2, 1e17}, Cell{2, 2, math.NaN()}),
		"near infinity":  HeatMap("x", "y", "loss", Cell{1, 2, 1}, Cell{2, 2, 1e308}, Cell{3, 2, 1.5e308}),
		"diverged":       HeatMap("x", "y", "loss", Cell{1, 2, 3}, Cell{2, 2, 1e33}, Cell{3, 2, 4}),
		"smallest":       HeatMap("x", "y", "loss", Cell{1, 2, 3}, Cell{1, 3, 3}).Size(2, 2),
		"long settings":  HeatMap("x", "y", "loss", Cell{1e-12, 1e12, 3}, Cell{1e300, -1e300, 3}),
	} {
		for _, format := range []string{".png", ".svg", ".pdf"} {
			if err := f.Save(filepath.Join(t.TempDir(), "figure"+format)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

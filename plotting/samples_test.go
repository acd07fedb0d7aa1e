package plotting

import (
	"image/color"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Every pixel of an image becomes a square of its grey in the right place.
func TestPaintedImages(t *testing.T) {
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 3}, Values: [][]float64{
		{0, 0.2, 0.4, 0.6, 0.8, 1},
		{1, 0, 1, 0, 1, 0},
		{2, -1, 0, 0, 0, 0},
	}}
	g := gallery{sheet, 2, 2, 0}
	const scale, dpi = 5, 72
	gap := gapIn(dpi)
	width, height := g.size(3*scale, 2*scale, gap)
	img := g.paint(width, height, dpi)
	for i, values := range sheet.Values {
		for p, v := range values {
			level := uint8(255*min(max(v, 0), 1) + 0.5)
			for offset := range scale {
				x := gap + i%2*(3*scale+gap) + p%3*scale + offset
				y := gap + i/2*(2*scale+gap) + p/3*scale + offset
				if got := img.At(x, y); got != (color.NRGBA{level, level, level, 0xFF}) {
					t.Fatalf("image %d, value %v: %v", i, v, got)
				}
			}
		}
	}
	if got := img.At(0, 0); got != gapColor {
		t.Errorf("the corner is %v", got)
	}
}

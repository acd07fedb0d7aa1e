package plotting

import (
	"bytes"
	"image/gif"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// A film has one frame per step, and shows each unit at its place.
func TestFilm(t *testing.T) {
	var b bytes.Buffer
	sheet := dataset.Sheet{Shape: dataset.Shape{Height: 2, Width: 4}, Values: [][]float64{{0, 0, 0, 1, 1, 0, 0, 0}, {0, 0.4, 0, 0, 0, 0, 0, 0}}}
	if err := WriteFilm(&b, sheet); err != nil {
		t.Fatal(err)
	}
	film, err := gif.DecodeAll(&b)
	if err != nil {
		t.Fatal(err)
	}
	if len(film.Image) != 2 {
		t.Fatalf("%d frames", len(film.Image))
	}
	for i, values := range sheet.Values {
		for k, v := range values {
			x, y := (3*i+k%2)*filmScale+filmScale-1, k%4/2*filmScale
			if r, _, _, _ := film.Image[k/4].At(x, y).RGBA(); r>>8 != uint32(255-255*v) {
				t.Errorf("unit %d of sequence %d is %d, want %v of 255 darker", k, i, r>>8, v)
			}
		}
	}
	sheet.Shape.Width, sheet.Shape.Height = 8, 1
	if err := WriteFilm(&b, sheet); err == nil || !strings.Contains(err.Error(), "a step of 8 units is no square image") {
		t.Errorf("the error is %v", err)
	}
}

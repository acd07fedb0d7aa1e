package dataset

import (
	"image"
	"image/color"
	"strings"
	"testing"
)

// A picture with transparency, whether its first pixel shows it or not, is to be put on a background, since convert("L")
// alone would make its transparent pixels black. Other coloured pictures only become grey.
func TestRemediesForPictures(t *testing.T) {
	red, clear := color.NRGBA{255, 0, 0, 255}, color.NRGBA{}
	for _, c := range []struct {
		pixels     []color.NRGBA
		background bool
	}{{[]color.NRGBA{clear, red}, true}, {[]color.NRGBA{red, clear}, true}, {[]color.NRGBA{red, red}, false}} {
		p := image.NewNRGBA(image.Rect(0, 0, 2, 1))
		for x, pixel := range c.pixels {
			p.Set(x, 0, pixel)
		}
		_, err := readFile(written(t, "picture.png", string(pngOf(p))), readPicture)
		wantError(t, err, `.convert("L").save(FILE)`)
		if err != nil && strings.Contains(err.Error(), "alpha_composite") != c.background {
			t.Errorf("%v: %v", c.pixels, err)
		}
	}
}

// Blank pictures of one bit per pixel are small, but not damaged.
func TestBlankPicturesAreRead(t *testing.T) {
	blank := image.NewPaletted(image.Rect(0, 0, 3000, 1000), color.Palette{color.White, color.Black})
	path := written(t, "blank.png", string(pngOf(blank)))
	read, err := readFile(path, readPicture)
	if err != nil || read.Shape != (Shape{1000, 3000}) || read.pixels[0] != 65535 {
		t.Errorf("%v, %v", read.Shape, err)
	}
}

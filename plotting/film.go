package plotting

import (
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"io"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
)

const (
	filmScale = 6  // pixels of the film per unit
	filmGap   = 1  // units between two sequences
	filmDelay = 10 // hundredths of a second per step
)

// WriteFilm writes sequences, which are images whose rows are steps, as an animated GIF, side by side. A step is a
// square image of its units; 0 is white, and 1 is black. It refuses steps that are not square.
func WriteFilm(w io.Writer, sheet dataset.Sheet) error {
	if err := checkSheet(sheet); err != nil {
		return err
	}
	width := sheet.Shape.Width
	side := int(math.Sqrt(float64(width)))
	if side*side != width {
		return fmt.Errorf("a step of %d units is no square image: films show sets such as balls, and piano rolls other sequences", width)
	}
	gray := make(color.Palette, 256)
	for i := range gray {
		gray[i] = color.Gray{Y: uint8(255 - i)}
	}
	film := &gif.GIF{}
	for t := range sheet.Shape.Height {
		frame := image.NewPaletted(image.Rect(0, 0, (len(sheet.Values)*(side+filmGap)-filmGap)*filmScale, side*filmScale), gray)
		for i, values := range sheet.Values {
			for k, v := range values[t*width : (t+1)*width] {
				index := uint8(math.Round(255 * min(max(v, 0), 1)))
				for pixel := range filmScale * filmScale {
					frame.SetColorIndex((i*(side+filmGap)+k%side)*filmScale+pixel%filmScale, k/side*filmScale+pixel/filmScale, index)
				}
			}
		}
		film.Image, film.Delay = append(film.Image, frame), append(film.Delay, filmDelay)
	}
	return gif.EncodeAll(w, film)
}

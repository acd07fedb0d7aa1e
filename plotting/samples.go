package plotting

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	stddraw "image/draw"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Samples draws a sheet of images as a grid that is roughly square, row by row: 0
// black, 1 white, with crisp pixels, their aspect kept. Values outside [0, 1] are drawn
// as the nearer of the two.
func Samples(sheet dataset.Sheet) *Figure {
	if err := checkSheet(sheet); err != nil {
		return failed(err)
	}
	columns := int(math.Ceil(math.Sqrt(float64(len(sheet.Values)) * float64(sheet.Shape.Height) / float64(sheet.Shape.Width))))
	columns = min(max(columns, 1), len(sheet.Values))
	g := gallery{sheet, columns, (len(sheet.Values) + columns - 1) / columns}
	return g.figure(0)
}

// figure is that of the grid, with space above it for what else is drawn.
func (g gallery) figure(space vg.Length, above ...plot.Plotter) *Figure {
	width, height := g.figureSize()
	grid := height - 2*margin
	panel := plot.New()
	panel.HideAxes()
	panel.X.Padding, panel.Y.Padding = 0, 0
	panel.Add(g.raster())
	panel.Add(above...)
	panel.Y.Max = float64((grid + space) / grid)
	f := newFigure(panel)
	f.width, f.height = width, height+space
	f.aspect = float64((width - 2*margin) / (grid + space))
	return f
}

func checkSheet(sheet dataset.Sheet) error {
	if len(sheet.Values) == 0 {
		return errors.New("a sheet without images: nothing to draw")
	}
	units := sheet.Shape.Units()
	if units < 1 {
		return fmt.Errorf("images of %d × %d pixels: nothing to draw", sheet.Shape.Height, sheet.Shape.Width)
	}
	for i, values := range sheet.Values {
		if len(values) != units {
			return fmt.Errorf("image %d has %d values where its shape of %d × %d has %d", i, len(values), sheet.Shape.Height, sheet.Shape.Width, units)
		}
		for _, v := range values {
			if math.IsNaN(v) {
				return fmt.Errorf("image %d has a value that is not a number", i)
			}
		}
	}
	return nil
}

// gallery hangs the images of a sheet in a grid, with gaps between and around
// them.
type gallery struct {
	dataset.Sheet
	columns, rows int
}

// raster is the plotter that paints the grid, of width and height 1.
func (g gallery) raster() raster { return raster{1, 1, g.paint} }

// size is that of the grid in pixels, when images and gaps have these sizes.
func (g gallery) size(width, height, gap int) (int, int) {
	return g.columns*(width+gap) + gap, g.rows*(height+gap) + gap
}

// scale returns by how much its images grow for the grid to fit into so many
// pixels.
func (g gallery) scale(width, height, gap int) float64 {
	across := float64(width-(g.columns+1)*gap) / float64(g.columns*g.Shape.Width)
	down := float64(height-(g.rows+1)*gap) / float64(g.rows*g.Shape.Height)
	return min(across, down)
}

// image returns the size of an image in pixels.
func (g gallery) image(scale float64) (width, height int) {
	return max(1, int(scale*float64(g.Shape.Width))), max(1, int(scale*float64(g.Shape.Height)))
}

// figureSize is that of the grid in a notebook, with the figure's margins: about
// the usual, with images a whole multiple of their own size, so that all their
// pixels are alike; many images take more space before they shrink.
func (g gallery) figureSize() (width, height vg.Length) {
	const usualSide, greatestSide = 580, 1600 // pixels
	gap := gapIn(dotsPerInch)
	scale := g.scale(usualSide, usualSide, gap)
	if scale > 1 {
		scale = math.Round(scale)
	} else {
		scale = min(1, g.scale(greatestSide, greatestSide, gap))
	}
	imageWidth, imageHeight := g.image(scale)
	w, h := g.size(imageWidth, imageHeight, gap)
	side := func(pixels int) vg.Length {
		return vg.Length(pixels)*vg.Inch/dotsPerInch + 2*margin
	}
	return side(w), side(h)
}

// gapIn is the width of the gaps in pixels.
func gapIn(dotsPerInch float64) int { return max(1, int(2*dotsPerInch/72)) }

var gapColor = color.NRGBA{0x56, 0x86, 0xA8, 0xFF} // not a grey, so no value of an image

// layout is the size of an image, and of the gaps, in a grid that fits into so many pixels, all in
// pixels.
func (g gallery) layout(width, height int, dotsPerInch float64) (imageWidth, imageHeight, gap int) {
	gap = gapIn(dotsPerInch)
	scale := g.scale(width, height, gap)
	if scale > 1 {
		scale = math.Floor(scale)
	}
	imageWidth, imageHeight = g.image(scale)
	return imageWidth, imageHeight, gap
}

// paint draws the grid at the upper left of so many pixels, nearest neighbour.
func (g gallery) paint(width, height int, dotsPerInch float64) image.Image {
	imageWidth, imageHeight, gap := g.layout(width, height, dotsPerInch)
	w, h := g.size(imageWidth, imageHeight, gap)
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	stddraw.Draw(img, image.Rect(0, 0, w, h), image.NewUniform(gapColor), image.Point{}, stddraw.Src)
	for i, values := range g.Values {
		left := gap + i%g.columns*(imageWidth+gap)
		top := gap + i/g.columns*(imageHeight+gap)
		for y := range imageHeight {
			for x := range imageWidth {
				v := values[y*g.Shape.Height/imageHeight*g.Shape.Width+x*g.Shape.Width/imageWidth]
				level := uint8(math.Round(255 * min(max(v, 0), 1)))
				img.SetNRGBA(left+x, top+y, color.NRGBA{level, level, level, 0xFF})
			}
		}
	}
	return img
}

package plotting

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// raster is a plotter that fills a rectangle of the data area with an image
// painted for it, a pixel of the image a pixel of the canvas: no canvas has to
// blur it, and no figure grows with the number of its cells.
type raster struct {
	width, height float64 // the rectangle reaches from 0, 0
	paint         func(width, height int, dotsPerInch float64) image.Image
}

// DataRange implements plot.DataRanger.
func (r raster) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, r.width, 0, r.height }

// Plot implements plot.Plotter.
func (r raster) Plot(c draw.Canvas, p *plot.Plot) {
	area, width, height, dpi := r.area(c, p)
	img := r.paint(width, height, dpi)
	if _, ok := underlying(c).(*vgpdf.Canvas); ok {
		img = upsideDown{img}
	}
	c.DrawImage(area, img)
}

// area is the rectangle on the canvas, between its pixels, with its size in pixels and their
// resolution.
func (r raster) area(c draw.Canvas, p *plot.Plot) (area vg.Rectangle, width, height int, dpi float64) {
	dpi = resolution(underlying(c))
	pixel := vg.Inch / vg.Length(dpi)
	x, y := p.Transforms(&c)
	area.Min = vg.Point{X: snapped(x(0), pixel), Y: snapped(min(y(0), y(r.height)), pixel)}
	area.Max = vg.Point{X: snapped(x(r.width), pixel), Y: snapped(max(y(0), y(r.height)), pixel)}
	pixels := func(length vg.Length) int { return max(1, int(math.Round(float64(length/pixel)))) }
	return area, pixels(area.Size().X), pixels(area.Size().Y), dpi
}

// upsideDown undoes what the PDF canvas does to images.
type upsideDown struct{ image.Image }

// At implements image.Image.
func (u upsideDown) At(x, y int) color.Color {
	b := u.Bounds()
	return u.Image.At(x, b.Min.Y+b.Max.Y-1-y)
}

func snapped(x, pixel vg.Length) vg.Length {
	return pixel * vg.Length(math.Round(float64(x/pixel)))
}

// underlying is the canvas that all crops are of.
func underlying(c vg.Canvas) vg.Canvas {
	if crop, ok := c.(draw.Canvas); ok {
		return underlying(crop.Canvas)
	}
	return c
}

// resolution is the canvas's in dots per inch, or one fit for print if it draws
// vectors: a multiple of the notebook's, for which sheets are sized.
func resolution(c vg.Canvas) float64 {
	if png, ok := c.(vgimg.PngCanvas); ok {
		return png.DPI()
	}
	return 4 * dotsPerInch
}

// Package plotting draws the figures of machines and of their training: values in, a
// [Figure] out, to Show in a notebook or to Save as PNG, SVG or PDF.
//
// Log-probabilities are in nats. Values that are not finite are left out of a
// curve; a curve without any finite value is an error, which the Figure
// remembers until Save returns it or Show prints it.
package plotting

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Figure is one plot, or several side by side under a common title and
// legend.
type Figure struct {
	panels        []*plot.Plot
	width, height vg.Length // of the panels with their axes
	aspect        float64   // width over height of the data area of an image, 0 for curves
	legend        legend    // above curves, beside an image
	title         string
	err           error // what was wrong with the values, if anything
}

const (
	singleWidth  = 6 * vg.Inch
	doubleWidth  = 10 * vg.Inch
	usualHeight  = 3.6 * vg.Inch
	smallestSide = 2 * vg.Inch // for each panel
	largestSide  = 100 * vg.Inch
	margin       = vg.Length(8)
)

func newFigure(panels ...*plot.Plot) *Figure {
	width := singleWidth
	if len(panels) > 1 {
		width = doubleWidth
	}
	return &Figure{panels: panels, width: width, height: usualHeight}
}

func failed(err error) *Figure { return &Figure{err: fmt.Errorf("plotting: %w", err)} }

// Title returns a copy of the figure with another title, none if it is empty.
func (f *Figure) Title(title string) *Figure {
	c := *f
	c.title = title
	return &c
}

// Size returns a copy of the figure with another width and height, in inches.
// The title and the legend take space beyond it, so that panels of one size
// match.
func (f *Figure) Size(width, height float64) *Figure {
	c := *f
	c.width, c.height = vg.Length(width)*vg.Inch, vg.Length(height)*vg.Inch
	least := smallestSide * vg.Length(max(1, len(f.panels)))
	valid := c.width >= least && c.width <= largestSide && c.height >= smallestSide && c.height <= largestSide
	if c.err == nil && !valid {
		c.err = fmt.Errorf("plotting: a figure of %v × %v inches: use a width between %v and %v and a height between %v and %v",
			width, height, inches(least), inches(largestSide), inches(smallestSide), inches(largestSide))
	}
	return &c
}

func inches(length vg.Length) float64 { return float64(length / vg.Inch) }

// Panels returns the plots, left to right, for settings that this package does
// not have, such as Panels()[0].Y.Max = 100 to look at the end of training
// curves. Logarithmic axes hold decimal logarithms. Copies of a figure share
// their panels; a figure that remembers an error may have none.
func (f *Figure) Panels() []*plot.Plot { return f.panels }

// outerSize is the size of the figure with its title and legend.
func (f *Figure) outerSize() (width, height vg.Length) {
	width, height = f.width, f.height
	switch _, rows := f.legend.rows(f.width - 2*margin); {
	case f.aspect == 0:
		height += rows
	case len(f.legend) > 0:
		width += f.legend.width() + 2*margin
		height = max(height, rowHeight()*vg.Length(len(f.legend))+2*margin)
	}
	return width, height + f.titleHeight()
}

func (f *Figure) titleHeight() vg.Length {
	if f.title == "" {
		return 0
	}
	return titleStyle.Height(f.title) + margin
}

// draw draws the figure on a canvas of its outer size.
func (f *Figure) draw(canvas draw.Canvas) {
	canvas.SetColor(white)
	canvas.Fill(canvas.Rectangle.Path())
	canvas = draw.Crop(canvas, margin, -margin, margin, -margin)
	if f.title != "" {
		style := fitted(titleStyle, f.title, canvas.Size().X)
		canvas.FillText(style, vg.Point{X: canvas.Min.X, Y: canvas.Max.Y}, f.title)
		canvas.Max.Y -= f.titleHeight()
	}
	if f.aspect == 0 {
		f.drawCurves(canvas)
	} else {
		f.drawImage(canvas)
	}
}

// drawCurves draws the legend and, below it, the panels side by side.
func (f *Figure) drawCurves(canvas draw.Canvas) {
	f.legend.drawRows(canvas)
	_, height := f.legend.rows(canvas.Size().X)
	canvas.Max.Y -= height
	tiles := draw.Tiles{Rows: 1, Cols: len(f.panels), PadX: 3 * margin}
	for i, panel := range f.panels {
		tile := tiles.At(canvas, i, 0)
		fitLabels(panel, tile).Draw(tile)
	}
}

// drawImage draws the one panel with its aspect kept, and the legend beside it.
func (f *Figure) drawImage(canvas draw.Canvas) {
	tile := canvas
	if len(f.legend) > 0 {
		tile.Max.X -= f.legend.width() + 2*margin
	}
	panel := fitLabels(f.panels[0], tile)
	tile = keepAspect(panel, tile, f.aspect)
	panel.Draw(tile)
	f.legend.drawColumn(canvas, tile.Max.X+2*margin)
}

// fitLabels returns a copy of a panel with the labels of its axes no longer
// than the axes, for which gonum/plot finds no layout.
func fitLabels(panel *plot.Plot, tile draw.Canvas) *plot.Plot {
	c := *panel
	c.X.Label.TextStyle = fitted(c.X.Label.TextStyle, c.X.Label.Text, 0.7*tile.Size().X)
	c.Y.Label.TextStyle = fitted(c.Y.Label.TextStyle, c.Y.Label.Text, 0.7*tile.Size().Y)
	return &c
}

// keepAspect crops a tile, at the right or at the bottom, until the data area
// in it has the aspect wanted.
func keepAspect(panel *plot.Plot, tile draw.Canvas, aspect float64) draw.Canvas {
	size := panel.DataCanvas(tile).Size()
	wide := size.X - vg.Length(aspect)*size.Y
	if wide > 0 {
		return draw.Crop(tile, 0, -wide, 0, 0)
	}
	return draw.Crop(tile, 0, 0, -wide/vg.Length(aspect), 0)
}

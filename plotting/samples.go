package plotting

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	stddraw "image/draw"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Samples draws a sheet of images as a grid that is roughly square, row by row: 0
// black, 1 white, with crisp pixels, their aspect kept. Values outside [0, 1] are drawn
// as the nearer of the two.
func Samples(sheet dataset.Sheet) *Figure {
	if err := checkSheet(sheet); err != nil {
		return failed(err)
	}
	columns := columnsOf(len(sheet.Values), sheet.Shape)
	g := gallery{sheet, columns, (len(sheet.Values) + columns - 1) / columns}
	return g.figure(0)
}

// columnsOf returns the number of columns of a grid of n images: of those with full rows the nearest to
// a square, where one has at most twice the columns of a square, or at least half, and otherwise those of a
// square.
func columnsOf(n int, shape dataset.Shape) int {
	square := math.Sqrt(float64(n) * float64(shape.Height) / float64(shape.Width))
	best, least := min(max(int(math.Ceil(square)), 1), n), math.Ln2+2e-9
	for columns := n; columns >= 1; columns-- {
		if off := math.Abs(math.Log(float64(columns) / square)); n%columns == 0 && off < least-1e-9 {
			best, least = columns, off
		}
	}
	return best
}

// figure draws the grid, with space above it for what else is drawn.
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
	if missing := g.rows*g.columns - len(g.Values); missing > 0 { // in the last row
		stddraw.Draw(img, image.Rect(w-missing*(imageWidth+gap), h-imageHeight-gap, w, h), image.NewUniform(white), image.Point{}, stddraw.Src)
	}
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

// A Column is a sheet of images that stands below a heading.
type Column struct {
	Heading string // may be empty
	Sheet   dataset.Sheet
}

// SideBySide draws sheets of as many images as columns, so that a row holds an
// image of each, drawn as Samples does.
func SideBySide(columns ...Column) *Figure {
	if len(columns) == 0 {
		return failed(errors.New("no columns: nothing to draw"))
	}
	first := columns[0].Sheet
	for _, c := range columns {
		if err := checkSheet(c.Sheet); err != nil {
			return failed(fmt.Errorf("column %q: %w", c.Heading, err))
		}
		if c.Sheet.Shape != first.Shape || len(c.Sheet.Values) != len(first.Values) {
			return failed(fmt.Errorf("column %q has %d images of %v pixels, the first has %d of %v: give sheets of the same images",
				c.Heading, len(c.Sheet.Values), c.Sheet.Shape, len(first.Values), first.Shape))
		}
	}
	all := dataset.Sheet{Shape: first.Shape}
	for i := range first.Values {
		for _, c := range columns {
			all.Values = append(all.Values, c.Sheet.Values[i])
		}
	}
	g := gallery{all, len(columns), len(first.Values)}
	width, _ := g.figureSize()
	headings := headings{columns, g, headingStyle(columns, (width-2*margin)/vg.Length(len(columns)))}
	return g.figure(headings.height(), headings)
}

// headingStyle is that of headings which all fit above their columns.
func headingStyle(columns []Column, width vg.Length) text.Style {
	style := tickStyle
	for _, c := range columns {
		style = fitted(style, c.Heading, width-gapWidth)
	}
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	return style
}

// gapWidth is the width of the gaps between images.
const gapWidth = vg.Length(2)

// headings is a plotter that writes the headings of columns above those of a gallery.
type headings struct {
	columns []Column
	gallery gallery
	style   text.Style
}

// height is the space that the headings take, none where there are none.
func (h headings) height() vg.Length {
	if !slices.ContainsFunc(h.columns, func(c Column) bool { return c.Heading != "" }) {
		return 0
	}
	return h.style.Height("Hg") + 2*gapWidth
}

// Plot implements plot.Plotter.
func (h headings) Plot(c draw.Canvas, p *plot.Plot) {
	area, across, down, dpi := h.gallery.raster().area(c, p)
	width, _, gap := h.gallery.layout(across, down, dpi)
	for i, column := range h.columns {
		center := vg.Length(gap+i*(width+gap)+width/2) * vg.Inch / vg.Length(dpi)
		c.FillText(h.style, vg.Point{X: area.Min.X + center, Y: area.Max.Y + gapWidth}, column.Heading)
	}
}

// Inpainting draws images side by side (BiHM thesis 2016, Fig 3.1): as they were, with a part
// missing in grey, and as each chain has filled it in.
func Inpainting(p dataset.Inpainting) *Figure {
	columns := []Column{{"original", p.Originals}, {"given", p.Corrupted}}
	for i, images := range p.Images {
		columns = append(columns, Column{fmt.Sprintf("chain %d", i+1), images})
	}
	return SideBySide(columns...)
}

// Descents draws dreams layer by layer (BiHM thesis 2016, Figs 4.1–4.3), the sheets that
// Model.Descend returns: each row is a dream, and each column what becomes of it
// when all layers below the one in the heading are drawn anew.
func Descents(sheets []dataset.Sheet) *Figure {
	var columns []Column
	for i, sheet := range sheets {
		columns = append(columns, Column{"h" + superscript(i+1), sheet})
	}
	return SideBySide(columns...)
}

// superscript writes a number in raised digits.
func superscript(n int) string {
	return strings.Map(func(digit rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'] }, strconv.Itoa(n))
}

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
	if _, ok := underlying(c).(pdfCanvas); ok {
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

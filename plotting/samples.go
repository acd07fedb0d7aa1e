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
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Samples draws a sheet of images in a roughly square grid, row by row. 0 is black and 1 is white;
// values outside [0, 1] are clipped. Pixels stay crisp and keep their aspect ratio.
func Samples(sheet dataset.Sheet) *Figure {
	if err := checkSheet(sheet); err != nil {
		return failed(err)
	}
	columns := columnsOf(len(sheet.Values), sheet.Shape)
	g := gallery{sheet, columns, (len(sheet.Values) + columns - 1) / columns, 0}
	return g.figure(0)
}

// columnsOf returns the number of columns of a grid of n images. Among the grids without gaps in the last
// row, it chooses the grid closest to a square, if that has at least half and at most twice the columns of a
// square. Otherwise it chooses the square, whose last row may have gaps.
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

// figure draws the grid. It leaves the given space above the grid for other plotters.
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
		return errors.New("the sheet has no images: nothing to draw")
	}
	return sheet.Check()
}

// gallery arranges the images of a sheet in a grid, with gaps between and around them.
type gallery struct {
	dataset.Sheet
	columns, rows int
	least         vg.Length // width of a column with its gap
}

func (g gallery) raster() raster { return raster{1, 1, g.paint} }

func (g gallery) size(width, height, gap int) (int, int) {
	return g.columns*(width+gap) + gap, g.rows*(height+gap) + gap
}

// scale returns the factor by which to scale images so that the grid fits into the given size in
// pixels.
func (g gallery) scale(width, height, gap int) float64 {
	across := float64(width-(g.columns+1)*gap) / float64(g.columns*g.Shape.Width)
	down := float64(height-(g.rows+1)*gap) / float64(g.rows*g.Shape.Height)
	return min(across, down)
}

func (g gallery) image(scale float64) (width, height int) {
	return max(1, int(scale*float64(g.Shape.Width))), max(1, int(scale*float64(g.Shape.Height)))
}

// figureSize returns the size of the grid in a notebook, including the figure's margins. The size is
// usually about the default. Images are enlarged by a whole number, so that all their pixels have the same
// size. With many images, the figure grows before the images shrink, and columns keep their least width.
func (g gallery) figureSize() (width, height vg.Length) {
	const usualSide, greatestSide = 580, 1600 // pixels
	gap := gapIn(dotsPerInch)
	scale := g.scale(usualSide, usualSide, gap)
	if scale > 1 {
		scale = math.Round(scale)
	} else {
		scale = min(1, g.scale(greatestSide, greatestSide, gap))
	}
	if least := (math.Ceil(float64(g.least/vg.Inch)*dotsPerInch) - float64(gap)) / float64(g.Shape.Width); least > scale {
		scale = least
		if scale > 1 {
			scale = math.Ceil(scale)
		}
	}
	imageWidth, imageHeight := g.image(scale)
	w, h := g.size(imageWidth, imageHeight, gap)
	side := func(pixels int) vg.Length {
		return vg.Length(pixels)*vg.Inch/dotsPerInch + 2*margin
	}
	return side(w), side(h)
}

func gapIn(dotsPerInch float64) int { return max(1, int(2*dotsPerInch/72)) }

var gapColor = color.NRGBA{0x56, 0x86, 0xA8, 0xFF} // not a grey, so it differs from all image values

// layout returns the sizes of an image and of the gaps, in pixels, for a grid that fits into the
// given size in pixels.
func (g gallery) layout(width, height int, dotsPerInch float64) (imageWidth, imageHeight, gap int) {
	gap = gapIn(dotsPerInch)
	scale := g.scale(width, height, gap)
	if scale > 1 {
		scale = math.Floor(scale)
	}
	imageWidth, imageHeight = g.image(scale)
	return imageWidth, imageHeight, gap
}

// paint draws the grid at the upper left of an image of the given size, with nearest-neighbour
// scaling.
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

// A Column is a sheet of images below a heading.
type Column struct {
	Heading string // may be empty
	Sheet   dataset.Sheet
}

// SideBySide draws sheets as columns in the style of Samples, so that each row shows one image of
// each sheet. The sheets must have the same number and size of images. Columns stay wide enough for their
// headings, and the height of the figure grows with the number of images.
func SideBySide(columns ...Column) *Figure {
	if len(columns) == 0 {
		return failed(errors.New("there are no columns: nothing to draw"))
	}
	first := columns[0].Sheet
	for _, c := range columns {
		if err := checkSheet(c.Sheet); err != nil {
			return failed(fmt.Errorf("column %q: %w", c.Heading, err))
		}
		if c.Sheet.Shape != first.Shape || len(c.Sheet.Values) != len(first.Values) {
			return failed(fmt.Errorf("column %q has %d images of %v pixels, the first has %d of %v: give sheets with the same number and size of images",
				c.Heading, len(c.Sheet.Values), c.Sheet.Shape, len(first.Values), first.Shape))
		}
	}
	all := dataset.Sheet{Shape: first.Shape}
	for i := range first.Values {
		for _, c := range columns {
			all.Values = append(all.Values, c.Sheet.Values[i])
		}
	}
	least := 2 * headingGap
	for _, c := range columns {
		least = max(least, headingGap+tickStyle.Width(c.Heading)/2) // half the usual size is legible
	}
	g := gallery{all, len(columns), len(first.Values), least}
	width, _ := g.figureSize()
	headings := headings{columns, g, headingStyle(columns, (width-2*margin)/vg.Length(len(columns)))}
	return g.figure(headings.height(), headings)
}

// headingGap is the least width between two headings.
const headingGap = vg.Length(8)

// headingStyle returns a style in which all headings fit above their columns.
func headingStyle(columns []Column, width vg.Length) text.Style {
	style := tickStyle
	for _, c := range columns {
		style = fitted(style, c.Heading, width-headingGap)
	}
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	return style
}

// gapWidth is the width of the gaps between images.
const gapWidth = vg.Length(2)

// headings is a plotter that writes headings above the columns of a gallery.
type headings struct {
	columns []Column
	gallery gallery
	style   text.Style
}

// height returns the space that the headings take, or 0 if there are none.
func (h headings) height() vg.Length {
	if !slices.ContainsFunc(h.columns, func(c Column) bool { return c.Heading != "" }) {
		return 0
	}
	return h.style.Height("Hg") + 2*gapWidth
}

func (h headings) Plot(c draw.Canvas, p *plot.Plot) {
	area, across, down, dpi := h.gallery.raster().area(c, p)
	width, _, gap := h.gallery.layout(across, down, dpi)
	for i, column := range h.columns {
		center := vg.Length(gap+i*(width+gap)+width/2) * vg.Inch / vg.Length(dpi)
		c.FillText(h.style, vg.Point{X: area.Min.X + center, Y: area.Max.Y + gapWidth}, column.Heading)
	}
}

// Inpainting draws images side by side (BiHM thesis 2016, Fig 3.1): the originals, the images with
// the missing part in grey, and the result of each chain or draw.
func Inpainting(p dataset.Inpainting) *Figure {
	columns, what := []Column{{"original", p.Originals}, {"given", p.Corrupted}}, "chain"
	if p.Effective != nil {
		what = "draw"
	}
	for i, images := range p.Images {
		columns = append(columns, Column{fmt.Sprintf("%s %d", what, i+1), images})
	}
	return SideBySide(columns...)
}

// Descents draws dreams layer by layer (BiHM thesis 2016, Figs 4.1–4.3), from the sheets that
// Model.Descend returns: each row is a dream, and each column shows it after redrawing all layers
// below the layer in the heading.
func Descents(sheets []dataset.Sheet) *Figure {
	columns := lists.N(len(sheets), func(i int) Column { return Column{"h" + superscript(i+1), sheets[i]} })
	return SideBySide(columns...)
}

// superscript formats a number in raised digits.
func superscript(n int) string {
	return strings.Map(func(digit rune) rune { return []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'] }, strconv.Itoa(n))
}

// raster is a plotter that fills a rectangle of the data area with an image. It paints one image pixel per
// canvas pixel, so that no canvas blurs the image, and the size of the file does not grow with the number
// of cells.
type raster struct {
	width, height float64 // the rectangle starts at 0, 0
	paint         func(width, height int, dotsPerInch float64) image.Image
}

func (r raster) DataRange() (xmin, xmax, ymin, ymax float64) { return 0, r.width, 0, r.height }

func (r raster) Plot(c draw.Canvas, p *plot.Plot) {
	area, width, height, dpi := r.area(c, p)
	img := r.paint(width, height, dpi)
	if _, ok := underlying(c).(pdfCanvas); ok {
		img = upsideDown{img}
	}
	c.DrawImage(area, img)
}

// area returns the raster's rectangle on the canvas, aligned to pixels; its width and height in pixels;
// and the canvas's resolution in dots per inch.
func (r raster) area(c draw.Canvas, p *plot.Plot) (area vg.Rectangle, width, height int, dpi float64) {
	dpi = resolution(c)
	pixel := vg.Inch / vg.Length(dpi)
	x, y := p.Transforms(&c)
	area.Min = vg.Point{X: snapped(x(0), pixel), Y: snapped(min(y(0), y(r.height)), pixel)}
	area.Max = vg.Point{X: snapped(x(r.width), pixel), Y: snapped(max(y(0), y(r.height)), pixel)}
	pixels := func(length vg.Length) int { return max(1, int(math.Round(float64(length/pixel)))) }
	return area, pixels(area.Size().X), pixels(area.Size().Y), dpi
}

// upsideDown undoes the vertical flip that the PDF canvas applies to images.
type upsideDown struct{ image.Image }

func (u upsideDown) At(x, y int) color.Color {
	b := u.Bounds()
	return u.Image.At(x, b.Min.Y+b.Max.Y-1-y)
}

func snapped(x, pixel vg.Length) vg.Length {
	return pixel * vg.Length(math.Round(float64(x/pixel)))
}

// underlying returns the file format's canvas that c draws on.
func underlying(c vg.Canvas) vg.Canvas {
	switch of := c.(type) {
	case draw.Canvas:
		return underlying(of.Canvas)
	case *draw.Canvas:
		return underlying(of.Canvas)
	case themed:
		return underlying(of.Canvas)
	}
	return c
}

// resolution returns the resolution of the canvas in dots per inch. For vector formats, it returns four
// times the notebook's resolution, so that sheets, which are sized for the notebook, print sharply.
func resolution(c vg.Canvas) float64 {
	switch of := c.(type) {
	case draw.Canvas:
		return resolution(of.Canvas)
	case themed:
		return float64(of.theme.scale()) * resolution(of.Canvas)
	case vgimg.PngCanvas:
		return of.DPI()
	}
	return 4 * dotsPerInch
}

// Package plotting draws figures of machines and of their training. Its functions take values and return
// a [Figure], which Show displays in a notebook and Save writes as PNG, SVG or PDF.
//
// Log-probabilities are in nats. A curve omits values that are not finite; a curve without any
// finite value is an error, which the Figure remembers until Save returns it or Show prints it.
package plotting

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Figure is one plot, or several side by side with a common title and legend.
type Figure struct {
	panels        []*plot.Plot
	parts         []*Figure // figures side by side, instead of panels
	width, height vg.Length // of the file if whole, otherwise of the panels with their axes
	whole         bool
	theme         Theme
	dpi           int     // resolution of PNG files, or 0 for the default
	aspect        float64 // width over height of an image's data area, or 0 for curves
	legend        legend  // above curves, or to the right of an image
	title         string
	groups        int   // number of groups of SeedBands, or 0 for other figures
	columns       int   // number of panels side by side, or 0 for all
	err           error // error in the values, if any
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

// Title returns a copy of the figure with another title, or without one if it is empty.
func (f *Figure) Title(title string) *Figure {
	c := *f
	c.title = title
	return &c
}

// Size returns a copy of the figure whose file has the given width and height in inches. Save returns an
// error if the title and the legend leave too little room for the panels.
func (f *Figure) Size(width, height float64) *Figure {
	c := *f
	c.width, c.height, c.whole = vg.Length(width)*vg.Inch, vg.Length(height)*vg.Inch, true
	least := smallestSide * vg.Length(max(1, cmp.Or(f.columns, len(f.Panels()))))
	valid := c.width >= least && c.width <= largestSide && c.height >= smallestSide && c.height <= largestSide
	if c.err == nil && !valid {
		c.err = fmt.Errorf("plotting: the figure has %v × %v inches: use a width between %v and %v and a height between %v and %v",
			width, height, inches(least), inches(largestSide), inches(smallestSide), inches(largestSide))
	}
	return &c
}

func inches(length vg.Length) float64 { return float64(length / vg.Inch) }

// Panels returns the plots, from left to right, for the settings of gonum/plot: Panels()[0].Y.Max = 100
// zooms in on the end of training curves, and X.Label.Text and X.Tick.Marker set the label and the ticks of an axis.
// Logarithmic axes hold decimal logarithms. Copies of a figure share their panels; a figure that remembers an error may
// have none.
func (f *Figure) Panels() []*plot.Plot {
	all := slices.Clone(f.panels)
	for _, part := range f.parts {
		all = append(all, part.Panels()...)
	}
	return all
}

// Resolution returns a copy of the figure with another resolution of PNG images, in dots per inch. The
// default is 110; journals ask for 300 or more.
func (f *Figure) Resolution(dotsPerInch int) *Figure {
	c := *f
	c.dpi = dotsPerInch
	if c.err == nil && (dotsPerInch < 36 || dotsPerInch > 2400) {
		c.err = fmt.Errorf("plotting: a resolution of %v dots per inch: give a number from 36 to 2,400, such as 300", dotsPerInch)
	}
	return &c
}

// outerSize returns the size of the file.
func (f *Figure) outerSize() (width, height vg.Length) {
	if f.whole {
		return f.width, f.height
	}
	width, height = f.layout()
	return width * f.theme.scale(), height * f.theme.scale()
}

// layout returns the size of the figure with its title and legend, before the theme enlarges it.
func (f *Figure) layout() (width, height vg.Length) {
	if f.whole {
		return f.width / f.theme.scale(), f.height / f.theme.scale()
	}
	width, height = f.width, f.height
	switch _, rows := f.legend.rows(f.width - 2*margin); {
	case f.parts != nil:
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

// leastSide is the smallest width and height that the title and the legend must leave for each panel in a
// figure whose size Size has set.
const leastSide = vg.Inch

// checkRoom returns an error if the title and the legend leave too little room for the panels.
func (f *Figure) checkRoom() error {
	width, height := f.layout()
	for _, part := range f.shares(width, height) {
		if err := part.checkRoom(); err != nil {
			return err
		}
	}
	if !f.whole || f.parts != nil {
		return nil
	}
	width, height = width-2*margin, height-2*margin-f.titleHeight()
	if f.aspect == 0 {
		_, rows := f.legend.rows(width)
		height -= rows
	} else if len(f.legend) > 0 {
		width -= f.legend.width() + 2*margin
	}
	if width >= leastSide*vg.Length(cmp.Or(f.columns, len(f.panels))) && height >= leastSide*vg.Length(f.down()) {
		return nil
	}
	return fmt.Errorf("the title and the legend leave %.1f × %.1f of %.1f × %.1f inches for the panels: make the figure larger, or give shorter names with Names",
		max(0, inches(width)), max(0, inches(height)), inches(f.width), inches(f.height))
}

// shares returns the figures of a row, sized to fill the given width and height together. The width of
// each is in proportion to its original width.
func (f *Figure) shares(width, height vg.Length) []*Figure {
	total, all := vg.Length(0), make([]*Figure, len(f.parts))
	for _, part := range f.parts {
		own, _ := part.outerSize()
		total += own
	}
	for i, part := range f.parts {
		own, _ := part.outerSize()
		share := *part
		share.whole, share.theme, share.width, share.height = true, Paper, own/total*width, height
		all[i] = &share
	}
	return all
}

func (f *Figure) drawOn(canvas vg.CanvasSizer) {
	width, height := f.layout()
	if f.theme == Paper {
		f.draw(draw.NewCanvas(canvas, width, height))
		return
	}
	canvas.Scale(float64(f.theme.scale()), float64(f.theme.scale()))
	f.draw(draw.NewCanvas(themed{canvas, f.theme}, width, height))
}

func (f *Figure) draw(canvas draw.Canvas) {
	if f.parts != nil {
		size := canvas.Size()
		for _, part := range f.shares(size.X, size.Y) {
			canvas.Max.X = canvas.Min.X + part.width
			part.draw(canvas)
			canvas.Min.X = canvas.Max.X
		}
		return
	}
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
	tiles := draw.Tiles{Rows: f.down(), Cols: cmp.Or(f.columns, len(f.panels)), PadX: 3 * margin, PadY: margin}
	for i, panel := range f.panels {
		tile := tiles.At(canvas, i%tiles.Cols, i/tiles.Cols)
		fitLabels(panel, tile).Draw(tile)
	}
}

// down returns the number of rows of panels.
func (f *Figure) down() int {
	across := max(1, cmp.Or(f.columns, len(f.panels)))
	return (len(f.panels) + across - 1) / across
}

// drawImage draws the single panel with its aspect, and the legend to its right.
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

// fitLabels returns a copy of a panel. It shrinks the axis labels until they are no longer than the axes,
// because gonum/plot cannot lay out longer labels.
func fitLabels(panel *plot.Plot, tile draw.Canvas) *plot.Plot {
	c := *panel
	c.X.Label.TextStyle = fitted(c.X.Label.TextStyle, c.X.Label.Text, 0.7*tile.Size().X)
	c.Y.Label.TextStyle = fitted(c.Y.Label.TextStyle, c.Y.Label.Text, 0.7*tile.Size().Y)
	return &c
}

// keepAspect crops a tile at the right or at the bottom until its data area has the given aspect.
func keepAspect(panel *plot.Plot, tile draw.Canvas, aspect float64) draw.Canvas {
	size := panel.DataCanvas(tile).Size()
	wide := size.X - vg.Length(aspect)*size.Y
	if wide > 0 {
		return draw.Crop(tile, 0, -wide, 0, 0)
	}
	return draw.Crop(tile, 0, 0, -wide/vg.Length(aspect), 0)
}

// legend is drawn outside the panels, so that it never covers data.
type legend []legendEntry

type legendEntry struct {
	text   string
	thumbs []plot.Thumbnailer // drawn on top of each other; empty for a remark
}

const (
	thumbWidth = vg.Length(20)
	thumbGap   = vg.Length(4)
	columnGap  = vg.Length(12)
	rowGap     = vg.Length(4)
)

// add adds an entry, unless it has no text: a single quantity needs no name.
func (l *legend) add(text string, thumbs ...plot.Thumbnailer) {
	if text == "" {
		return
	}
	*l = append(*l, legendEntry{shortened(text), thumbs})
}

// addArea adds an entry for a line with an area in a colour.
func (l *legend) addArea(text string, c color.NRGBA) {
	l.add(text, &plotter.Polygon{Color: translucent(c)}, sample(in(c, solid)))
}

// shortened cuts off a text after 70 characters, so that a long name cannot push others off the figure.
func shortened(text string) string {
	const longest = 70
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return text
}

func sample(style draw.LineStyle) plot.Thumbnailer { return &plotter.Line{LineStyle: style} }

func (e legendEntry) width() vg.Length {
	width := legendStyle.Width(e.text)
	if len(e.thumbs) > 0 {
		width += thumbWidth + thumbGap
	}
	return width
}

func (l legend) width() (widest vg.Length) {
	for _, e := range l {
		widest = max(widest, e.width())
	}
	return widest
}

// rows places the entries from left to right, and begins a new row where an entry would exceed the given
// width. It returns the upper left corner of each entry, relative to the first, and the total height.
func (l legend) rows(width vg.Length) (corners []vg.Point, height vg.Length) {
	var at vg.Point
	for i, e := range l {
		if i > 0 && at.X+e.width() > width {
			at = vg.Point{X: 0, Y: at.Y - rowHeight()}
		}
		corners = append(corners, at)
		at.X += e.width() + columnGap
	}
	if len(l) == 0 {
		return nil, 0
	}
	return corners, rowHeight() + rowGap - at.Y
}

func (l legend) drawRows(c draw.Canvas) {
	corners, _ := l.rows(c.Size().X)
	for i, e := range l {
		e.draw(c, corners[i].Add(vg.Point{X: c.Min.X, Y: c.Max.Y}))
	}
}

func (l legend) drawColumn(c draw.Canvas, x vg.Length) {
	for i, e := range l {
		e.draw(c, vg.Point{X: x, Y: c.Max.Y - vg.Length(i)*rowHeight()})
	}
}

func rowHeight() vg.Length { return legendStyle.Height("M") + rowGap }

// draw draws an entry with its upper left corner at a point.
func (e legendEntry) draw(c draw.Canvas, at vg.Point) {
	height := legendStyle.Height("M")
	if len(e.thumbs) > 0 {
		thumb := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: at.X, Y: at.Y - height},
			Max: vg.Point{X: at.X + thumbWidth, Y: at.Y - 1},
		}}
		for _, t := range e.thumbs {
			t.Thumbnail(&thumb)
		}
		at.X += thumbWidth + thumbGap
	}
	c.FillText(fitted(legendStyle, e.text, c.Max.X-at.X), at, e.text)
}

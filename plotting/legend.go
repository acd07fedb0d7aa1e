package plotting

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legend lies outside the panels, so that it never covers data.
type legend []legendEntry

type legendEntry struct {
	text   string
	thumbs []plot.Thumbnailer // drawn over one another; none for a remark
}

const (
	thumbWidth = vg.Length(20)
	thumbGap   = vg.Length(4)
	columnGap  = vg.Length(12)
	rowGap     = vg.Length(4)
)

func (l *legend) add(text string, thumbs ...plot.Thumbnailer) {
	*l = append(*l, legendEntry{shortened(text), thumbs})
}

// shortened keeps one long name from pushing the others off the figure.
func shortened(text string) string {
	const longest = 70
	if runes := []rune(text); len(runes) > longest {
		return string(runes[:longest-1]) + "…"
	}
	return text
}

// sample is a thumbnail for a style that no single plotter has.
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

// rows places the entries from left to right, in as many rows of a width as
// they need: the upper left corner of each, from that of the first, and the
// height of all.
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

// drawRows draws the entries along the top of a canvas.
func (l legend) drawRows(c draw.Canvas) {
	corners, _ := l.rows(c.Size().X)
	for i, e := range l {
		e.draw(c, corners[i].Add(vg.Point{X: c.Min.X, Y: c.Max.Y}))
	}
}

// drawColumn draws the entries one below the other, from the top of a canvas.
func (l legend) drawColumn(c draw.Canvas, x vg.Length) {
	for i, e := range l {
		e.draw(c, vg.Point{X: x, Y: c.Max.Y - vg.Length(i)*rowHeight()})
	}
}

func rowHeight() vg.Length { return legendStyle.Height("M") + rowGap }

// draw draws an entry whose upper left corner is at a point.
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
	c.FillText(legendStyle, at, e.text)
}

package plotting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

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
	var digits []rune
	for _, d := range fmt.Sprint(n) {
		digits = append(digits, []rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[d-'0'])
	}
	return string(digits)
}

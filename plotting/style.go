package plotting

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// palette holds the colours of Okabe and Ito, which readers with any colour
// vision tell apart, without the yellow, which a thin line on white loses.
var palette = []color.NRGBA{
	{0x00, 0x72, 0xB2, 0xFF}, // blue
	{0xD5, 0x5E, 0x00, 0xFF}, // vermilion
	{0x00, 0x9E, 0x73, 0xFF}, // bluish green
	{0xCC, 0x79, 0xA7, 0xFF}, // reddish purple
	{0xE6, 0x9F, 0x00, 0xFF}, // orange
	{0x56, 0xB4, 0xE9, 0xFF}, // sky blue
	{0x00, 0x00, 0x00, 0xFF}, // black
}

var (
	white     = color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
	ink       = color.NRGBA{0x33, 0x33, 0x33, 0xFF}
	gray      = color.NRGBA{0x99, 0x99, 0x99, 0xFF}
	lightGray = color.NRGBA{0xE2, 0xE2, 0xE2, 0xFF}
)

// paletteColor returns the palette's colours in turn, then their pale versions.
func paletteColor(i int) color.NRGBA {
	c := palette[i%len(palette)]
	if i/len(palette)%2 == 1 {
		c.R, c.G, c.B = c.R/2+0x70, c.G/2+0x70, c.B/2+0x70
	}
	return c
}

// translucent is the colour of an area under lines.
func translucent(c color.NRGBA) color.NRGBA {
	c.A = 0x38
	return c
}

var (
	solid  = draw.LineStyle{Color: ink, Width: vg.Points(1.5)}
	dashed = draw.LineStyle{Color: ink, Width: vg.Points(1.5), Dashes: []vg.Length{5, 3}}
	dotted = draw.LineStyle{Color: gray, Width: vg.Points(1), Dashes: []vg.Length{1.5, 2}}
	thin   = draw.LineStyle{Color: gray, Width: vg.Points(0.5)}
)

func in(c color.Color, style draw.LineStyle) draw.LineStyle {
	style.Color = c
	return style
}

var (
	titleStyle  = sans(11, true)
	labelStyle  = sans(10, false)
	tickStyle   = sans(9, false)
	legendStyle = sans(9, false)
)

func sans(size vg.Length, bold bool) text.Style {
	style := text.Style{
		Color:   ink,
		Font:    font.Font{Typeface: "Liberation", Variant: "Sans", Size: size},
		YAlign:  draw.YTop,
		Handler: outlines{text.Plain{Fonts: font.DefaultCache}},
	}
	if bold {
		style.Font.Weight = boldWeight
	}
	return style
}

// fitted shrinks a style until the text is no wider than the width.
func fitted(style text.Style, txt string, width vg.Length) text.Style {
	if w := style.Width(txt); w > width {
		style.Font.Size *= width / w
	}
	return style
}

// newPanel returns an empty plot with a light grid and labelled linear axes.
func newPanel(x, y string) *plot.Plot {
	p := plot.New()
	p.TextHandler = labelStyle.Handler
	p.X.Label.Text, p.Y.Label.Text = x, y
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		label, tick := axis.Label.TextStyle, axis.Tick.Label
		label.Font, label.Color, label.Handler = labelStyle.Font, ink, labelStyle.Handler
		tick.Font, tick.Color, tick.Handler = tickStyle.Font, ink, tickStyle.Handler
		axis.Label.TextStyle, axis.Tick.Label = label, tick
		axis.Label.Padding = vg.Points(3)
		axis.LineStyle.Color, axis.Tick.LineStyle.Color = gray, gray
		axis.Tick.Length = vg.Points(4)
		axis.Tick.Marker = linearTicks{}
	}
	grid := draw.LineStyle{Color: lightGray, Width: vg.Points(0.5)}
	p.Add(&plotter.Grid{Vertical: grid, Horizontal: grid})
	return p
}

// padY leaves a margin between the values and the frame.
func padY(p *plot.Plot) {
	pad := 0.04 * (p.Y.Max - p.Y.Min)
	if pad == 0 {
		pad = max(1, math.Abs(p.Y.Max)/10)
	}
	p.Y.Min, p.Y.Max = p.Y.Min-pad, p.Y.Max+pad
}

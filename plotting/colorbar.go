package plotting

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	gonumpalette "gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat holds colours from dark to bright whose lightness is linear in a number
// from 0 to 1: readers see equal differences as equal, in print without colours
// and with any colour vision, too.
var heat = newHeat()

func newHeat() gonumpalette.ColorMap {
	heat, err := moreland.NewLuminance([]color.Color{ // those of viridis
		color.NRGBA{0x44, 0x01, 0x54, 0xFF}, // purple
		color.NRGBA{0x3B, 0x52, 0x8B, 0xFF}, // blue
		color.NRGBA{0x21, 0x91, 0x8C, 0xFF}, // teal
		color.NRGBA{0x5E, 0xC9, 0x62, 0xFF}, // green
		color.NRGBA{0xFD, 0xE7, 0x25, 0xFF}, // yellow
	})
	if err != nil {
		panic(err)
	}
	heat.SetMax(1)
	return heat
}

// colorScale gives values colours, from that of the least, the brightest, to
// that of most and all above.
type colorScale struct {
	least, most float64
	greatest    float64 // of the values, where it is above most
}

// newColorScale leaves values more than five times as far above the least as the
// median out of the range of colours: a run that nearly diverged would take the
// colours from the others.
func newColorScale(values []float64) colorScale {
	sorted := slices.Sorted(slices.Values(values))
	least, median, greatest := sorted[0], sorted[len(sorted)/2], sorted[len(sorted)-1]
	s := colorScale{least, greatest, greatest}
	if median > least {
		s.most = min(greatest, least+5*(median-least))
	}
	if s.most == least {
		s.most = least + max(1, 1e-12*math.Abs(least)) // any range will do
	}
	return s
}

func (s colorScale) color(value float64) color.NRGBA {
	c, err := heat.At(1 - min((value-s.least)/(s.most-s.least), 1))
	if err != nil {
		panic(err) // the argument is in [0, 1]
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA)
}

// readableOn is black or white, for text on a colour.
func readableOn(c color.NRGBA) color.Color {
	if color.GrayModel.Convert(c).(color.Gray).Y < 0x68 {
		return color.White
	}
	return color.Black
}

// colorBar is a plotter that draws a scale to the right of the data area.
type colorBar struct {
	scale colorScale
	label string
}

const (
	barGap    = vg.Length(12) // beside the data area
	barWidth  = vg.Length(12)
	barLabels = barGap + barWidth + vg.Length(4) // where the labels of ticks begin
)

func (b colorBar) ticks() []plot.Tick {
	return linearTicks{}.Ticks(b.scale.least, b.scale.most)
}

// above labels the tip that the bar has where values are above its range.
func (b colorBar) above() string {
	if b.scale.greatest <= b.scale.most {
		return ""
	}
	return "up to " + significant(b.scale.greatest, 3)
}

func (b colorBar) widestLabel() vg.Length {
	width := tickStyle.Width(b.above())
	for _, t := range b.ticks() {
		width = max(width, tickStyle.Width(t.Label))
	}
	return width
}

// GlyphBoxes implements plot.GlyphBoxer: it asks for the space of the bar.
func (b colorBar) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	width := barLabels + b.widestLabel() + margin/2 + labelStyle.Height(b.label)
	return []plot.GlyphBox{{X: 1, Rectangle: vg.Rectangle{Max: vg.Point{X: width}}}}
}

// Plot implements plot.Plotter.
func (b colorBar) Plot(c draw.Canvas, _ *plot.Plot) {
	bar := vg.Rectangle{
		Min: vg.Point{X: c.Max.X + barGap, Y: c.Min.Y},
		Max: vg.Point{X: c.Max.X + barGap + barWidth, Y: c.Max.Y},
	}
	style := tickStyle
	style.YAlign = draw.YCenter
	labels := c.Max.X + barLabels
	if above := b.above(); above != "" {
		tip := bar.Max.Y
		bar.Max.Y -= barWidth
		c.FillPolygon(b.scale.color(b.scale.greatest), []vg.Point{
			{X: bar.Min.X, Y: bar.Max.Y}, bar.Max, {X: (bar.Min.X + bar.Max.X) / 2, Y: tip},
		})
		c.FillText(style, vg.Point{X: labels, Y: tip - 2}, above)
	}
	at := func(value float64) vg.Length {
		return bar.Min.Y + bar.Size().Y*vg.Length((value-b.scale.least)/(b.scale.most-b.scale.least))
	}
	// Each colour reaches to the top, so that no seam shows between them.
	const colors = 128
	for i := range colors {
		value := b.scale.least + (b.scale.most-b.scale.least)*(float64(i)/colors)
		part := bar
		part.Min.Y = at(value)
		c.FillPolygon(b.scale.color(value), corners(part))
	}
	for _, t := range b.ticks() {
		y := at(t.Value)
		c.StrokeLine2(draw.LineStyle{Color: gray, Width: vg.Points(0.5)}, bar.Max.X, y, bar.Max.X+2, y)
		c.FillText(style, vg.Point{X: labels, Y: y}, t.Label)
	}
	label := fitted(labelStyle, b.label, c.Size().Y)
	label.Rotation, label.XAlign = math.Pi/2, draw.XCenter
	c.FillText(label, vg.Point{X: labels + b.widestLabel() + margin/2, Y: c.Center().Y}, b.label)
}

package plotting

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// An Axis is the label of a quantity, with its unit, and its scale.
type Axis struct {
	Label       string
	Logarithmic bool
}

// Measured holds a quantity, Y, measured at some values of another quantity, X.
type Measured struct {
	Name   string
	X, Y   []float64
	Spread []float64 // spread around each Y; nil if unknown
	// SpreadName describes Spread for the legend: "± 1 sd over 3 seeds".
	SpreadName string
}

// Measurements draws measured quantities against another, such as the results of runs at several
// learning rates. Each quantity has a colour; its bars extend by Spread below and above each Y. A
// logarithmic axis omits values that are not positive, and a bar that would extend to such values starts
// at the axis.
func Measurements(x, y Axis, measured ...Measured) *Figure {
	if len(measured) == 0 {
		return failed(errors.New("no measurements to draw: give at least one"))
	}
	of := chart{x: x.Label, y: y.Label, xTicks: x.ticks(), yTicks: y.ticks()}
	var spreads []string
	for i, m := range measured {
		c, err := m.curve(x, y, paletteColor(i))
		if err != nil {
			return failed(err)
		}
		of.curves = append(of.curves, c)
		if m.Spread != nil && !slices.Contains(spreads, m.SpreadName) {
			spreads = append(spreads, m.SpreadName)
		}
	}
	f, _ := drawn(of)
	for i, m := range measured {
		f.legend.add(m.Name, sample(in(paletteColor(i), solid)))
	}
	for _, name := range spreads {
		f.legend.add(name, bar{style: spreadStyle(ink)})
	}
	return f
}

func (m Measured) curve(x, y Axis, color color.NRGBA) (curve, error) {
	c := curve{what: m.Name, style: in(color, solid), bars: []plot.Plotter{}}
	if len(m.Y) != len(m.X) || m.Spread != nil && len(m.Spread) != len(m.Y) {
		return c, fmt.Errorf("%s has %d values and %d spreads at %d points", m.Name, len(m.Y), len(m.Spread), len(m.X))
	}
	if m.Spread != nil && m.SpreadName == "" {
		return c, fmt.Errorf("%s has spreads without a SpreadName: describe them, such as ± 1 sd over 3 seeds", m.Name)
	}
	if !y.Logarithmic {
		c.spread = m.Spread
	}
	for i, value := range m.Y {
		at := plotter.XY{X: x.place(m.X[i]), Y: y.place(value)}
		c.points = append(c.points, at)
		if m.Spread == nil {
			continue
		}
		low, high := y.place(value-m.Spread[i]), y.place(value+m.Spread[i])
		if plotter.CheckFloats(low) != nil && y.Logarithmic {
			low = math.Inf(-1)
		}
		if plotter.CheckFloats(at.X, at.Y, high) == nil {
			c.bars = append(c.bars, bar{at.X, low, high, spreadStyle(color)})
		}
	}
	return c, nil
}

func spreadStyle(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: solid.Width / 2}
}

// bar is a vertical line from low to high. Its ends are at most at the edges of the panel.
type bar struct {
	x, low, high float64
	style        draw.LineStyle
}

func (b bar) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if low, high := max(b.low, p.Y.Min), min(b.high, p.Y.Max); low < high {
		c.StrokeLine2(b.style, x(b.x), y(low), x(b.x), y(high))
	}
}

// DataRange returns the range of the bar, or only its top if low is −∞.
func (b bar) DataRange() (xmin, xmax, ymin, ymax float64) {
	if math.IsInf(b.low, -1) {
		return b.x, b.x, b.high, b.high
	}
	return b.x, b.x, b.low, b.high
}

func (b bar) Thumbnail(c *draw.Canvas) {
	x := c.Center().X
	c.StrokeLine2(b.style, x, c.Min.Y, x, c.Max.Y)
}

func (a Axis) ticks() plot.Ticker {
	if a.Logarithmic {
		return logTicks{}
	}
	return linearTicks{}
}

// place returns the position of a value on the axis: its decimal logarithm on a logarithmic axis.
func (a Axis) place(value float64) float64 {
	if a.Logarithmic {
		return math.Log10(value)
	}
	return value
}

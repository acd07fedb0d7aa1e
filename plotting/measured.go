package plotting

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// An Axis is what a quantity is called, with its unit, and how it is scaled.
type Axis struct {
	Label       string
	Logarithmic bool
}

// Measured is a quantity measured at some values of another.
type Measured struct {
	Name   string
	X, Y   []float64
	Spread []float64 // of each Y, to either side; nil where it is not known
}

// Measurements draws measured quantities against another, such as what runs of
// several learning rates reached: a colour a quantity, with bars of one spread
// to either side. Values that are not positive are left out of logarithmic
// axes.
func Measurements(x, y Axis, measured ...Measured) *Figure {
	if len(measured) == 0 {
		return failed(errors.New("no measurements to draw: give at least one"))
	}
	panel := newPanel(x.Label, y.Label)
	x.mark(&panel.X)
	y.mark(&panel.Y)
	f := newFigure(panel)
	for i, m := range measured {
		if err := addMeasured(panel, x, y, m, colour(i)); err != nil {
			return failed(err)
		}
		f.legend.add(m.Name, sample(in(colour(i), solid)))
	}
	padY(panel)
	return f
}

func addMeasured(panel *plot.Plot, x, y Axis, m Measured, c color.NRGBA) error {
	if len(m.Y) != len(m.X) || m.Spread != nil && len(m.Spread) != len(m.Y) {
		return fmt.Errorf("%s has %d values and %d spreads at %d places", m.Name, len(m.Y), len(m.Spread), len(m.X))
	}
	line := in(c, solid)
	var points plotter.XYs
	for i, value := range m.Y {
		points = append(points, plotter.XY{X: x.place(m.X[i]), Y: y.place(value)})
		if m.Spread == nil {
			continue
		}
		bar := plotter.XYs{
			{X: points[i].X, Y: y.place(value - m.Spread[i])},
			{X: points[i].X, Y: y.place(value + m.Spread[i])},
		}
		if len(finite(bar)) == len(bar) {
			panel.Add(&plotter.Line{XYs: bar, LineStyle: draw.LineStyle{Color: c, Width: line.Width / 2}})
		}
	}
	return addLine(panel, m.Name, points, line)
}

func (a Axis) mark(axis *plot.Axis) {
	if a.Logarithmic {
		axis.Tick.Marker = logTicks{}
	}
}

// place is where a value lies on the axis: its decimal logarithm on a
// logarithmic one.
func (a Axis) place(value float64) float64 {
	if a.Logarithmic {
		return math.Log10(value)
	}
	return value
}

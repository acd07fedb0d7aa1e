package plotting

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// panel is a plot together with the numbers drawn in it.
type panel struct {
	*plot.Plot
	series []series
}

// series holds numbers in the coordinates of a panel: decimal logarithms on a logarithmic axis.
type series struct {
	name   string
	points plotter.XYs // X is NaN for a line across the panel
	spread []float64   // of Y; nil if there is none
	values []float64   // at the points of a map; nil for a curve
}

func (p *panel) keep(s series) { p.series = append(p.series, s) }

func (p *panel) keepImages(sheet dataset.Sheet) {
	for i, values := range sheet.Values {
		s := series{name: fmt.Sprintf("image %d", i+1), values: values}
		for k := range values {
			s.points = append(s.points, plotter.XY{X: float64(k%sheet.Shape.Width + 1), Y: float64(k/sheet.Shape.Width + 1)})
		}
		p.keep(s)
	}
}

// Numbers returns a table of the numbers that the figure draws. It has one row per point with its panel, its
// series, x, y, and the spread of y. Maps and images also have a value at each x and y; the x and y of pixels
// are counted from 1. A line across a panel has no x. Save writes this table if its path ends in .csv.
func (f *Figure) Numbers() (*runs.Table, error) {
	if f.err != nil {
		return nil, f.err
	}
	t := runs.NewTable("figure", f.title, runs.Column{Key: "panel", Kind: runs.Integer}, runs.Column{Key: "series"}, runs.Column{Key: "x", Kind: runs.Number},
		runs.Column{Key: "y", Kind: runs.Number}, runs.Column{Key: "spread", Kind: runs.Number}, runs.Column{Key: "value", Kind: runs.Number})
	for i, p := range f.allPanels() {
		for _, s := range p.series {
			x, y := p.X.Tick.Marker, p.Y.Tick.Marker
			for k, point := range s.points {
				spread, value := math.NaN(), math.NaN()
				if s.spread != nil {
					spread = s.spread[k]
				}
				if s.values != nil {
					value = s.values[k]
				}
				t.Add(i+1, s.name, original(point.X, x), original(point.Y, y), spread, value)
			}
		}
	}
	if len(t.Rows()) == 0 {
		return nil, errors.New("plotting: the figure draws no numbers: save it as .png, .svg or .pdf")
	}
	return t.WithoutMissing(), nil
}

// original returns the value at a position of an axis. On a logarithmic axis, it rounds to 12 significant digits.
func original(at float64, ticks plot.Ticker) float64 {
	if !logarithmic(ticks) {
		return at
	}
	value, _ := strconv.ParseFloat(strconv.FormatFloat(math.Pow(10, at), 'g', 12, 64), 64)
	return value
}

func logarithmic(ticks plot.Ticker) bool {
	_, is := ticks.(logTicks)
	return is
}

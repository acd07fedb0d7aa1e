package plotting

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// finite returns the points that can be drawn.
func finite(points plotter.XYs) plotter.XYs {
	return slices.DeleteFunc(slices.Clone(points), func(p plotter.XY) bool {
		return plotter.CheckFloats(p.X, p.Y) != nil
	})
}

// mostPoints is the most that a curve is drawn with: the canvases take time
// more than proportional to them, and a figure is not so many pixels wide.
const mostPoints = 1000

// thinned returns at most mostPoints of the points of a curve: the first, the
// last and, of each of as many equal runs between as fit, the lowest and the
// highest, so that no excursion is lost.
func thinned(points plotter.XYs) plotter.XYs {
	if len(points) <= mostPoints {
		return points
	}
	const runs = (mostPoints - 2) / 2
	between := points[1 : len(points)-1]
	kept := plotter.XYs{points[0]}
	for i := range runs {
		low := i * len(between) / runs
		high := low
		for j := low; j < (i+1)*len(between)/runs; j++ {
			if between[j].Y < between[low].Y {
				low = j
			}
			if between[j].Y > between[high].Y {
				high = j
			}
		}
		kept = append(kept, between[min(low, high)])
		if low != high {
			kept = append(kept, between[max(low, high)])
		}
	}
	return append(kept, points[len(points)-1])
}

// addLine draws a curve; what names it in the error for one without any finite
// point. Few points are marked, so that one alone shows.
func addLine(p *plot.Plot, what string, points plotter.XYs, style draw.LineStyle) error {
	drawable := finite(points)
	if len(drawable) == 0 {
		return fmt.Errorf("%s has no finite value among %d: nothing to draw", what, len(points))
	}
	drawable = thinned(drawable)
	p.Add(&plotter.Line{XYs: drawable, LineStyle: style})
	const fewPoints = 30
	if len(drawable) <= fewPoints {
		p.Add(&plotter.Scatter{XYs: drawable, GlyphStyle: draw.GlyphStyle{
			Color: style.Color, Radius: vg.Points(1) + style.Width/2, Shape: draw.CircleGlyph{},
		}})
	}
	return nil
}

// curve is a line with a spread to either side of each point, nil where none is known.
type curve struct {
	what   string // names it in the error for one without any finite point
	points plotter.XYs
	spread []float64
	style  draw.LineStyle
}

// addCurves draws the bands of curves and above all of these their lines. It says which have a band.
func addCurves(p *plot.Plot, curves ...curve) (banded []bool, err error) {
	for _, c := range curves {
		banded = append(banded, c.spread != nil && addBand(p, c.points, c.spread, c.style.Color.(color.NRGBA)) != nil)
	}
	for _, c := range curves {
		if err := addLine(p, c.what, c.points, c.style); err != nil {
			return banded, err
		}
	}
	return banded, nil
}

// addBand fills the area of one spread to either side of the points, where
// both are finite, and returns it for the legend: nil where there is none.
func addBand(p *plot.Plot, points plotter.XYs, spread []float64, c color.NRGBA) *plotter.Polygon {
	var upper, lower plotter.XYs
	for i, point := range points {
		if plotter.CheckFloats(point.X, point.Y, spread[i]) == nil {
			upper = append(upper, plotter.XY{X: point.X, Y: point.Y + spread[i]})
			lower = append(lower, plotter.XY{X: point.X, Y: point.Y - spread[i]})
		}
	}
	if len(upper) == 0 {
		return nil
	}
	back := slices.Clone(thinned(lower))
	slices.Reverse(back)
	band := &plotter.Polygon{XYs: []plotter.XYs{append(slices.Clone(thinned(upper)), back...)}, Color: translucent(c)}
	p.Add(band)
	return band
}

// meanAndSD returns the mean of the finite values and their standard deviation
// (n − 1), which is NaN for fewer than two.
func meanAndSD(values []float64) (mean, sd float64) {
	values = finiteValues(values)
	n := float64(len(values))
	for _, v := range values {
		mean += v
	}
	mean /= n
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(sd / max(n-1, 0)) // 0/0 is NaN
}

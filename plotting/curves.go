package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// objective returns the common objective of histories. Figures draw it so that lower is better.
func objective(histories []runs.History) (runs.Measure, error) {
	for _, h := range histories {
		if h.Err != nil {
			return runs.Measure{}, h.Err
		}
	}
	if len(histories) == 0 {
		return runs.LogP, nil
	}
	first := histories[0].Objective()
	for _, h := range histories[1:] {
		if other := h.Objective(); other.Key != first.Key {
			return first, fmt.Errorf("%s improves %s, but %s improves %s: draw histories of the same objective together", histories[0].Name, first.Label, h.Name, other.Label)
		}
	}
	return first, nil
}

// loss returns the axis label of a measure, and the sign with which figures draw its values. A measure
// that rises is negated, so that lower is always better.
func loss(m runs.Measure) (label string, sign float64) {
	if m.Rises {
		return withUnit("−"+m.Label, m.Unit), -1
	}
	return withUnit(m.Label, m.Unit), 1
}

func withUnit(label, unit string) string {
	if unit == "" {
		return label
	}
	return label + " (" + unit + ")"
}

// Curves draws the objective, −log p(x) for most models, against the epoch: training solid,
// validation dashed, one colour per run. A thin horizontal line is the baseline, usually of a
// factorised model, if it lies within the curves or near them.
func Curves(histories ...runs.History) *Figure { return curves(histories, byEpoch) }

// CurvesByTime is like Curves, but against the wall-clock time of training.
func CurvesByTime(histories ...runs.History) *Figure { return curves(histories, byTime(histories)) }

// CurvesByEpochAndTime draws Curves and CurvesByTime side by side.
func CurvesByEpochAndTime(histories ...runs.History) *Figure {
	return curves(histories, byEpoch, byTime(histories))
}

// CurvesByStep is like Curves, but against the step. Its histories hold the steps that a run recorded
// (see runs.Run.Steps), or the epochs of a run.
func CurvesByStep(histories ...runs.History) *Figure { return curves(histories, byStep) }

// abscissa is the quantity that training curves are drawn against.
type abscissa struct {
	label string
	of    func(runs.Epoch) float64
	ticks linearTicks
	align func(seeds []plotter.XYs) []plotter.XYs // moves the points of all seeds to common x; nil if they have common x already
}

var (
	byEpoch = abscissa{"epoch", func(e runs.Epoch) float64 { return float64(e.Epoch) }, linearTicks{integers: true}, nil}
	byStep  = abscissa{"step", func(e runs.Epoch) float64 { return float64(e.Step) }, linearTicks{integers: true}, nil}
)

// byTime chooses the unit of time that suits the longest run.
func byTime(histories []runs.History) abscissa {
	longest := 0.0
	for _, h := range histories {
		for _, e := range h.Epochs {
			longest = max(longest, e.Seconds)
		}
	}
	unit, seconds := "s", 1.0
	switch {
	case longest > 3*3600:
		unit, seconds = "h", 3600
	case longest > 10*60:
		unit, seconds = "min", 60
	}
	return abscissa{
		label: fmt.Sprintf("wall-clock time of training (%s)", unit),
		of:    func(e runs.Epoch) float64 { return e.Seconds / seconds },
	}
}

func curves(histories []runs.History, abscissas ...abscissa) *Figure {
	if len(histories) == 0 {
		return failed(errors.New("no histories to draw: give the history of at least one run"))
	}
	objective, err := objective(histories)
	if err != nil {
		return failed(err)
	}
	label, _ := loss(objective)
	var charts []chart
	baseline, validated := "", false
	for _, x := range abscissas {
		c := chart{x: x.label, y: label, xTicks: x.ticks, around: func(p *plot.Plot) { baseline = addBaselines(p, histories) }}
		for i, h := range histories {
			for _, of := range trainedOn {
				points, name := objectivePoints(h, x, of.heldOut), runName(h, i)
				switch {
				case len(points) > 0:
					c.curves = append(c.curves, curve{what: of.name + " " + objective.Name + " of " + name, points: points, style: in(paletteColor(i), of.style)})
					validated = validated || of.heldOut
				case !of.heldOut:
					return failed(fmt.Errorf("%s has no epochs: train it first", name))
				}
			}
		}
		charts = append(charts, c)
	}
	f, _ := drawn(charts...)
	for i, h := range histories {
		if h.Name != "" || len(histories) > 1 {
			f.legend.add(runName(h, i), sample(in(paletteColor(i), solid)))
		}
	}
	f.addLineStyles(validated, "validation")
	f.legend.add(baseline, sample(baselineStyle))
	return f
}

// trainedOn has the line styles of curves on training rows and on validation rows.
var trainedOn = []struct {
	heldOut bool
	name    string
	style   draw.LineStyle
}{{false, "training", solid}, {true, "validation", dashed}}

// objectivePoints returns the objective on the training rows, or on the validation rows if heldOut
// is true.
func objectivePoints(h runs.History, x abscissa, heldOut bool) (points plotter.XYs) {
	_, sign := loss(h.Objective())
	for _, e := range h.Epochs {
		measured := e.Train
		if heldOut {
			measured = e.Validation
		}
		if !heldOut || measured != nil {
			points = append(points, plotter.XY{X: x.of(e), Y: sign * measured.Of(h.Objective())})
		}
	}
	return points
}

func runName(h runs.History, i int) string {
	return cmp.Or(h.Name, fmt.Sprintf("run %d", i+1))
}

// addLineStyles adds the line styles of training and validation to the legend if both are drawn.
func (f *Figure) addLineStyles(validated bool, heldOut string) {
	if validated {
		f.legend.add("training", sample(solid))
		f.legend.add(heldOut, sample(dashed))
	}
}

// baselineStyle is thinner than a curve and differs from the style of validation.
var baselineStyle = draw.LineStyle{Color: ink, Width: vg.Points(0.75), Dashes: []vg.Length{7, 4}}

// addBaselines draws the baselines of histories across a panel, and returns their label, or "" if
// none is drawn. It omits a line that would extend the curves' range by more than half, which would
// flatten the curves.
func addBaselines(panel *plot.Plot, histories []runs.History) (label string) {
	var lines []float64
	room := (panel.Y.Max - panel.Y.Min) / 2
	low, high := panel.Y.Min-room, panel.Y.Max+room
	for _, h := range histories {
		if h.Baseline == nil {
			continue
		}
		_, sign := loss(h.Objective())
		y := sign * h.Baseline.Factorized.Value
		if low <= y && y <= high && !slices.Contains(lines, y) {
			lines, label = append(lines, y), h.Baseline.Label()
		}
	}
	for _, y := range lines {
		panel.Add(across(y, baselineStyle))
	}
	return label
}

// finite returns the points that can be drawn.
func finite(points plotter.XYs) plotter.XYs {
	return slices.DeleteFunc(slices.Clone(points), func(p plotter.XY) bool {
		return plotter.CheckFloats(p.X, p.Y) != nil
	})
}

// mostPoints limits the number of points of a curve. A figure has fewer pixels than that across, and
// the drawing time grows faster than the number of points.
const mostPoints = 1000

// thinned returns at most mostPoints points of a curve. It keeps the first and the last point, divides the
// others into sections of equal length, and keeps the lowest and the highest point of each section, so that
// no excursion is lost.
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

// curve is a line with a spread around each point. The spread is nil if it is unknown.
type curve struct {
	what   string // its name in errors
	points plotter.XYs
	spread []float64
	style  draw.LineStyle
	bars   []plot.Plotter // below the line, instead of a band
	faint  bool           // without markers, and without an error if no point is finite
}

// chart describes a panel of curves.
type chart struct {
	x, y           string
	xTicks, yTicks plot.Ticker // nil for linear axes
	curves         []curve
	around         func(*plot.Plot) // draws more once the panel has the range of the curves; may be nil
}

// drawn returns a figure with a panel for each chart. It draws the bands of curves below all lines, and reports which
// curves have a band. The figure remembers an error if there is nothing to draw.
func drawn(charts ...chart) (f *Figure, banded []bool) {
	var panels []*plot.Plot
	for _, of := range charts {
		p := newPanel(of.x, of.y)
		if of.xTicks != nil {
			p.X.Tick.Marker = of.xTicks
		}
		if of.yTicks != nil {
			p.Y.Tick.Marker = of.yTicks
		}
		for _, c := range of.curves {
			banded = append(banded, c.spread != nil && c.bars == nil && addBand(p, c.points, c.spread, c.style.Color.(color.NRGBA)))
		}
		for _, c := range of.curves {
			if err := addLine(p, c); err != nil {
				return failed(err), banded
			}
		}
		if of.around != nil {
			of.around(p)
		}
		padY(p)
		panels = append(panels, p)
	}
	return newFigure(panels...), banded
}

// addLine draws a curve without its band. It returns an error if no point is finite. If the curve has few points,
// addLine marks each of them, so that even a single point is visible.
func addLine(p *plot.Plot, c curve) error {
	drawable := finite(c.points)
	if len(drawable) == 0 && !c.faint {
		return fmt.Errorf("%s has no finite value among %d: nothing to draw", c.what, len(c.points))
	}
	p.Add(c.bars...)
	drawable = thinned(drawable)
	p.Add(&plotter.Line{XYs: drawable, LineStyle: c.style})
	const fewPoints = 30
	if len(drawable) <= fewPoints && !c.faint {
		p.Add(&plotter.Scatter{XYs: drawable, GlyphStyle: marker(c.style)})
	}
	return nil
}

func marker(style draw.LineStyle) draw.GlyphStyle {
	return draw.GlyphStyle{Color: style.Color, Radius: vg.Points(1) + style.Width/2, Shape: draw.CircleGlyph{}}
}

// addBand fills the area within one spread of the points. It omits points that are not finite or whose spread is not,
// and returns false if none remains.
func addBand(p *plot.Plot, points plotter.XYs, spread []float64, c color.NRGBA) bool {
	var upper, lower plotter.XYs
	for i, point := range points {
		if plotter.CheckFloats(point.X, point.Y, spread[i]) == nil {
			upper = append(upper, plotter.XY{X: point.X, Y: point.Y + spread[i]})
			lower = append(lower, plotter.XY{X: point.X, Y: point.Y - spread[i]})
		}
	}
	if len(upper) == 0 {
		return false
	}
	back := slices.Clone(thinned(lower))
	slices.Reverse(back)
	p.Add(&plotter.Polygon{XYs: []plotter.XYs{append(slices.Clone(thinned(upper)), back...)}, Color: translucent(c)})
	return true
}

// meanAndSD returns the mean of the finite values and their standard deviation (n − 1), which is
// NaN for fewer than two.
func meanAndSD(values []float64) (mean, sd float64) {
	return stat.MeanStdDev(finiteValues(values), nil)
}

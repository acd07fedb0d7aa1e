package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LogZ2 draws the estimate of log Z² (nats) against the number of outer samples (BiHM thesis 2016,
// 3.11). For a single estimate, it draws each repeat as a thin line, the mean of the repeats with a band
// of one standard deviation, and the estimate from all samples. For several estimates, which must have
// different numbers of inner samples, it draws only the means with their bands (BiHM thesis 2016, Fig.
// 3.5). It marks 0, the upper limit of log Z², if the values come near it.
func LogZ2(estimates ...hm.LogZ2) *Figure {
	return logZ2(estimates, "number of outer samples x, h ~ p", func(z hm.LogZ2) []int { return z.Outer })
}

// LogZ2ByTotal is like LogZ2, but against the product of the numbers of outer and inner samples, which
// measures the cost of an estimate (BiHM thesis 2016, Fig. 3.6).
func LogZ2ByTotal(estimates ...hm.LogZ2) *Figure {
	return logZ2(estimates, "number of outer samples × inner samples for each", func(z hm.LogZ2) []int {
		total := slices.Clone(z.Outer)
		for i := range total {
			total[i] *= z.Inner
		}
		return total
	})
}

// logZ2 draws estimates of log Z² against numbers of samples, which counts returns.
func logZ2(estimates []hm.LogZ2, x string, counts func(hm.LogZ2) []int) *Figure {
	if err := checkLogZ2(estimates, counts); err != nil {
		return failed(err)
	}
	var curves []curve
	z, zero, one := estimates[0], false, len(estimates) == 1
	several := one && len(z.Repeats) > 1
	if several {
		for i, repeat := range z.Repeats {
			curves = append(curves, curve{what: fmt.Sprintf("log Z², repeat %d", i+1), points: byLog(counts(z), repeat), style: thin, faint: true})
		}
	}
	for i, z := range estimates {
		mean, sd := overRepeats(z, counts(z))
		c := curve{what: "log Z²", points: mean, spread: sd, style: in(paletteColor(i), solid)}
		if !one {
			c.what += " with " + innerSamples(z)
		}
		curves = append(curves, c)
	}
	final := one && plotter.CheckFloats(z.Value) == nil
	f, banded := drawn(chart{x: x, y: "log Z² (nats)", xTicks: logTicks{}, curves: curves, around: func(p *plot.Plot) {
		if final {
			p.Add(across(z.Value, in(paletteColor(1), dashed)))
		}
		if zero = p.Y.Min <= 0 && p.Y.Max >= -0.25*(p.Y.Max-p.Y.Min); zero {
			p.Add(across(0, dotted))
		}
	}})
	if one {
		f.title = fmt.Sprintf("Estimates of log Z², with %s for each outer one", innerSamples(z))
		line := sample(in(paletteColor(0), solid))
		switch {
		case slices.Contains(banded, true):
			f.legend.addArea(fmt.Sprintf("mean ± 1 sd of %d repeats", len(z.Repeats)), paletteColor(0))
		case several:
			f.legend.add(fmt.Sprintf("mean of %d repeats", len(z.Repeats)), line)
		default:
			f.legend.add("one repeat", line)
		}
		if several {
			f.legend.add("each repeat", sample(thin))
		}
		if final {
			f.legend.add(finalName(z), sample(in(paletteColor(1), dashed)))
		}
	} else {
		f.title = "Estimates of log Z², by the number of inner samples for each outer one"
		for i, z := range estimates {
			f.legend.add(fmt.Sprintf("%s, %d repeats", innerSamples(z), len(z.Repeats)), sample(in(paletteColor(i), solid)))
		}
		f.addBandStyle(banded, "mean ± 1 sd")
	}
	if zero {
		f.legend.add("0, the upper limit of log Z²", sample(dotted))
	}
	return f
}

func (f *Figure) addBandStyle(banded []bool, text string) {
	if slices.Contains(banded, true) {
		f.legend.addArea(text, ink)
	}
}

// overRepeats returns the mean and the standard deviation over the repeats after each number of
// samples.
func overRepeats(z hm.LogZ2, counts []int) (mean plotter.XYs, sd []float64) {
	for i, n := range counts {
		column := lists.Map(z.Repeats, func(repeat []float64) float64 { return repeat[i] })
		m, s := meanAndSD(column)
		mean, sd = append(mean, plotter.XY{X: math.Log10(float64(n)), Y: m}), append(sd, s)
	}
	return mean, sd
}

func innerSamples(z hm.LogZ2) string {
	if z.Inner == 1 {
		return "1 inner sample"
	}
	return integer(z.Inner) + " inner samples"
}

func checkLogZ2(estimates []hm.LogZ2, counts func(hm.LogZ2) []int) error {
	if len(estimates) == 0 {
		return errors.New("no estimates of log Z² to draw: give at least one")
	}
	for i, z := range estimates {
		if len(z.Outer) == 0 || len(z.Repeats) == 0 {
			return errors.New("log Z² without estimates: nothing to draw")
		}
		for r, repeat := range z.Repeats {
			if len(repeat) != len(z.Outer) {
				return fmt.Errorf("repeat %d of log Z² has %d estimates for %d numbers of samples", r, len(repeat), len(z.Outer))
			}
		}
		if err := checkCounts("log Z²", counts(z)); err != nil {
			return err
		}
		for _, other := range estimates[:i] {
			if other.Inner == z.Inner {
				return fmt.Errorf("two estimates of log Z² with %s for each outer one: give estimates with different numbers", innerSamples(z))
			}
		}
	}
	return nil
}

// checkCounts returns an error for numbers of samples that a logarithmic axis cannot show.
func checkCounts(what string, counts []int) error {
	for _, n := range counts {
		if n < 1 {
			return fmt.Errorf("%s: an estimate has %d samples: their number must be at least 1", what, n)
		}
	}
	return nil
}

// byLog returns points whose x is the decimal logarithm of a number of samples, and whose y is the estimate.
func byLog(counts []int, estimates []float64) plotter.XYs {
	points := make(plotter.XYs, len(counts))
	for i, n := range counts {
		points[i] = plotter.XY{X: math.Log10(float64(n)), Y: estimates[i]}
	}
	return points
}

func finalName(z hm.LogZ2) string {
	if z.Size.Few() {
		return "all samples: at least " + significant(z.Value, 4) + " in expectation"
	}
	return "all samples: " + withError(z.Value, z.SE)
}

// rule is a plotter that draws a straight line across the whole panel: horizontally at y or, if y is NaN,
// vertically at x.
type rule struct {
	x, y  float64
	style draw.LineStyle
}

func across(y float64, style draw.LineStyle) rule { return rule{math.NaN(), y, style} }

func (r rule) line(p *plot.Plot) *plotter.Line {
	ends := plotter.XYs{{X: p.X.Min, Y: r.y}, {X: p.X.Max, Y: r.y}}
	if math.IsNaN(r.y) {
		ends = plotter.XYs{{X: r.x, Y: p.Y.Min}, {X: r.x, Y: p.Y.Max}}
	}
	return &plotter.Line{XYs: ends, LineStyle: r.style}
}

func (r rule) Plot(c draw.Canvas, p *plot.Plot) { r.line(p).Plot(c, p) }

func (r rule) GlyphBoxes(p *plot.Plot) []plot.GlyphBox { return r.line(p).GlyphBoxes(p) }

// DataRange returns the line's y or x, and an empty range for the other axis.
func (r rule) DataRange() (xmin, xmax, ymin, ymax float64) {
	if math.IsNaN(r.y) {
		return r.x, r.x, math.Inf(1), math.Inf(-1)
	}
	return math.Inf(1), math.Inf(-1), r.y, r.y
}

// withError formats a value and its standard error with the digits that the error justifies.
func withError(value, se float64) string {
	if plotter.CheckFloats(se) != nil || se <= 0 {
		return significant(value, 4)
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(se))))
	return fmt.Sprintf("%s ± %s (standard error)", number(value, decimals), number(se, decimals))
}

// LikelihoodBySamples draws estimates of log p(x) (nats, mean over the rows) against the number of
// importance samples, one colour per model, with a band of one standard error. Models whose log Z²
// was added by Convergence.WithLogZ2 also get log p*(x) and log p̃*(x) = log Z² + log p*(x) (BiHM
// thesis 2016, Fig. 3.3). The estimates of log p(x) and log p̃*(x) are lower bounds in expectation,
// which rise with the number of samples. The number is large enough where the curves have levelled off.
// The band of log p*(x) includes the error of log Z².
func LikelihoodBySamples(convergences ...hm.Convergence) *Figure {
	if len(convergences) == 0 {
		return failed(errors.New("no estimates of log p(x) to draw: give at least one"))
	}
	normalized := slices.ContainsFunc(convergences, func(c hm.Convergence) bool { return c.LogPStar != nil })
	label := "estimate of log p(x) (nats)"
	if normalized {
		label = "estimate of log-likelihood (nats)"
	}
	var curves []curve
	for i, c := range convergences {
		name := convergenceName(c, i)
		if err := checkCounts(name, c.Samples); err != nil {
			return failed(err)
		}
		of := likelihoods
		if c.LogPStar == nil {
			of = of[:1]
		}
		for _, l := range of {
			means, se := l.estimates(c)
			if len(means) != len(c.Samples) || len(se) != len(c.Samples) {
				return failed(fmt.Errorf("%s has %d estimates of %s and %d standard errors for %d numbers of samples", name, len(means), l.name, len(se), len(c.Samples)))
			}
			curves = append(curves, curve{what: l.name + " of " + name, points: byLog(c.Samples, means), spread: se, style: in(paletteColor(i), l.style)})
		}
	}
	f, banded := drawn(chart{x: "number of importance samples for each row", y: label, xTicks: logTicks{}, curves: curves})
	for i, c := range convergences {
		if name := convergenceName(c, i); !normalized && f.err == nil && banded[i] { // each model has one curve
			f.legend.addArea(name+" ± 1 standard error", paletteColor(i))
		} else {
			f.legend.add(name, sample(in(paletteColor(i), solid)))
		}
	}
	if normalized { // colours distinguish models, so styles need their own entries
		for _, l := range likelihoods {
			f.legend.add(l.name, sample(l.style))
		}
		f.addBandStyle(banded, "± 1 standard error")
	}
	return f
}

func convergenceName(c hm.Convergence, i int) string {
	return cmp.Or(c.Name, fmt.Sprintf("estimate %d", i+1))
}

type likelihood struct {
	name      string
	style     draw.LineStyle
	estimates func(hm.Convergence) (means, se []float64)
}

var dashDotted = draw.LineStyle{Color: ink, Width: solid.Width, Dashes: []vg.Length{8, 2.5, 1.5, 2.5}}

// likelihoods lists the curves of a model in the order of the legend. Every model has the first curve.
var likelihoods = []likelihood{
	{"log p(x)", solid, func(c hm.Convergence) ([]float64, []float64) { return c.LogP, c.LogPSE }},
	{"log p*(x)", dashed, func(c hm.Convergence) ([]float64, []float64) { return c.LogPStar, c.LogPStarSE }},
	{"log p̃*(x)", dashDotted, func(c hm.Convergence) ([]float64, []float64) { return c.LogPTildeStar, c.LogPTildeStarSE }},
}

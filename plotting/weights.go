package plotting

import (
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// ImportanceWeights draws histograms of ln ω − ln mean ω (nats), on a
// logarithmic count axis, for q(h|x) as the proposal of p(h|x) and of p*(h|x)
// (BiHM thesis 2016, Fig 3.11), with the mean effective sample size of each in the legend.
// A good proposal has its weights close to 0, where all samples count alike.
func ImportanceWeights(w hm.ImportanceWeights) *Figure {
	proposals := []struct {
		of      string
		weights []float64
		ess     []float64
	}{
		{"p(h|x)", finiteValues(w.LogWeights), w.ESS},
		{"p*(h|x)", finiteValues(w.LogWeightsStar), w.ESSStar},
	}
	for i, all := range [][]float64{w.LogWeights, w.LogWeightsStar} {
		if len(proposals[i].weights) == 0 {
			return failed(fmt.Errorf("no finite importance weight among the %d for the proposal of %s: nothing to draw", len(all), proposals[i].of))
		}
	}
	panel := newPanel("ln ω − ln mean ω (nats)", "number of samples")
	f := newFigure(panel).Title(fmt.Sprintf("Importance weights ω of %s samples of q(h|x) for each of %s data", integer(w.Samples), integer(w.Data)))

	bins, err := commonBins(proposals[0].weights, proposals[1].weights)
	if err != nil {
		return failed(err)
	}
	highest := 0.0
	for i, p := range proposals {
		counts := bins.count(p.weights)
		highest = max(highest, slices.Max(counts))
		area := addHistogram(panel, bins, counts, i, foot)
		ess, _ := meanAndSD(p.ess)
		f.legend.add(fmt.Sprintf("q as proposal of %s: mean ESS %s", p.of, percent(ess)), area)
	}
	panel.Y.Tick.Marker = logTicks{}
	panel.Y.Min, panel.Y.Max = math.Log10(0.6), math.Log10(1.5*highest)
	panel.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: panel.Y.Min}, {X: 0, Y: panel.Y.Max}}, LineStyle: dotted})
	f.legend.add("mean weight", sample(dotted))
	return f
}

// ProposalWeights draws, on common axes, histograms of ln ω − ln mean ω (nats) for
// both proposals of the bidirectional machine (BiHM thesis 2016, Fig 3.11): q(h|x) of p*(h|x),
// by which the machine infers, and p(x,h) of p*(x,h), by which it dreams. The
// better of the two has its weights closer to 0.
func ProposalWeights(w hm.ImportanceWeights, d hm.DreamWeights) *Figure {
	ess, _ := meanAndSD(w.ESSStar)
	proposals := []struct {
		of      string
		weights []float64
		ess     float64
	}{
		{"q(h|x) as proposal of p*(h|x)", finiteValues(w.LogWeightsStar), ess},
		{"p(x,h) as proposal of p*(x,h)", finiteValues(d.LogWeights), d.ESS},
	}
	for _, p := range proposals {
		if len(p.weights) == 0 {
			return failed(fmt.Errorf("no finite importance weight of %s: nothing to draw", p.of))
		}
	}
	panel := newPanel("ln ω − ln mean ω (nats)", "share of the samples")
	f := newFigure(panel).Title("Importance weights ω of both proposals")

	bins, err := commonBins(proposals[0].weights, proposals[1].weights)
	if err != nil {
		return failed(err)
	}
	most, highest := max(len(proposals[0].weights), len(proposals[1].weights)), 0.0
	least := math.Log10(0.6 / float64(most)) // just below one sample
	for i, p := range proposals {
		shares := bins.count(p.weights)
		for j := range shares {
			shares[j] /= float64(len(p.weights))
		}
		highest = max(highest, slices.Max(shares))
		area := addHistogram(panel, bins, shares, i, least-1)
		f.legend.add(fmt.Sprintf("%s: ESS %s", p.of, percent(p.ess)), area)
	}
	panel.Y.Tick.Marker = logTicks{}
	panel.Y.Min, panel.Y.Max = least, math.Log10(1.5*highest)
	panel.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: panel.Y.Min}, {X: 0, Y: panel.Y.Max}}, LineStyle: dotted})
	f.legend.add("mean weight", sample(dotted))
	return f
}

// foot stands for log₁₀ 0 in the histograms, just below what is shown.
const foot = -1

// binning divides a range into bins of equal width.
type binning struct {
	low, width float64
	n          int
}

func commonBins(samples ...[]float64) (binning, error) {
	all := slices.Concat(samples...)
	low, high := slices.Min(all), slices.Max(all)
	if low == high {
		by := max(0.5, 1e-12*math.Abs(low)) // 0.5 is lost in the digits of 1e17
		low, high = low-by, high+by
	}
	const n = 80
	width := (high - low) / n
	if width == 0 || math.IsInf(width, 0) {
		return binning{}, fmt.Errorf("values from %v to %v cannot be divided into %d bins: leave those out that stand apart", low, high, n)
	}
	return binning{low, width, n}, nil
}

func (b binning) count(values []float64) []float64 {
	counts := make([]float64, b.n)
	for _, v := range values {
		counts[min(int((v-b.low)/b.width), b.n-1)]++
	}
	return counts
}

// addHistogram draws the outline of log₁₀ of the counts, and the area between it
// and a foot.
func addHistogram(p *plot.Plot, b binning, counts []float64, i int, foot float64) *plotter.Polygon {
	outline := plotter.XYs{{X: b.low, Y: foot}}
	for j, count := range counts {
		left := b.low + float64(j)*b.width
		top := max(math.Log10(count), foot)
		outline = append(outline, plotter.XY{X: left, Y: top}, plotter.XY{X: left + b.width, Y: top})
	}
	outline = append(outline, plotter.XY{X: b.low + float64(b.n)*b.width, Y: foot})
	area := &plotter.Polygon{XYs: []plotter.XYs{outline}, Color: translucent(paletteColor(i)), LineStyle: in(paletteColor(i), solid)}
	p.Add(area)
	return area
}

func finiteValues(values []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return plotter.CheckFloats(v) != nil })
}

// percent writes a fraction with two significant digits.
func percent(fraction float64) string {
	if math.IsNaN(fraction) {
		return "unknown"
	}
	return fmt.Sprintf("%s %%", significant(100*fraction, 2))
}

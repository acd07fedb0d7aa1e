package plotting

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// ImportanceWeights draws histograms of ln ω − ln mean ω (nats), with a logarithmic axis of counts,
// for q(h|x) as the proposal of p(h|x) and of p*(h|x) (BiHM thesis 2016, Fig 3.11). The legend has
// the mean effective sample size of each. With a good proposal, the values are close to 0: all samples
// then count equally.
func ImportanceWeights(w hm.ImportanceWeights) *Figure {
	weights := func(of string, all, ess []float64) sampled {
		mean, _ := meanAndSD(ess)
		return sampled{fmt.Sprintf("q as proposal of %s: mean ESS %s", of, percent(mean)), all}
	}
	f := histograms(fmt.Sprintf("Importance weights ω of %s samples of q(h|x) for each of %s data", integer(w.Samples), integer(w.Data)),
		"ln ω − ln mean ω (nats)", "number of samples", false,
		weights("p(h|x)", w.LogWeights, w.ESS), weights("p*(h|x)", w.LogWeightsStar, w.ESSStar))
	return f.withMeanWeight()
}

// ProposalWeights draws, on common axes, histograms of ln ω − ln mean ω (nats) for both proposals of
// the bidirectional machine (BiHM thesis 2016, Fig 3.11). For inference, q(h|x) is the proposal for
// p*(h|x); for dreams, p(x,h) is the proposal for p*(x,h). The better proposal has values closer to 0.
func ProposalWeights(w hm.ImportanceWeights, d hm.DreamWeights) *Figure {
	weights := func(of string, all []float64, ess float64) sampled {
		return sampled{fmt.Sprintf("%s: ESS %s", of, percent(ess)), all}
	}
	ess, _ := meanAndSD(w.ESSStar)
	f := histograms("Importance weights ω of both proposals", "ln ω − ln mean ω (nats)", "share of the samples", true,
		weights("q(h|x) as proposal of p*(h|x)", w.LogWeightsStar, ess), weights("p(x,h) as proposal of p*(x,h)", d.LogWeights, d.ESS))
	return f.withMeanWeight()
}

// withMeanWeight draws a line at ln ω = ln mean ω, which is x = 0.
func (f *Figure) withMeanWeight() *Figure {
	f.addVertical(0)
	f.legend.add("mean weight", sample(dotted))
	return f
}

// addVertical draws a vertical line through the panel of histograms, if there is one.
func (f *Figure) addVertical(x float64) {
	for _, panel := range f.panels {
		panel.Add(rule{x, math.NaN(), dotted})
	}
}

type sampled struct {
	name   string // name in the legend
	values []float64
}

// histograms draws histograms of samples in common bins. The logarithmic y axis shows the number of
// values in a bin or, if shares is true, its share of the values of the sample.
func histograms(title, x, y string, shares bool, samples ...sampled) *Figure {
	if len(samples) == 0 {
		return failed(errors.New("no samples to draw: give at least one"))
	}
	var all [][]float64
	most := 0
	for _, s := range samples {
		values := finiteValues(s.values)
		if len(values) == 0 {
			return failed(fmt.Errorf("no finite value among the %d of %s: nothing to draw", len(s.values), s.name))
		}
		all, most = append(all, values), max(most, len(values))
	}
	bins, err := commonBins(all...)
	if err != nil {
		return failed(err)
	}
	least, foot := math.Log10(0.6), -1.0 // just below one; foot replaces log₁₀ 0
	if shares {
		least = math.Log10(0.6 / float64(most))
		foot = least - 1
	}
	panel, highest := newPanel(x, y), 0.0
	f := newFigure(panel).Title(title)
	for i, values := range all {
		counts := bins.count(values)
		for j := range counts {
			if shares {
				counts[j] /= float64(len(values))
			}
		}
		highest = max(highest, slices.Max(counts))
		f.legend.add(samples[i].name, addHistogram(panel, bins, counts, i, foot))
	}
	panel.Y.Tick.Marker = logTicks{}
	panel.Y.Min, panel.Y.Max = least, math.Log10(1.5*highest)
	return f
}

type binning struct {
	low, width float64
	n          int
}

func commonBins(samples ...[]float64) (binning, error) {
	all := slices.Concat(samples...)
	low, high := slices.Min(all), slices.Max(all)
	if low == high {
		by := max(0.5, 1e-12*math.Abs(low)) // 0.5 vanishes in the rounding of 1e17
		low, high = low-by, high+by
	}
	const n = 80
	width := (high - low) / n
	if width == 0 || math.IsInf(width, 0) {
		return binning{}, fmt.Errorf("values from %v to %v cannot be divided into %d bins: omit the outliers", low, high, n)
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

// addHistogram draws the outline of log₁₀ of the counts and fills the area down to foot.
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

func percent(fraction float64) string {
	if math.IsNaN(fraction) {
		return "unknown"
	}
	return fmt.Sprintf("%s %%", significant(100*fraction, 2))
}

// LogZEstimates draws histograms of the estimates of log Z by single annealing chains, in nats, with a
// logarithmic axis of counts. Estimates by AIS are too low on average, and estimates by reverse AIS too
// high. Dotted lines are the estimates from all chains together. If a few chains lie far to the right of
// the others for AIS, or far to the left for reverse AIS, there may be more such outliers that these chains
// missed. An AIS estimate that depends on few chains is labelled optimistic, because the resulting log p is.
func LogZEstimates(estimates ...boltzmann.LogZ) *Figure {
	var samples []sampled
	for _, z := range estimates {
		side := map[runs.Errs]string{runs.ErrsLow: "AIS", runs.ErrsHigh: "reverse AIS"}[z.Errs]
		label := fmt.Sprintf("%s, %d temperatures: log Z = %.2f, ESS %s", side, z.Steps, z.Value, percent(float64(z.ESS)))
		if z.Optimistic {
			label += ", optimistic"
		}
		samples = append(samples, sampled{label, z.Each})
	}
	f := histograms("Estimates of log Z", "log Z by a chain (nats)", "number of chains", false, samples...)
	for _, z := range estimates {
		f.addVertical(float64(z.Value))
	}
	return f
}

package plotting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LikelihoodBySamples draws estimates of log p(x) (nats, mean over the data)
// against the number of importance samples, a colour a model, with a band of one
// standard error to either side. Those that Convergence.WithLogZ2 has given
// log Z² are drawn with log p*(x) and log p̃*(x) = log Z² + log p*(x) (BiHM thesis 2016, Fig.
// 3.3). The estimates of log p(x) and log p̃*(x) are lower bounds in expectation
// and rise with the number of samples; where a curve has levelled off, they are
// enough. The band of log p*(x) includes the error of log Z².
func LikelihoodBySamples(convergences ...hm.Convergence) *Figure {
	if len(convergences) == 0 {
		return failed(errors.New("no estimates of log p(x) to draw: give at least one"))
	}
	normalized := slices.ContainsFunc(convergences, func(c hm.Convergence) bool { return c.LogPStar != nil })
	label := "estimate of log p(x) (nats)"
	if normalized {
		label = "estimate of log-likelihood (nats)"
	}
	panel := newPanel("number of importance samples for each datum", label)
	panel.X.Tick.Marker = logTicks{}
	f := newFigure(panel)
	var curves []curve
	for i, c := range convergences {
		name := convergenceName(c, i)
		if err := checkConvergence(c, name); err != nil {
			return failed(err)
		}
		for _, l := range likelihoodsOf(c) {
			means, se := l.estimates(c)
			curves = append(curves, curve{l.name + " of " + name, byLog(c.Samples, means), se, in(paletteColor(i), l.style)})
		}
	}
	banded, err := addCurves(panel, curves...)
	if err != nil {
		return failed(err)
	}
	for i, c := range convergences {
		name, line := convergenceName(c, i), sample(in(paletteColor(i), solid))
		if !normalized && banded[i] { // each of them has one curve
			f.legend.add(name+" ± 1 standard error", &plotter.Polygon{Color: translucent(paletteColor(i))}, line)
		} else {
			f.legend.add(name, line)
		}
	}
	if normalized { // what the colours, which tell models apart, do not
		for _, l := range likelihoods {
			f.legend.add(l.name, sample(l.style))
		}
		f.addBandStyle(slices.Contains(banded, true), "± 1 standard error")
	}
	padY(panel)
	return f
}

func convergenceName(c hm.Convergence, i int) string {
	if c.Name == "" {
		return fmt.Sprintf("estimate %d", i+1)
	}
	return c.Name
}

func checkConvergence(c hm.Convergence, name string) error {
	for _, l := range likelihoodsOf(c) {
		if means, se := l.estimates(c); len(means) != len(c.Samples) || len(se) != len(c.Samples) {
			return fmt.Errorf("%s has %d estimates of %s and %d standard errors for %d numbers of samples", name, len(means), l.name, len(se), len(c.Samples))
		}
	}
	return checkCounts(name, c.Samples)
}

// likelihood is one of the likelihoods that a Convergence has estimates of.
type likelihood struct {
	name      string
	style     draw.LineStyle
	estimates func(hm.Convergence) (means, se []float64)
}

var dashDotted = draw.LineStyle{Color: ink, Width: solid.Width, Dashes: []vg.Length{8, 2.5, 1.5, 2.5}}

// likelihoods are in the order of the legend, that of every model first.
var likelihoods = []likelihood{
	{"log p(x)", solid, func(c hm.Convergence) ([]float64, []float64) { return c.LogP, c.LogPSE }},
	{"log p*(x)", dashed, func(c hm.Convergence) ([]float64, []float64) { return c.LogPStar, c.LogPStarSE }},
	{"log p̃*(x)", dashDotted, func(c hm.Convergence) ([]float64, []float64) { return c.LogPTildeStar, c.LogPTildeStarSE }},
}

func likelihoodsOf(c hm.Convergence) []likelihood {
	if c.LogPStar == nil {
		return likelihoods[:1]
	}
	return likelihoods
}

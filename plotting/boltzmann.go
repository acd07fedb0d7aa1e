package plotting

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"gonum.org/v1/plot/plotter"
)

// LogZEstimates draws histograms of the estimates of log Z by single chains of annealing,
// in nats, on a logarithmic count axis: of AIS, which errs to the low side, and beside it
// maybe of reverse AIS, which errs to the high one. The estimates of all chains together
// are dotted lines; where few chains stand far out to the right of AIS, or to the left of
// its reverse, there may be more that none has found.
func LogZEstimates(estimates ...boltzmann.LogZ) *Figure {
	var names []string
	var samples [][]float64
	for _, z := range estimates {
		side := map[boltzmann.Errs]string{boltzmann.ErrsLow: "AIS", boltzmann.ErrsHigh: "reverse AIS"}[z.Errs]
		names = append(names, fmt.Sprintf("%s: log Z = %.2f, ESS %s", side, z.Value, percent(float64(z.ESS))))
		samples = append(samples, z.Each)
	}
	f := histograms("Estimates of log Z", "log Z by a chain (nats)", "number of chains", names, samples)
	if f.err != nil {
		return f
	}
	panel := f.panels[0]
	for _, z := range estimates {
		at := float64(z.Value)
		panel.Add(&plotter.Line{XYs: plotter.XYs{{X: at, Y: panel.Y.Min}, {X: at, Y: panel.Y.Max}}, LineStyle: dotted})
	}
	return f
}

// FreeEnergies draws histograms of the free energies F(v) of training and of other rows,
// in nats, on a logarithmic count axis: those of a machine that has learned rows by heart
// are lower in training.
func FreeEnergies(training, others []float64) *Figure {
	return histograms("Free energies", "F(v) (nats)", "number of rows", []string{"training rows", "other rows"}, [][]float64{training, others})
}

// histograms draws those of samples, in the same bins.
func histograms(title, x, y string, names []string, samples [][]float64) *Figure {
	if len(samples) == 0 {
		return failed(errors.New("no samples to draw: give at least one"))
	}
	for i, values := range samples {
		if samples[i] = finiteValues(values); len(samples[i]) == 0 {
			return failed(fmt.Errorf("no finite value among the %d of %s: nothing to draw", len(values), names[i]))
		}
	}
	bins, err := commonBins(samples...)
	if err != nil {
		return failed(err)
	}
	panel, highest := newPanel(x, y), 0.0
	f := newFigure(panel).Title(title)
	for i, values := range samples {
		counts := bins.count(values)
		highest = max(highest, slices.Max(counts))
		f.legend.add(names[i], addHistogram(panel, bins, counts, i, foot))
	}
	panel.Y.Tick.Marker = logTicks{}
	panel.Y.Min, panel.Y.Max = math.Log10(0.6), math.Log10(1.5*highest)
	return f
}

package plotting

import (
	"errors"
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// MeasuredAlong draws results of the measurement with the given name, which training took, against the
// epoch (BiHM thesis 2016, Figs 3.7 and 3.8). keys selects the measures, such as log_p and log_p_star;
// they must have the same unit. Each curve has a band of one standard error. Each run has a colour and
// each measure a line style; with a single run, each measure has a colour.
func MeasuredAlong(name string, keys []string, histories ...runs.History) *Figure {
	if len(histories) == 0 {
		return failed(errors.New("no histories to draw: give the history of at least one run"))
	}
	measures, err := measuresOf(histories[0], keys)
	if err != nil {
		return failed(err)
	}
	label := measures[0].Unit
	if len(measures) == 1 {
		label = withUnit(measures[0].Label, measures[0].Unit)
	}
	one := len(histories) == 1
	styles := []draw.LineStyle{solid, dashed, dashDotted, dotted}
	if !one && len(measures) > len(styles) {
		return failed(fmt.Errorf("%d measures of several runs are too many: draw at most %d together", len(measures), len(styles)))
	}
	var curves []curve
	for i, h := range histories {
		for k, m := range measures {
			style := in(paletteColor(k), solid)
			if !one {
				style = in(paletteColor(i), styles[k])
			}
			points, errors := measuredPoints(h, name, m)
			curves = append(curves, curve{what: fmt.Sprintf("%s of %s, measured as %s,", m.Name, runName(h, i), name), points: points, spread: errors, style: style})
		}
	}
	f, banded := drawn(chart{x: "epoch", y: label, xTicks: byEpoch.ticks, curves: curves})
	for i, h := range histories {
		if !one {
			f.legend.add(runName(h, i), sample(in(paletteColor(i), solid)))
		}
	}
	for k, m := range measures {
		if one {
			f.legend.add(m.Label, sample(curves[k].style))
		} else if len(measures) > 1 {
			f.legend.add(m.Label, sample(styles[k]))
		}
	}
	f.addBandStyle(banded, "± 1 standard error")
	f.title = name
	if one && histories[0].Name != "" {
		f.title += ": " + histories[0].Name
	}
	return f
}

func measuresOf(h runs.History, keys []string) ([]runs.Measure, error) {
	if h.Err != nil {
		return nil, h.Err
	}
	if len(keys) == 0 {
		return nil, errors.New("no measures to draw: give the key of at least one, such as log_p")
	}
	var measures []runs.Measure
	for _, key := range keys {
		i := slices.IndexFunc(h.Measures, func(m runs.Measure) bool { return m.Key == key })
		if i < 0 {
			return nil, fmt.Errorf("%s has no measure with the key %q", runName(h, 0), key)
		}
		measures = append(measures, h.Measures[i])
		if first := measures[0]; h.Measures[i].Unit != first.Unit {
			return nil, fmt.Errorf("%s has another unit than %s: draw it in a separate figure", h.Measures[i].Label, first.Label)
		}
	}
	return measures, nil
}

// measuredPoints returns the values of a measure against the epoch, and their standard errors, which are
// NaN if unknown.
func measuredPoints(h runs.History, name string, m runs.Measure) (points plotter.XYs, errors []float64) {
	for _, e := range h.Epochs {
		measured, ok := e.Measured[name]
		if !ok {
			continue
		}
		points = append(points, plotter.XY{X: float64(e.Epoch), Y: measured.Of(m)})
		errors = append(errors, measured.Of(runs.Measure{Key: m.Key + runs.StandardErrorKey}))
	}
	return points, errors
}

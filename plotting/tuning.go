package plotting

import (
	"errors"
	"math"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
)

// Tuning draws the objective on the validation rows against the epoch, for each candidate of a tuning in
// the last rung that it reached. The best four are in colour, the others gray. Candidates that stopped in
// the first rung may extend beyond the panel, because the worst of them would flatten the other curves.
func Tuning(r runs.TuneReport) *Figure {
	const colored = 4
	label, _ := loss(r.Objective)
	var curves []curve
	low, high := math.Inf(1), math.Inf(-1) // of the candidates that set the range
	least, most := low, high               // of all candidates so far
	for i, c := range r.Candidates {       // from the best, which always sets the range, to the worst
		style := in(paletteColor(i), solid)
		if i >= colored {
			style = in(gray, thin)
		}
		for _, h := range c.Histories {
			points := objectivePoints(h, byEpoch, true)
			for _, p := range finite(points) {
				least, most = min(least, p.Y), max(most, p.Y)
			}
			if len(finite(points)) > 0 {
				curves = append(curves, curve{what: "validation " + r.Objective.Name + " of " + c.Name, points: points, style: style})
			}
		}
		if c.Rung > 1 || i < colored {
			low, high = least, most
		}
	}
	if low > high {
		return failed(errors.New("no candidate has finished an epoch yet: wait for the first"))
	}
	f, _ := drawn(chart{x: "epoch", y: label, xTicks: byEpoch.ticks, curves: curves, around: func(p *plot.Plot) { p.Y.Min, p.Y.Max = low, high }})
	for i, c := range r.Candidates[:min(colored, len(r.Candidates))] {
		f.legend.add(c.Name, sample(in(paletteColor(i), solid)))
	}
	if len(r.Candidates) > colored {
		f.legend.add("other candidates", sample(thin))
	}
	return f
}

package plotting

import (
	"errors"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Tuning draws the objective on the validation rows against the epoch, for each candidate of a tuning in
// the last rung that it reached. The best four are in colour, the others gray. Candidates that stopped in
// the first rung may extend beyond the panel, because the worst of them would flatten the other curves.
func Tuning(r runs.TuneReport) *Figure {
	const colored = 4
	label, _ := loss(r.Objective)
	panel := newPanel("epoch", label)
	panel.X.Tick.Marker = byEpoch.ticks
	f := newFigure(panel)
	low, high := panel.Y.Min, panel.Y.Max
	for i, c := range r.Candidates { // from the best, which always sets the range, to the worst
		style := in(paletteColor(i), solid)
		if i >= colored {
			style = in(gray, thin)
		}
		for _, h := range c.Histories {
			points := objectivePoints(h, byEpoch, true)
			if len(finite(points)) == 0 {
				continue
			}
			if err := addLine(panel, "validation "+r.Objective.Name+" of "+c.Name, points, style); err != nil {
				return failed(err)
			}
		}
		if c.Rung > 1 || i < colored {
			low, high = panel.Y.Min, panel.Y.Max
		}
	}
	if low > high {
		return failed(errors.New("no candidate has finished an epoch yet: wait for the first"))
	}
	panel.Y.Min, panel.Y.Max = low, high
	padY(panel)
	for i, c := range r.Candidates[:min(colored, len(r.Candidates))] {
		f.legend.add(c.Name, sample(in(paletteColor(i), solid)))
	}
	if len(r.Candidates) > colored {
		f.legend.add("other candidates", sample(thin))
	}
	return f
}

package plotting

import (
	"slices"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// baselineStyle is thinner than a curve, and no validation's.
var baselineStyle = draw.LineStyle{Color: ink, Width: vg.Points(0.75), Dashes: []vg.Length{7, 4}}

// addBaselines draws the baselines of histories across the curves of a panel, and returns
// its label, empty where there is none. A line that would take more than half of the curves' own
// range on top of it is left out: they would be flat beside it.
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
		panel.Add(across(panel, y, baselineStyle))
	}
	return label
}

// addBaselineStyle explains the baseline by its label, where there is one.
func (f *Figure) addBaselineStyle(label string) {
	if label != "" {
		f.legend.add(label, sample(baselineStyle))
	}
}

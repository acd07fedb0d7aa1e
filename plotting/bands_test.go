package plotting

import (
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// curveOf returns a group of one seed with these values of −log p, one per epoch.
func curveOf(losses ...float64) Group {
	var h runs.History
	for i, loss := range losses {
		h.Epochs = append(h.Epochs, runs.Epoch{Epoch: i + 1, Seconds: float64(i + 1), Train: runs.Measures{"log_p": -loss}})
	}
	return Group{Name: "one", Seeds: []runs.History{h}}
}

// The first epochs are cut off if they would take more than half of the height, and nothing else
// is: neither a slow descent, nor a later divergence, nor the minimum, wherever it lies.
func TestTheBeginningGivesWayToTheRest(t *testing.T) {
	for name, c := range map[string]struct {
		losses      []float64
		bottom, top float64
	}{
		"steep":      {[]float64{200, 110, 105, 102, 100}, 100, 110},
		"slow":       {[]float64{120, 118, 110, 105, 100}, 100, 120},
		"few epochs": {[]float64{200, 110, 100}, 100, 200},
		"four":       {[]float64{200, 110, 101, 100}, 100, 110},
		"diverging":  {[]float64{120, 105, 100, 150, 400}, 100, 400},
		"overfitted": {[]float64{50, 110, 115, 120, 125}, 50, 125},
	} {
		for _, figure := range []*Figure{SeedBands(curveOf(c.losses...)), SeedBandsByTime(curveOf(c.losses...))} {
			y := figure.Panels()[0].Y
			pad := 0.04 * (c.top - c.bottom)
			if y.Min != c.bottom-pad || y.Max != c.top+pad {
				t.Errorf("%s: drawn between %v and %v, want %v and %v", name, y.Min, y.Max, c.bottom-pad, c.top+pad)
			}
		}
	}
	for value, bottom := range map[float64]float64{85: 85, 105: 100, math.NaN(): 100} {
		f := SeedBands(curveOf(200, 110, 105, 102, 100)).Published(value)
		drawn := slices.ContainsFunc(f.legend, func(e legendEntry) bool { return e.text == "published" })
		if y := f.Panels()[0].Y; y.Min > bottom || y.Min < bottom-2 || drawn == math.IsNaN(value) {
			t.Errorf("published value %v: drawn %v, from %v on", value, drawn, y.Min)
		}
	}
	// A mark at the end of the shorter of two groups, below the curves.
	short := curveOf(115, 110, 105)
	short.Evaluated = 90
	ended := SeedBands(curveOf(120, 110, 105, 102, 100), short)
	if y := ended.Panels()[0].Y; y.Min >= 90 || y.Min < 85 {
		t.Errorf("a mark at 90 is drawn from %v on", y.Min)
	}
	spread := curveOf(200, 110, 105, 102, 100)
	spread.Seeds = append(spread.Seeds, curveOf(200, 120, 105, 102, 100).Seeds...)
	if y := SeedBands(spread).Panels()[0].Y; y.Max < 122 || y.Max > 124 {
		t.Errorf("seeds at 110 and 120: drawn up to %v, want 115, an sd of 7.07 and the margin", y.Max)
	}
}

// Lines across a panel reach from edge to edge, also around a single epoch and in a range that is set later.
func TestLinesAcrossReachTheEdges(t *testing.T) {
	chains := boltzmann.LogZ{Each: []float64{1, 2}, Value: 1.5}
	for name, f := range map[string]*Figure{
		"one epoch": SeedBands(curveOf(1)).Published(2),
		"wider":     SeedBands(curveOf(1, 2)).Published(2),
		"upright":   LogZEstimates(chains),
	} {
		var drawn recorder.Canvas
		canvas, panel := draw.NewCanvas(&drawn, 200, 200), f.Panels()[0]
		switch name {
		case "wider":
			panel.X.Min, panel.X.Max = -10, 20
		case "upright":
			panel.Y.Min, panel.Y.Max = -3, 3
		}
		panel.Draw(canvas)
		area := panel.DataCanvas(canvas).Rectangle
		longest, dashed := vg.Length(0), false
		for _, action := range drawn.Actions {
			switch a := action.(type) {
			case *recorder.SetLineDash:
				dashed = len(a.Dashes) > 0
			case *recorder.Stroke:
				if across := a.Path[1].Pos.Sub(a.Path[0].Pos); dashed {
					longest = max(longest, across.X/area.Size().X, across.Y/area.Size().Y)
				}
			}
		}
		if math.Abs(float64(longest)-1) > 1e-9 {
			t.Errorf("%s: the line covers %v of the panel", name, longest)
		}
	}
}

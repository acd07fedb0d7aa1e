package plotting

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// fallen returns curves of −log p from 200 to 100 with a baseline of the given log p.
func fallen(logP float64) runs.History {
	h := runs.History{Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: logP}}}
	for e, value := range []float64{-200, -130, -100} {
		h.Epochs = append(h.Epochs, runs.Epoch{Epoch: e + 1, Seconds: float64(e), Train: runs.Measures{"log_p": value}})
	}
	return h
}

// A baseline is drawn if it extends the curves' range by at most half, and otherwise the figure
// does not change.
func TestBaselinesAreDrawnNearTheCurves(t *testing.T) {
	unknown := fallen(0)
	unknown.Baseline = nil
	plain := Curves(unknown).Panels()[0].Y
	for logP, top := range map[float64]float64{-249: 249, -150: 200, -51: 200, -251: 0, -49: 0, -1e6: 0} {
		for _, figure := range []*Figure{
			Curves(fallen(logP)), CurvesByEpochAndTime(fallen(logP), fallen(logP)), CurvesByStep(fallen(logP)),
			SeedBands(Group{Name: "one", Seeds: []runs.History{fallen(logP)}}), SeedBandsByTime(Group{Name: "one", Seeds: []runs.History{fallen(logP)}}),
		} {
			drawn := slices.ContainsFunc(figure.legend, func(e legendEntry) bool { return e.text == "baseline (factorised)" })
			y := figure.Panels()[0].Y
			if drawn != (top > 0) || drawn && !(y.Max > top && y.Min < min(100, -logP)) || !drawn && (y.Min != plain.Min || y.Max != plain.Max) {
				t.Errorf("with a baseline of %v it is drawn: %v, between %v and %v", logP, drawn, y.Min, y.Max)
			}
		}
	}
}

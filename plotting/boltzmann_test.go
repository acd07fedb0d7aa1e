package plotting

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Estimates of both kinds share their bins, and each chain is counted once.
func TestLogZEstimates(t *testing.T) {
	low := boltzmann.LogZ{Value: 3, Errs: runs.ErrsLow, Steps: 100, ESS: 0.25, Optimistic: true, Each: []float64{1, 2, 2, 3.5}}
	high := boltzmann.LogZ{Value: 3.2, Errs: runs.ErrsHigh, Steps: 3000, ESS: 0.5, Each: []float64{3, 4, math.Inf(1)}}
	f := LogZEstimates(low, high)
	if err := f.Save(filepath.Join(t.TempDir(), "logz.svg")); err != nil {
		t.Fatal(err)
	}
	if names := f.legend; len(names) != 2 || !strings.HasPrefix(names[0].text, "AIS, 100 temperatures: log Z = 3.00, ESS 25 %, optimistic") || !strings.HasPrefix(names[1].text, "reverse AIS, 3000 temperatures: log Z = 3.20") {
		t.Errorf("the legend is %+v", names)
	}
	if x := f.panels[0].X; x.Min != 1 || x.Max != 4 {
		t.Errorf("the axis is from %v to %v, the finite estimates from 1 to 4", x.Min, x.Max)
	}
}

func TestHistogramsOfNothing(t *testing.T) {
	for name, f := range map[string]*Figure{"no estimates": LogZEstimates(), "no chains": LogZEstimates(boltzmann.LogZ{}), "no chains once": LogZEstimates(boltzmann.LogZ{Each: []float64{1}}, boltzmann.LogZ{})} {
		if err := f.Save(filepath.Join(t.TempDir(), "f.svg")); err == nil || !strings.Contains(err.Error(), "to draw") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Values that are far from 0, or from each other, are drawn or refused.
func TestHistogramsOfExtremeValues(t *testing.T) {
	for _, test := range []struct {
		a, b float64
		says string // error if they are refused
	}{
		{0, 0, ""}, {1e17, 1e17, ""}, {-1e300, -1e300, ""}, {1e17, 1e17 + 16, ""}, {-1e307, 8e307, ""},
		{-1e308, 1e308, "bins"}, {0, 5e-324, "bins"}, {math.MaxFloat64, math.MaxFloat64, "bins"},
	} {
		a, b := []float64{test.a}, []float64{test.b}
		for name, f := range map[string]*Figure{
			"log Z":              LogZEstimates(boltzmann.LogZ{Each: a}, boltzmann.LogZ{Each: b}),
			"importance weights": ImportanceWeights(hm.ImportanceWeights{LogWeights: a, LogWeightsStar: b}),
			"proposal weights":   ProposalWeights(hm.ImportanceWeights{LogWeightsStar: a}, hm.DreamWeights{LogWeights: b}),
		} {
			err := f.Save(filepath.Join(t.TempDir(), "f.svg"))
			if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s of %v and %v: error %v", name, test.a, test.b, err)
			}
		}
	}
}

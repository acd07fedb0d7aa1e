package plotting

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
)

// Estimates of both sides share their bins, and each chain is counted once.
func TestLogZEstimates(t *testing.T) {
	low := boltzmann.LogZ{Value: 3, Errs: boltzmann.ErrsLow, ESS: 0.25, Each: []float64{1, 2, 2, 3.5}}
	high := boltzmann.LogZ{Value: 3.2, Errs: boltzmann.ErrsHigh, ESS: 0.5, Each: []float64{3, 4, math.Inf(1)}}
	f := LogZEstimates(low, high)
	if err := f.Save(filepath.Join(t.TempDir(), "logz.svg")); err != nil {
		t.Fatal(err)
	}
	if names := f.legend; len(names) != 2 || !strings.HasPrefix(names[0].text, "AIS: log Z = 3.00, ESS 25 %") || !strings.HasPrefix(names[1].text, "reverse AIS: log Z = 3.20") {
		t.Errorf("the legend is %+v", names)
	}
	if x := f.panels[0].X; x.Min != 1 || x.Max != 4 {
		t.Errorf("the axis is from %v to %v, the finite estimates from 1 to 4", x.Min, x.Max)
	}
}

func TestFreeEnergies(t *testing.T) {
	if err := FreeEnergies([]float64{-3, -2}, []float64{-1}).Save(filepath.Join(t.TempDir(), "f.svg")); err != nil {
		t.Error(err)
	}
	for name, f := range map[string]*Figure{"no estimates": LogZEstimates(), "no chains": LogZEstimates(boltzmann.LogZ{}), "no rows": FreeEnergies([]float64{1}, nil)} {
		if err := f.Save(filepath.Join(t.TempDir(), "f.svg")); err == nil || !strings.Contains(err.Error(), "to draw") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

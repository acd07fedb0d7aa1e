package plotting_test

import (
	"bytes"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has the results of two invented methods at several learning rates: parabolas in the
// logarithm of the rate, one with its best rate five times lower.
func ExampleMeasurements() {
	reached := func(name string, best, limit float64) plotting.Measured {
		m := plotting.Measured{Name: name, SpreadName: "± 1 sd over 3 seeds"}
		for _, rate := range []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5} {
			from := math.Log10(rate / best)
			m.X, m.Y = append(m.X, rate), append(m.Y, limit+2*from*from)
			m.Spread = append(m.Spread, 0.1)
		}
		return m
	}
	figure := plotting.Measurements(
		plotting.Axis{Label: "learning rate η", Logarithmic: true},
		plotting.Axis{Label: "−log p(x) (nats)"},
		reached("NRWS", 0.05, 28), reached("RWS", 0.25, 28.5),
	)
	if err := figure.Save("measurements.png"); err != nil {
		log.Fatal(err)
	}
}

func TestMeasurements(t *testing.T) { golden(t, ExampleMeasurements, "measurements.png") }

// A bar may extend below 0 on a logarithmic axis; inconsistent measurements and unexplained bars
// are refused.
func TestMeasurementsThatCannotBeDrawn(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figure.png")
	plain, logarithmic := plotting.Axis{Label: "a"}, plotting.Axis{Label: "b", Logarithmic: true}
	wide := plotting.Measured{Name: "wide", X: []float64{1, 2}, Y: []float64{1, 2}, Spread: []float64{3, 1}, SpreadName: "± 1 se"}
	if err := plotting.Measurements(plain, logarithmic, wide).Save(file); err != nil {
		t.Errorf("a bar below 0: %v", err)
	}
	for _, test := range []struct {
		measured []plotting.Measured
		says     string
	}{
		{nil, "give at least one"},
		{[]plotting.Measured{{Name: "short", X: []float64{1, 2}, Y: []float64{1}}}, "short has 1 values and 0 spreads at 2 points"},
		{[]plotting.Measured{{Name: "some", X: []float64{1}, Y: []float64{1}, Spread: []float64{1}}}, "some has spreads without a SpreadName"},
		{[]plotting.Measured{{Name: "below", X: []float64{1}, Y: []float64{-1}}}, "below has no finite value"},
	} {
		err := plotting.Measurements(plain, logarithmic, test.measured...).Save(file)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("the error is %v, want one that says %q", err, test.says)
		}
	}
}

// A bar that is longer than the panel ends at its edges.
func TestBarsEndAtThePanel(t *testing.T) {
	drawn := func(spread float64) []byte {
		file := filepath.Join(t.TempDir(), "figure.png")
		figure := plotting.Measurements(plotting.Axis{}, plotting.Axis{}, plotting.Measured{X: []float64{1, 2}, Y: []float64{1, 1}, Spread: []float64{spread, 0}, SpreadName: "± 1 sd"})
		figure.Panels()[0].Y.Min, figure.Panels()[0].Y.Max = 0, 2
		if err := figure.Save(file); err != nil {
			t.Fatal(err)
		}
		picture, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
	if !bytes.Equal(drawn(1), drawn(1000)) {
		t.Error("a bar is drawn outside the panel")
	}
	if bytes.Equal(drawn(1), drawn(0.5)) {
		t.Error("a bar within the panel has no length")
	}
}

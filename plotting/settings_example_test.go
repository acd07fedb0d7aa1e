package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// falling returns an invented run.
func falling(name string, limit float64) runs.History {
	h := runs.History{Name: name}
	for epoch := 1; epoch <= 40; epoch++ {
		fall := 30 / math.Sqrt(float64(epoch))
		h.Epochs = append(h.Epochs, runs.Epoch{
			Epoch: epoch, Train: runs.Measures{"log_p": -limit - fall}, Validation: runs.Measures{"log_p": -limit - fall - 2},
		})
	}
	return h
}

// The figure fits a column of a paper: 3.25 inches wide, with names, labels and ticks of its own.
func ExampleFigure() {
	figure := plotting.Curves(falling("NRWS, η = 0.002", 20), falling("RWS, η = 0.02", 24)).
		Size(3.25, 2.5).Resolution(300).
		Names("natural", "plain")
	panel := figure.Panels()[0]
	panel.Y.Label.Text, panel.Y.Min, panel.Y.Max = "loss (nats)", 22, 50
	panel.Y.Tick.Marker = plot.ConstantTicks{{Value: 25, Label: "25"}, {Value: 35, Label: "35"}, {Value: 45, Label: "45"}}
	if err := figure.Save("paper.png"); err != nil {
		log.Fatal(err)
	}
}

// Text and lines of the figure are large enough for a slide with a dark background.
func ExampleFigure_Theme() {
	figure := plotting.Curves(falling("NRWS", 20), falling("RWS", 24)).Title("Both learn").Theme(plotting.Dark)
	if err := figure.Save("dark.png"); err != nil {
		log.Fatal(err)
	}
}

// Two figures stand beside each other in one file.
func ExampleRow() {
	figure := plotting.Row(
		plotting.Curves(falling("NRWS", 20)).Title("Training"),
		plotting.HeatMap("learning rate", "damping", "loss", plotting.Cell{X: 0.1, Y: 1, Value: 30}, plotting.Cell{X: 0.2, Y: 1, Value: 28}).Title("Settings"),
	).Size(9, 3.5)
	if err := figure.Save("row.png"); err != nil {
		log.Fatal(err)
	}
}

// A figure of this package takes any plotter of gonum: here a curve of expected values beside measured
// ones.
func ExampleFigure_Panels() {
	figure := plotting.Measurements(plotting.Axis{Label: "samples per row"}, plotting.Axis{Label: "error (nats)"},
		plotting.Measured{Name: "measured; the thin line is 1/√n", X: []float64{1, 4, 9, 16}, Y: []float64{1.1, 0.45, 0.36, 0.24}})
	expected := plotter.NewFunction(func(n float64) float64 { return 1 / math.Sqrt(n) })
	expected.XMin, expected.XMax = 1, 16
	figure.Panels()[0].Add(expected)
	if err := figure.Save("expected.png"); err != nil {
		log.Fatal(err)
	}
}

func TestFigureSettings(t *testing.T) {
	for name, example := range map[string]func(){
		"paper.png": ExampleFigure, "dark.png": ExampleFigure_Theme, "row.png": ExampleRow, "expected.png": ExampleFigure_Panels,
	} {
		t.Run(name, func(t *testing.T) { golden(t, example, name) })
	}
}

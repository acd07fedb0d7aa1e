package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has an invented grid of learning rates and dampings; the best rate rises with the
// damping. Large rates with small dampings diverged, or nearly.
func ExampleHeatMap() {
	var cells []plotting.Cell
	for _, rate := range []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05} {
		for _, damping := range []float64{0.005, 0.01, 0.02, 0.05, 0.1, 0.2} {
			from := math.Log10(rate) - 0.7*math.Log10(damping) + 0.9
			cell := plotting.Cell{X: rate, Y: damping, Value: 27.6 + 1.5*from*from + 0.3*math.Abs(math.Log10(damping/0.05))}
			switch ratio := rate / damping; {
			case ratio > 9:
				continue
			case ratio > 3:
				cell.Value = 40 + ratio*ratio
			}
			cells = append(cells, cell)
		}
	}
	if err := plotting.HeatMap("learning rate η", "damping α", "−log p(x) (nats)", cells...).Save("heatmap.png"); err != nil {
		log.Fatal(err)
	}
}

func TestHeatMap(t *testing.T) { golden(t, ExampleHeatMap, "heatmap.png") }

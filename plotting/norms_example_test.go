package plotting_test

import (
	"log"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This example is an invented run of a natural method with two hidden layers: weights grow with the
// square root of the epoch, and gradients fall.
func ExampleNorms() {
	run := runs.History{Name: "NRWS"}
	for e := 1.0; e <= 40; e++ {
		layers := func(scale float64) []runs.LayerNorms {
			layer := func(size float64) runs.LayerNorms {
				gradient := size * (1 + 5*math.Exp(-e/10)) / 10
				return runs.LayerNorms{Weights: size * math.Sqrt(e), Gradient: gradient, Direction: 4 * gradient}
			}
			return []runs.LayerNorms{layer(10 * scale), layer(4 * scale)}
		}
		run.Epochs = append(run.Epochs, runs.Epoch{
			Epoch: int(e),
			Norms: runs.Norms{hm.Generative: layers(1), hm.Recognition: layers(0.6)},
		})
	}
	if err := plotting.Norms(run).Save("norms.png"); err != nil {
		log.Fatal(err)
	}
}

func TestNorms(t *testing.T) { golden(t, ExampleNorms, "norms.png") }

// Directions have a panel only if they differ from the gradients, and a history without norms gets
// an error with a remedy.
func TestNormsOfOtherHistories(t *testing.T) {
	layers := []runs.LayerNorms{{Weights: 3, Gradient: 2, Direction: 2}}
	run := runs.History{Epochs: []runs.Epoch{{Epoch: 1}, {Epoch: 2, Norms: runs.Norms{hm.Generative: layers, hm.Recognition: layers}}}}
	if n := len(plotting.Norms(run).Panels()); n != 2 {
		t.Errorf("%d panels for steps along the gradients, want 2", n)
	}
	layers[0].Direction = 1
	if n := len(plotting.Norms(run).Panels()); n != 3 {
		t.Errorf("%d panels for steps along other directions, want 3", n)
	}
	path := filepath.Join(t.TempDir(), "norms.png")
	still := []runs.LayerNorms{layers[0], {Weights: 3}}
	run.Epochs[1].Norms[hm.Generative] = still
	if err := plotting.Norms(run).Save(path); err != nil {
		t.Errorf("of a layer that does not move: %v", err)
	}
	run.Epochs[1].Norms = runs.Norms{hm.Generative: still[1:]}
	if err := plotting.Norms(run).Save(path); err == nil || !strings.Contains(err.Error(), "no layer has a positive norm") {
		t.Errorf("of layers that do not move: %v", err)
	}
	err := plotting.Norms(runs.History{Epochs: run.Epochs[:1]}).Save(filepath.Join(t.TempDir(), "norms.png"))
	if err == nil || !strings.Contains(err.Error(), "train another epoch") {
		t.Errorf("the error for a history without norms is %v", err)
	}
}

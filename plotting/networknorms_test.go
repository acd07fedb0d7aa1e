package plotting

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The norm of a network is the norm of all its weights in one vector.
func TestNormOverLayers(t *testing.T) {
	weights := [][]float64{{3, -4}, {12}, {0.5, 0.5, -0.5, 0.5}}
	square := 0.0
	var layers []runs.LayerNorms
	for _, of := range weights {
		layer := 0.0
		for _, w := range of {
			layer += w * w
		}
		square += layer
		layers = append(layers, runs.LayerNorms{Weights: math.Sqrt(layer)})
	}
	got := overLayers(layers, layerNorm{of: func(l runs.LayerNorms) float64 { return l.Weights }})
	if want := math.Sqrt(square); math.Abs(got-want) > 1e-12 {
		t.Errorf("the norm over the layers is %v, that of all weights %v", got, want)
	}
}

// If one run's steps differ from the gradient, all runs get a panel of directions; a run without
// norms is named.
func TestNetworkNormsOfOtherHistories(t *testing.T) {
	run := func(direction float64) runs.History {
		layers := []runs.LayerNorms{{Weights: 3, Gradient: 2, Direction: direction}}
		return runs.History{Epochs: []runs.Epoch{{Epoch: 1}, {Epoch: 2, Norms: runs.Norms{hm.Generative: layers, hm.Recognition: layers}}}}
	}
	if n := len(NetworkNorms(run(2), run(2)).Panels()); n != 2 {
		t.Errorf("%d panels for steps along the gradients, want 2", n)
	}
	if n := len(NetworkNorms(run(2), run(1)).Panels()); n != 3 {
		t.Errorf("%d panels for steps along other directions, want 3", n)
	}
	for want, f := range map[string]*Figure{
		"no histories":       NetworkNorms(),
		"run 2 has no norms": NetworkNorms(run(2), runs.History{Epochs: []runs.Epoch{{Epoch: 1}}}),
		"the norm of the weights of p of run 1 has no finite": NetworkNorms(runs.History{Epochs: []runs.Epoch{{Epoch: 1, Norms: runs.Norms{hm.Generative: nil}}}}),
	} {
		err := f.Save(filepath.Join(t.TempDir(), "figure.png"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
}

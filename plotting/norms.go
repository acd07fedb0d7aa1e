package plotting

import (
	"errors"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// Norms draws the Euclidean norms of the weights and of the gradients of each
// layer against the epoch (004, Figs 6.11 and 6.13): a colour a pair of layers,
// p solid, q dashed. A third panel has those of the directions that the optimiser
// was given, where a metric or a regulariser made them other than the gradients.
// Scales are logarithmic: what layers have in common shows in the slopes.
func Norms(h runs.History) *Figure {
	var epochs []runs.Epoch
	for _, e := range h.Epochs {
		if e.Norms != nil {
			epochs = append(epochs, e)
		}
	}
	if len(epochs) == 0 {
		return failed(errors.New("the history has no norms: train another epoch"))
	}
	weights := func(l runs.LayerNorms) float64 { return l.Weights }
	gradient := func(l runs.LayerNorms) float64 { return l.Gradient }
	direction := func(l runs.LayerNorms) float64 { return l.Direction }
	quantities := []struct {
		label string
		norm  func(runs.LayerNorms) float64
	}{{"norm of the weights", weights}, {"norm of the gradient", gradient}, {"norm of the direction of the step", direction}}
	if sameDirections(epochs) {
		quantities = quantities[:2]
	}
	var panels []*plot.Plot
	for _, q := range quantities {
		panel := newPanel("epoch", q.label)
		panel.X.Tick.Marker, panel.Y.Tick.Marker = byEpoch.ticks, logTicks{}
		if err := addNorms(panel, q.label, epochs, q.norm); err != nil {
			return failed(err)
		}
		padY(panel)
		panels = append(panels, panel)
	}
	f := newFigure(panels...)
	f.title = h.Name
	for i := range epochs[0].Norms[hm.Generative] {
		f.legend.add(fmt.Sprintf("layers %d and %d", i, i+1), sample(in(colour(i), solid)))
	}
	f.legend.add("p", sample(solid))
	f.legend.add("q", sample(dashed))
	return f
}

// sameDirections says whether each step followed its gradient.
func sameDirections(epochs []runs.Epoch) bool {
	for _, e := range epochs {
		for _, network := range e.Norms {
			for _, l := range network {
				if math.Abs(l.Direction-l.Gradient) > 1e-5*l.Gradient {
					return false
				}
			}
		}
	}
	return true
}

// addNorms draws a norm of each layer of both networks.
func addNorms(panel *plot.Plot, what string, epochs []runs.Epoch, norm func(runs.LayerNorms) float64) error {
	for _, network := range []struct {
		name, key string
		dashes    bool
	}{
		{"p", hm.Generative, false},
		{"q", hm.Recognition, true},
	} {
		for i := range epochs[0].Norms[network.key] {
			var points plotter.XYs
			for _, e := range epochs {
				if layers := e.Norms[network.key]; i < len(layers) {
					points = append(points, plotter.XY{X: byEpoch.of(e), Y: math.Log10(norm(layers[i]))})
				}
			}
			style := solid
			if network.dashes {
				style = dashed
			}
			if err := addLine(panel, fmt.Sprintf("the %s of layer %d of %s", what, i, network.name), points, in(colour(i), style)); err != nil {
				return err
			}
		}
	}
	return nil
}

package plotting

import (
	"errors"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// NetworkNorms draws the norms that Norms does of several runs, laid over each
// other (Várady 2025, Figs 6.11 and 6.13): a colour a run, and of each network, p solid
// and q dashed, one Euclidean norm over all its layers.
func NetworkNorms(histories ...runs.History) *Figure {
	if len(histories) == 0 {
		return failed(errors.New("no histories to draw: give at least one run's"))
	}
	recorded := make([][]runs.Epoch, len(histories))
	var all []runs.Epoch
	for i, h := range histories {
		epochs, err := epochsWithNorms(h, runName(h, i))
		if err != nil {
			return failed(err)
		}
		recorded[i], all = epochs, append(all, epochs...)
	}
	var panels []*plot.Plot
	for _, q := range normsToDraw(all) {
		panel := newNormPanel(q)
		for i, epochs := range recorded {
			if err := addNetworkNorms(panel, q, epochs, runName(histories[i], i), i); err != nil {
				return failed(err)
			}
		}
		padY(panel)
		panels = append(panels, panel)
	}
	f := newFigure(panels...)
	for i, h := range histories {
		f.legend.add(runName(h, i), sample(in(paletteColor(i), solid)))
	}
	f.addNetworkStyles(networksOf(all))
	return f
}

// addNetworkNorms draws a norm of both networks of run i.
func addNetworkNorms(panel *plot.Plot, q layerNorm, epochs []runs.Epoch, run string, i int) error {
	for _, n := range networksOf(epochs) {
		points := make(plotter.XYs, len(epochs))
		for j, e := range epochs {
			points[j] = plotter.XY{X: byEpoch.of(e), Y: math.Log10(overLayers(e.Norms[n.key], q))}
		}
		if err := addLine(panel, fmt.Sprintf("the %s of %s of %s", q.label, n.name, run), points, in(paletteColor(i), n.style)); err != nil {
			return err
		}
	}
	return nil
}

// overLayers is the norm over all layers: the root of the sum of the squares of
// theirs.
func overLayers(layers []runs.LayerNorms, q layerNorm) float64 {
	norm := 0.0
	for _, l := range layers {
		norm = math.Hypot(norm, q.of(l))
	}
	return norm
}

package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// Norms draws the Euclidean norms of the weights and of the gradients of each layer against the
// epoch: one colour per pair of neighbouring layers, p solid and q dashed. If a metric or a regulariser
// makes the directions given to the optimiser differ from the gradients, a third panel shows their norms.
// Scales are logarithmic, so that slopes can be compared between layers. NetworkNorms draws several runs.
func Norms(h runs.History) *Figure {
	epochs, err := epochsWithNorms(h, "the history")
	if err != nil {
		return failed(err)
	}
	f := norms(epochs, func(q layerNorm) []curve { return layerCurves(q, epochs) })
	f.title = h.Name
	for i := range epochs[0].Norms[networksOf(epochs)[0].key] {
		f.legend.add(fmt.Sprintf("layers %d and %d", i, i+1), sample(in(paletteColor(i), solid)))
	}
	f.addNetworkStyles(networksOf(epochs))
	return f
}

// NetworkNorms draws the norms of several runs in one figure (Várady 2025, Figs 6.11 and 6.13), one
// colour per run. Each network has one curve, p solid and q dashed: the Euclidean norm over all its
// layers.
func NetworkNorms(histories ...runs.History) *Figure {
	if len(histories) == 0 {
		return failed(errors.New("no histories to draw: give the history of at least one run"))
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
	f := norms(all, func(q layerNorm) (curves []curve) {
		for i, epochs := range recorded {
			for _, n := range networksOf(epochs) {
				c := curve{what: fmt.Sprintf("the %s of %s of %s", q.label, n.name, runName(histories[i], i)), style: in(paletteColor(i), n.style)}
				for _, e := range epochs {
					c.points = append(c.points, plotter.XY{X: byEpoch.of(e), Y: math.Log10(overLayers(e.Norms[n.key], q))})
				}
				curves = append(curves, c)
			}
		}
		return curves
	})
	for i, h := range histories {
		f.legend.add(runName(h, i), sample(in(paletteColor(i), solid)))
	}
	f.addNetworkStyles(networksOf(all))
	return f
}

// norms returns a figure with a panel for each norm that epochs have. of returns its curves.
func norms(epochs []runs.Epoch, of func(layerNorm) []curve) *Figure {
	var charts []chart
	for _, q := range normsToDraw(epochs) {
		curves := of(q)
		if len(curves) == 0 {
			return failed(fmt.Errorf("no layer has a positive %s after any epoch: nothing to draw", q.label))
		}
		charts = append(charts, chart{x: "epoch", y: q.label, xTicks: byEpoch.ticks, yTicks: logTicks{}, curves: curves})
	}
	f, _ := drawn(charts...)
	return f
}

type layerNorm struct {
	label string
	of    func(runs.LayerNorms) float64
}

// normsToDraw omits the norms of directions if they equal the norms of gradients.
func normsToDraw(epochs []runs.Epoch) []layerNorm {
	norms := []layerNorm{
		{"norm of the weights", func(l runs.LayerNorms) float64 { return l.Weights }},
		{"norm of the gradient", func(l runs.LayerNorms) float64 { return l.Gradient }},
		{"norm of the direction of the step", func(l runs.LayerNorms) float64 { return l.Direction }},
	}
	if sameDirections(epochs) {
		return norms[:2]
	}
	return norms
}

func epochsWithNorms(h runs.History, name string) ([]runs.Epoch, error) {
	if h.Err != nil {
		return nil, h.Err
	}
	epochs := slices.DeleteFunc(slices.Clone(h.Epochs), func(e runs.Epoch) bool { return e.Norms == nil })
	if len(epochs) == 0 {
		return nil, fmt.Errorf("%s has no norms: train another epoch", name)
	}
	return epochs, nil
}

// sameDirections reports whether every direction has the same norm as its gradient.
func sameDirections(epochs []runs.Epoch) bool {
	for _, e := range epochs {
		for _, layers := range e.Norms {
			for _, l := range layers {
				if math.Abs(l.Direction-l.Gradient) > 1e-5*l.Gradient {
					return false
				}
			}
		}
	}
	return true
}

// layerCurves returns the curves of a norm of each layer of each network. It omits a layer whose norm is 0 or not
// finite after every epoch, because a logarithmic scale cannot show it.
func layerCurves(q layerNorm, epochs []runs.Epoch) (curves []curve) {
	for _, n := range networksOf(epochs) {
		for i := range epochs[0].Norms[n.key] {
			c := curve{what: fmt.Sprintf("the %s of layer %d of %s", q.label, i, n.name), style: in(paletteColor(i), n.style)}
			for _, e := range epochs {
				if layers := e.Norms[n.key]; i < len(layers) {
					c.points = append(c.points, plotter.XY{X: byEpoch.of(e), Y: math.Log10(q.of(layers[i]))})
				}
			}
			if len(finite(c.points)) > 0 {
				curves = append(curves, c)
			}
		}
	}
	return curves
}

// overLayers returns the norm over all layers: the root of the sum of squares of the layers' norms.
func overLayers(layers []runs.LayerNorms, q layerNorm) float64 {
	norm := 0.0
	for _, l := range layers {
		norm = math.Hypot(norm, q.of(l))
	}
	return norm
}

// network is one of a model's networks, with its key in norms and its name in legends.
type network struct {
	key, name string
	style     draw.LineStyle
}

// networksOf returns the networks with recorded norms: p and q of a Helmholtz machine.
func networksOf(epochs []runs.Epoch) []network {
	all := runs.Norms{}
	for _, e := range epochs {
		maps.Copy(all, e.Norms)
	}
	names := map[string]string{hm.Generative: "p", hm.Recognition: "q"}
	styles := []draw.LineStyle{solid, dashed, dashDotted}
	var networks []network
	for i, key := range slices.Sorted(maps.Keys(all)) {
		networks = append(networks, network{key, cmp.Or(names[key], key), styles[i%len(styles)]})
	}
	return networks
}

func (f *Figure) addNetworkStyles(networks []network) {
	for _, n := range networks {
		f.legend.add(n.name, sample(n.style))
	}
}

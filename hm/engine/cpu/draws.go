package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// draws returns a copy of the states and log-probabilities of a pass.
func (v *pass) draws() engine.Draws {
	d := engine.NewDraws(v.weights.architecture, v.data*v.samples)
	v.writeDraws(&d, 0)
	return d
}

// writeDraws copies the states and log-probabilities of a pass into d, starting at row first.
func (v *pass) writeDraws(d *engine.Draws, first int) {
	rows := v.data * v.samples
	copy(d.LogP[first:], v.logP)
	copy(d.LogQ[first:], v.logQ)
	for i, units := range v.weights.architecture.Units {
		for r := range rows {
			if d.Values[i] != nil {
				copy(d.Values[i][(first+r)*units:], v.units(i, r))
				continue
			}
			to := d.States[i][(first+r)*units:]
			for j, s := range v.units(i, r) {
				if s > 0 {
					to[j] = 1
				}
			}
		}
	}
}

// writeMeans writes the means of a layer's units, given their outputs in a network, into d,
// starting at row first.
func (w *weights) writeMeans(d *engine.Draws, n network, layer, first int, outputs kernels.Matrix) {
	units := w.architecture.Units[layer]
	for r := range outputs.Rows {
		w.units[n][layer].means(d.Means[layer][(first+r)*units:][:units], kernels.Row(outputs, r))
	}
}

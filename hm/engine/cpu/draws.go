package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// draws copies the states and the log-probabilities of a pass.
func (v *pass) draws() engine.Draws {
	d := engine.NewDraws(v.weights.architecture, v.data*v.samples)
	v.writeDraws(&d, 0)
	return d
}

// writeDraws copies the states and the log-probabilities of a pass to draws
// from a row on.
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

// writeMeans writes the means that the outputs of a layer of a network give its
// units to draws from a row on.
func (w *weights) writeMeans(d *engine.Draws, n network, layer, first int, outputs kernels.Matrix) {
	units := w.architecture.Units[layer]
	for r := range outputs.Rows {
		w.units[n][layer].means(d.Means[layer][(first+r)*units:][:units], kernels.Row(outputs, r))
	}
}

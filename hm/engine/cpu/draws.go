package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// newDraws returns room for a number of draws, with means.
func newDraws(a engine.Architecture, rows int) engine.Draws {
	d := newStates(a, rows)
	d.Means = make([][]float32, len(a.Units))
	for i, units := range a.Units {
		d.Means[i] = make([]float32, rows*units)
	}
	return d
}

// newStates returns room for a number of draws, without means.
func newStates(a engine.Architecture, rows int) engine.Draws {
	d := engine.Draws{
		Rows:   rows,
		States: make([][]uint8, len(a.Units)),
		LogP:   make([]float64, rows),
		LogQ:   make([]float64, rows),
	}
	for i, units := range a.Units {
		d.States[i] = make([]uint8, rows*units)
	}
	return d
}

// draws copies the states and the log-probabilities of a pass.
func (v *pass) draws() engine.Draws {
	d := newStates(v.weights.architecture, v.data*v.samples)
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
			to := d.States[i][(first+r)*units:]
			for j, s := range v.units(i, r) {
				if s > 0 {
					to[j] = 1
				}
			}
		}
	}
}

// writeMeans writes σ of the logits of a layer to draws from a row on.
func writeMeans(d *engine.Draws, layer, first int, logits kernels.Matrix) {
	for r := range logits.Rows {
		to := d.Means[layer][(first+r)*logits.Cols:]
		for j, a := range kernels.Row(logits, r) {
			to[j] = kernels.Sigmoid(a)
		}
	}
}

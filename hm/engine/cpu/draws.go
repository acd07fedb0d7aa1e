package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// draws copies the states and the log-probabilities of a pass.
func (v *pass) draws() engine.Draws {
	rows := v.data * v.samples
	d := engine.Draws{
		Rows:   rows,
		States: make([][]uint8, len(v.states)),
		LogP:   append([]float64(nil), v.logP...),
		LogQ:   append([]float64(nil), v.logQ...),
	}
	for i, units := range v.weights.architecture.Units {
		d.States[i] = make([]uint8, 0, rows*units)
		for r := range rows {
			for _, s := range v.units(i, r) {
				on := uint8(0)
				if s > 0 {
					on = 1
				}
				d.States[i] = append(d.States[i], on)
			}
		}
	}
	return d
}

// means appends, for each layer, the probability of each unit to be on: σ of
// the logits that of returns.
func (v *pass) means(logits func(layer int) kernels.Matrix) [][]float32 {
	means := make([][]float32, len(v.states))
	for i := range means {
		l := logits(i)
		means[i] = make([]float32, 0, l.Rows*l.Cols)
		for r := range l.Rows {
			for _, a := range kernels.Row(l, r) {
				means[i] = append(means[i], kernels.Sigmoid(a))
			}
		}
	}
	return means
}

package boltzmann

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// rowsAPart are the most rows that one processor takes through the weights together.
// The results do not depend on it.
const rowsAPart = 32

// products multiply states by the weights, in both directions, by several rows at once.
type products struct {
	*Parameters
	packed *kernels.Packed // W, for products with Wᵀ
}

func newProducts(p *Parameters) *products {
	w := &products{p, kernels.NewPacked(p.Visible(), p.Hidden())}
	w.packed.Pack(p.Weights, 0, p.Visible())
	return w
}

// up writes the inputs c + Wᵀv of the hidden units for each row v of visible ones.
func (w *products) up(inputs, visible kernels.Matrix) {
	for r := range inputs.Rows {
		copy(kernels.Row(inputs, r), w.HiddenBiases)
	}
	kernels.AddMulNN(inputs, visible, w.Weights)
}

// down writes the inputs b + Wh of the visible units for each row h of hidden ones.
func (w *products) down(inputs, hidden kernels.Matrix) {
	kernels.MulPacked(inputs, hidden, w.packed)
	for r := range inputs.Rows {
		add(kernels.Row(inputs, r), 1, w.VisibleBiases)
	}
}

// A place tells the draws of a layer of some rows from all others.
type place struct {
	key     philox.Key
	purpose philox.Purpose
	layer   uint8  // 0 of visible units, 1 of hidden ones
	sample  uint32 // sweep of a training step
	datum   uint32 // the first row
	step    uint32 // training step, or sweep
}

// counter is that of a row.
func (p place) counter(row int) philox.Counter {
	return philox.Counter{Purpose: p.purpose, Layer: p.layer, Sample: p.sample, Datum: p.datum + uint32(row), Step: p.step}
}

// draw draws states of units with inputs, rows of them.
func (p place) draw(states, inputs kernels.Matrix) {
	for r := range states.Rows {
		kernels.Draw(kernels.Row(states, r), kernels.Row(inputs, r), 0, p.key, p.counter(r))
	}
}

package boltzmann

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// rowsAPart are the most rows that one processor takes through the weights together.
// The results do not depend on it.
const rowsAPart = 32

// products multiply states by the weights, in both directions, by many rows at once.
type products struct {
	*Parameters
	packed *kernels.Packed // W, for products with Wᵀ
}

func newProducts(p *Parameters) *products {
	w := &products{p, kernels.NewPacked(p.Visible(), p.Hidden())}
	w.pack()
	return w
}

// pack has to be called when the weights have changed.
func (w *products) pack() {
	const rows = kernels.PackedRows
	work.Parts((w.Visible()+rows-1)/rows, 1, func(first, last int) {
		w.packed.Pack(w.Weights, first*rows, min(last*rows, w.Visible()))
	})
}

// up writes the inputs c + Wᵀv of the hidden units for each row v of visible units, and
// then calls each with the row and its inputs, of several rows at once.
func (w *products) up(inputs, visible kernels.Matrix, each func(row int, inputs []float32)) {
	w.parts(inputs, visible, each, func(inputs, visible kernels.Matrix) {
		for r := range inputs.Rows {
			copy(kernels.Row(inputs, r), w.HiddenBiases)
		}
		kernels.AddMulNN(inputs, visible, w.Weights)
	})
}

// down writes the inputs b + Wh of the visible units for each row h of hidden units, and
// then calls each as up does.
func (w *products) down(inputs, hidden kernels.Matrix, each func(row int, inputs []float32)) {
	w.parts(inputs, hidden, each, func(inputs, hidden kernels.Matrix) {
		kernels.MulPacked(inputs, hidden, w.packed)
		for r := range inputs.Rows {
			for i, b := range w.VisibleBiases {
				kernels.Row(inputs, r)[i] += b
			}
		}
	})
}

func (w *products) parts(to, from kernels.Matrix, each func(row int, inputs []float32), multiply func(to, from kernels.Matrix)) {
	work.Parts(from.Rows, rowsAPart, func(first, last int) {
		multiply(kernels.Rows(to, first, last), kernels.Rows(from, first, last))
		for r := first; r < last; r++ {
			each(r, kernels.Row(to, r))
		}
	})
}

// A place tells the draws of a layer of some rows from all others.
type place struct {
	key     philox.Key
	purpose philox.Purpose
	layer   uint8  // 0 of visible units, 1 of hidden ones
	sample  uint32 // sweep of a training step
	step    uint32 // training step, or sweep
}

func (p place) counter(row int) philox.Counter {
	return philox.Counter{Purpose: p.purpose, Layer: p.layer, Sample: p.sample, Datum: uint32(row), Step: p.step}
}

// draw returns a function that draws the states of units with given inputs, of rows of
// a matrix.
func (p place) draw(states kernels.Matrix) func(row int, inputs []float32) {
	return func(row int, inputs []float32) {
		kernels.Draw(kernels.Row(states, row), inputs, 0, p.key, p.counter(row))
	}
}

package cpu

import "github.com/helmholtz-go/helmholtz/internal/kernels"

// penalise takes the gradients of the penalised norms from the whole gradient.
func (t *trainer) penalise() {
	for i := range t.state.Parameters.Architecture.Units {
		for _, network := range []network{generative, recognition} {
			t.penaliseRows(network, i, matrix(network.layer(t.gradient, i)), 0)
		}
	}
}

// penaliseRows takes β₁ sign(w) + β₂ w, the gradient of β₁‖w‖₁ + ½β₂‖w‖², from
// the gradients of the weights of units first, first+1 … of a layer (004, 6.14).
func (t *trainer) penaliseRows(n network, i int, gradient kernels.Matrix, first int) {
	a := t.job.Algorithm
	if a.L1 == 0 && a.L2 == 0 {
		return
	}
	strength := a.WarmedUp(t.state.Step)
	l1, l2 := float32(strength*a.L1), float32(strength*a.L2)
	parameters := n.layer(t.point, i)
	for r := range gradient.Rows {
		weights := parameters.Row(first + r)[1:]
		for k, w := range weights {
			slope := l2 * w
			if w > 0 {
				slope += l1
			} else if w < 0 {
				slope -= l1
			}
			kernels.Row(gradient, r)[1+k] -= slope
		}
	}
}

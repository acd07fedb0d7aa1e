package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// penalise subtracts β₁ sign(w) + β₂ w, the gradient of β₁‖w‖₁ + ½β₂‖w‖², from the gradients of
// the weights of units first, first+1 … of a layer (Várady 2025, 6.14).
func (t *trainer) penalise(parameters engine.Layer, gradient kernels.Matrix, first int) {
	a := t.job.Algorithm
	if a.L1 == 0 && a.L2 == 0 {
		return
	}
	strength := a.WarmedUp(t.state.Step)
	l1, l2 := float32(strength*a.L1), float32(strength*a.L2)
	for r := range gradient.Rows {
		slopes := kernels.Row(gradient, r)[1:]
		for k, w := range parameters.Row(first + r)[1:] {
			if w != 0 {
				slopes[k] -= float32(l2*w) + withSign(l1, w)
			}
		}
	}
}

// withSign returns x ≥ 0 with the sign of another number, without a branch, which random signs
// would make slow.
func withSign(x, sign float32) float32 {
	return math.Float32frombits(math.Float32bits(x) | math.Float32bits(sign)&(1<<31))
}

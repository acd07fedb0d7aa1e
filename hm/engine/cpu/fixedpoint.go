package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// fixedPoint is a dense connection to binary parents, with weights in fixed point.
type fixedPoint struct {
	dense   // computes gradients whose parents are not packed as bits
	weights *kernels.Fixed
	off     float32 // value of a parent that is off
}

func (f *fixedPoint) pack(weights kernels.Matrix, first, last int) {
	f.weights.Pack(weights, first, last)
}

func (f *fixedPoint) multiply(outputs, parents kernels.Matrix) {
	kernels.MulFixed(outputs, parents, f.off, f.weights)
}

// inFixedPoint reports whether layer i of a network multiplies its parents' states in fixed point.
func inFixedPoint(a engine.Architecture, arithmetic engine.Arithmetic, n network, i int) bool {
	parents := n.Parents(i)
	return arithmetic != engine.FloatingPoint && !n.Connection(a, i).Shared() && n.Place() == min(len(a.Tanh), 1) &&
		parents >= 0 && parents <= a.Depth() && a.Binary(parents)
}

package cpu

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// fixedPoint is dense for binary parents, with weights in fixed point.
type fixedPoint struct {
	dense   // for gradients whose parents are not packed as bits
	weights *kernels.Fixed
	parents sync.Pool // of *kernels.Bits
}

func newFixedPoint(a engine.Architecture, n network, i int) *fixedPoint {
	c := n.Connection(a, i)
	f := &fixedPoint{weights: kernels.NewFixed(c.Outputs, c.Inputs)}
	f.parents.New = func() any { return kernels.NewBits(a.Off(n.Parents(i))) }
	return f
}

func (f *fixedPoint) pack(weights kernels.Matrix, first, last int) {
	f.weights.Pack(weights, first, last)
}

func (f *fixedPoint) multiply(outputs, parents kernels.Matrix) {
	bits := f.parents.Get().(*kernels.Bits)
	defer f.parents.Put(bits)
	bits.PackRows(parents)
	kernels.MulBits(outputs, bits, f.weights)
}

// inFixedPoint reports whether the products with the parents of layer i of a network are in fixed
// point.
func inFixedPoint(a engine.Architecture, arithmetic engine.Arithmetic, n network, i int) bool {
	parents := n.Parents(i)
	return arithmetic != engine.FloatingPoint && !n.Connection(a, i).Shared() && n.Place() == min(len(a.Tanh), 1) &&
		parents >= 0 && parents <= a.Depth() && a.Binary(parents)
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// connection holds the weights of a layer of a network in the order in which it computes outputs
// from them. Each row of a matrix is a sample: [1; states] of the parents, or all positions of
// outputs or residuals.
type connection interface {
	// pack copies rows first to last−1 of the weights.
	pack(weights kernels.Matrix, first, last int)
	// multiply computes the outputs from the states of the parents.
	multiply(outputs, parents kernels.Matrix)
	// accumulate sets gradient to earlier times gradient plus the gradient of the weights,
	// residuals times inputs.
	accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix)
	// gather writes the inputs of a sample into a zero matrix, one row [1; patch] per position.
	gather(inputs kernels.Matrix, parents []float32)
}

func newConnection(c engine.Connection) connection {
	switch {
	case !c.Shared():
		return dense{kernels.NewPacked(c.Outputs, c.Inputs)}
	case c.Down:
		return newDeconvolution(c)
	}
	return newConvolution(c)
}

// dense connects each unit to all units of its parents' layer.
type dense struct{ weights *kernels.Packed }

func (c dense) pack(weights kernels.Matrix, first, last int) { c.weights.Pack(weights, first, last) }

func (c dense) multiply(outputs, parents kernels.Matrix) {
	kernels.MulPacked(outputs, parents, c.weights)
}

func (c dense) accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix) {
	kernels.MulTN(gradient, earlier, residuals, parents)
}

func (c dense) gather(inputs kernels.Matrix, parents []float32) {
	copy(kernels.Row(inputs, 0), parents)
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// connection holds the weights of one layer of a network, arranged for computing its outputs. Each
// row of the matrices parents, outputs and residuals is a sample. A row of parents is [1; states].
// A row of outputs or residuals holds all positions.
type connection interface {
	// pack copies rows first to last−1 of the weights.
	pack(weights kernels.Matrix, first, last int)
	// multiply computes the outputs from the states of the parents.
	multiply(outputs, parents kernels.Matrix)
	// accumulate multiplies gradient by earlier and then adds the gradient of the weights: the
	// products of residuals and inputs, summed over samples and positions.
	accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix)
}

// shared is a connection whose weights are shared by positions.
type shared interface {
	connection
	// gather writes the inputs of one sample, one row [1; patch] per position, of which only the 1 is set before.
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

package cpu

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// convolution connects each position of the coarse grid to its window of the fine grid. It gathers
// the windows of one sample at a time, so that they stay in the processor's cache.
type convolution struct {
	windows
	outputs int // per position
	weights *kernels.Packed
	inputs  sync.Pool // of *kernels.Matrix, one row [1; window] per position
}

func newConvolution(c engine.Connection) *convolution {
	k := &convolution{windows: newWindows(c.Convolution), outputs: c.Outputs, weights: kernels.NewPacked(c.Outputs, c.Inputs)}
	k.inputs.New = func() any {
		m := newInputs(c.Positions, c.Inputs)
		return &m
	}
	return k
}

func (k *convolution) pack(weights kernels.Matrix, first, last int) {
	k.weights.Pack(weights, first, last)
}

func (k *convolution) gather(inputs kernels.Matrix, parents []float32) {
	k.windows.gather(kernels.Cols(inputs, 1, inputs.Cols), parents[1:])
}

func (k *convolution) multiply(outputs, parents kernels.Matrix) {
	inputs := k.inputs.Get().(*kernels.Matrix)
	defer k.inputs.Put(inputs)
	for r := range parents.Rows {
		k.gather(*inputs, kernels.Row(parents, r))
		kernels.MulPacked(ofPositions(kernels.Row(outputs, r), k.outputs), *inputs, k.weights)
	}
}

func (k *convolution) accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix) {
	inputs := k.inputs.Get().(*kernels.Matrix)
	defer k.inputs.Put(inputs)
	for r := range parents.Rows {
		k.gather(*inputs, kernels.Row(parents, r))
		kernels.MulTN(gradient, earlier, ofPositions(kernels.Row(residuals, r), k.outputs), *inputs)
		earlier = 1
	}
}

// ofPositions returns a view of the numbers of a grid as a matrix with one row per position. each
// is the number of values per position.
func ofPositions(numbers []float32, each int) kernels.Matrix {
	return kernels.Matrix{Rows: len(numbers) / each, Cols: each, Stride: each, Data: numbers}
}

package cpu

import (
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// connection multiplies weights with the inputs of a layer: with the rows
// [1; parents] of samples where it is dense, with rows [1; patch], one a
// position, where its weights are shared. These are gathered a sample at a time,
// so that they stay in a processor's cache.
type connection struct {
	engine.Connection
	runs    []run     // of the patches of a sample
	patches sync.Pool // of *kernels.Matrix: positions × inputs
}

// run is a part of the patches of a sample that lies together among the states
// too.
type run struct{ to, from, length int32 }

func newConnection(c engine.Connection) *connection {
	k := &connection{Connection: c}
	if !c.Shared() {
		return k
	}
	c.Taps(func(position, input, parent int) {
		to, from := int32(position*c.Inputs+input), int32(1+parent)
		if n := len(k.runs); n > 0 {
			if last := &k.runs[n-1]; last.to+last.length == to && last.from+last.length == from {
				last.length++
				return
			}
		}
		k.runs = append(k.runs, run{to, from, 1})
	})
	k.patches.New = func() any {
		m := kernels.NewMatrix(c.Positions, c.Inputs)
		for position := range m.Rows {
			kernels.Row(m, position)[0] = 1
		}
		return &m
	}
	return k
}

// gather writes the patches of a sample. What they do not visit stays 0.
func (k *connection) gather(patches kernels.Matrix, states []float32) {
	for _, r := range k.runs {
		copy(patches.Data[r.to:r.to+r.length], states[r.from:])
	}
}

// positions views a row of a layer's outputs as a row for each position.
func (k *connection) positions(outputs []float32) kernels.Matrix {
	return kernels.Matrix{Rows: k.Positions, Cols: k.Outputs, Stride: k.Outputs, Data: outputs}
}

// multiply computes the outputs of samples from the states of their parents.
func (k *connection) multiply(outputs, parents kernels.Matrix, w *kernels.Packed) {
	if !k.Shared() {
		kernels.MulPacked(outputs, parents, w)
		return
	}
	patches := k.patches.Get().(*kernels.Matrix)
	defer k.patches.Put(patches)
	for r := range parents.Rows {
		k.gather(*patches, kernels.Row(parents, r))
		kernels.MulPacked(k.positions(kernels.Row(outputs, r)), *patches, w)
	}
}

// accumulate adds the gradient of rows first to last−1 of the weights, residuals
// times inputs, to a multiple of what is there.
func (k *connection) accumulate(gradient kernels.Matrix, earlier float32, residuals, parents kernels.Matrix, first, last int) {
	if !k.Shared() {
		kernels.MulTN(gradient, earlier, kernels.Cols(residuals, first, last), parents)
		return
	}
	patches := k.patches.Get().(*kernels.Matrix)
	defer k.patches.Put(patches)
	for r := range parents.Rows {
		k.gather(*patches, kernels.Row(parents, r))
		kernels.MulTN(gradient, earlier, kernels.Cols(k.positions(kernels.Row(residuals, r)), first, last), *patches)
		earlier = 1
	}
}

// inputs are those of all samples, a row a sample and position.
func (k *connection) inputs(parents kernels.Matrix) kernels.Matrix {
	if !k.Shared() {
		return parents
	}
	all := kernels.NewMatrix(parents.Rows*k.Positions, k.Inputs)
	for r := range parents.Rows {
		patches := kernels.Rows(all, r*k.Positions, (r+1)*k.Positions)
		for position := range patches.Rows {
			kernels.Row(patches, position)[0] = 1
		}
		k.gather(patches, kernels.Row(parents, r))
	}
	return all
}

// ofInputs views outputs, a row a sample and without gaps, as the rows that
// belong to inputs.
func (k *connection) ofInputs(outputs kernels.Matrix) kernels.Matrix {
	return kernels.Matrix{Rows: outputs.Rows * k.Positions, Cols: k.Outputs, Stride: k.Outputs, Data: outputs.Data}
}

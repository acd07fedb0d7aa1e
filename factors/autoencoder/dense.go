package autoencoder

import (
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Activation is the activation function of hidden units.
type Activation int

const (
	Tanh Activation = iota
	ReLU            // max(0, a)
)

var activationNames = names.New("activation", "tanh", "relu")

func (a Activation) String() string                { return activationNames.Name(int(a)) }
func (a Activation) MarshalText() ([]byte, error)  { return activationNames.Marshal(int(a)) }
func (a *Activation) UnmarshalText(t []byte) error { return activationNames.Parse((*int)(a), t) }

// apply replaces the inputs of units by their values.
func (a Activation) apply(units kernels.Matrix) {
	for r := range units.Rows {
		row := kernels.Row(units, r)
		if a == Tanh {
			kernels.RoundedTanh(row)
			continue
		}
		for j, v := range row {
			row[j] = max(0, v)
		}
	}
}

// back converts derivatives with respect to the values of units, in place, into derivatives with respect to
// their inputs. units holds the values.
func (a Activation) back(derivatives, units kernels.Matrix) {
	for r := range units.Rows {
		to := kernels.Row(derivatives, r)
		for j, y := range kernels.Row(units, r) {
			switch {
			case a == Tanh:
				to[j] *= 1 - y*y
			case y == 0:
				to[j] = 0
			}
		}
	}
}

// dense holds the parameters of a layer y = b + Wᵀx, or a gradient with respect to them.
type dense struct {
	weights kernels.Matrix // W, one row per element of x
	biases  []float32      // b
}

// weightsAPart is the number of rows of W whose gradients one processor computes together.
const weightsAPart = 64

// derive sets d to the gradient with respect to a layer's parameters. The rows of x are inputs of the layer,
// and the rows of y are the derivatives with respect to its outputs.
func (d dense) derive(x, y kernels.Matrix) {
	clear(d.biases)
	for r := range y.Rows {
		kernels.AddMultiple(d.biases, 1, kernels.Row(y, r))
	}
	work.Parts(d.weights.Rows, weightsAPart, func(first, last int) {
		kernels.MulTN(kernels.Rows(d.weights, first, last), 0, kernels.Cols(x, first, last), y)
	})
}

// stack holds the values of the layers of a network for some rows, and the derivatives with respect to the
// values.
type stack struct {
	layers      []dense
	activation  Activation
	values      []kernels.Matrix // the input first, the outputs last; no activation is applied to the outputs
	derivatives []kernels.Matrix // with respect to values; for hidden units with respect to their inputs
}

// newStack returns a stack with memory for rows, and for derivatives if training is true.
func newStack(layers []dense, activation Activation, rows int, training bool) stack {
	s := stack{layers: layers, activation: activation, values: []kernels.Matrix{kernels.NewMatrix(rows, layers[0].weights.Rows)}}
	for _, l := range layers {
		s.values = append(s.values, kernels.NewMatrix(rows, l.weights.Cols))
	}
	if training {
		for _, v := range s.values {
			s.derivatives = append(s.derivatives, kernels.NewMatrix(rows, v.Cols))
		}
	}
	return s
}

// rows returns rows first to last−1 of the stack, which share its memory.
func (s stack) rows(first, last int) stack {
	s.values, s.derivatives = kernels.RowsOf(s.values, first, last), kernels.RowsOf(s.derivatives, first, last)
	return s
}

func (s stack) input() kernels.Matrix   { return s.values[0] }
func (s stack) outputs() kernels.Matrix { return s.values[len(s.values)-1] }

func (s stack) forward() {
	for l, of := range s.layers {
		kernels.Affine(s.values[l+1], s.values[l], of.weights, of.biases)
		if l+1 < len(s.layers) {
			s.activation.apply(s.values[l+1])
		}
	}
}

// backward propagates the derivatives with respect to the outputs down to layer to. The input is layer 0.
func (s stack) backward(to int) {
	for l := len(s.layers) - 1; l >= to; l-- {
		kernels.MulNT(s.derivatives[l], s.derivatives[l+1], s.layers[l].weights)
		if l > 0 {
			s.activation.back(s.derivatives[l], s.values[l])
		}
	}
}

func (s stack) derive(gradient []dense) {
	for l, of := range gradient {
		of.derive(s.values[l], s.derivatives[l+1])
	}
}

package cpu

import "github.com/helmholtz-go/helmholtz/internal/kernels"

// hidden returns the inputs of all layers inside the conditional of layer i of a network, from the
// outputs to the parents: the values [1; z] of its tanh layers, then the rows [1; states] of the
// parents.
func (w *weights) hidden(n network, i int, parents kernels.Matrix) []kernels.Matrix {
	inputs := []kernels.Matrix{parents}
	for k, units := range w.architecture.Tanh {
		z := newInputs(parents.Rows, 1+units)
		values := kernels.Cols(z, 1, z.Cols)
		w.connections[n.Tanh(k+1)][i].multiply(values, inputs[0])
		for r := range z.Rows {
			kernels.Tanh(kernels.Row(values, r))
		}
		inputs = append([]kernels.Matrix{z}, inputs...)
	}
	return inputs
}

// backPropagate replaces the terms of conditionals with tanh layers. A given term pairs the
// residuals of the outputs with the parents; the new terms pair the residuals of each layer with
// the inputs of this layer. If z = tanh(a) is the input of a layer with weights W and residuals δ,
// the residuals of a are Wᵀδ ⊙ (1 − z²).
func (t *trainer) backPropagate(all terms) {
	depth := len(t.weights.architecture.Tanh)
	var tasks []func()
	for n := generative; n <= recognition; n++ {
		for i, given := range all[n] {
			if t.weights.connections[n][i] == nil { // the prior
				continue
			}
			all[n][i] = nil
			for _, whole := range given {
				for first := 0; first < whole.parents.Rows; first += samplesABack {
					part, at := whole.part(first, min(first+samplesABack, whole.parents.Rows)), len(all[n][i])
					for k := range depth + 1 {
						all[n.Tanh(k)][i] = append(all[n.Tanh(k)][i], term{})
					}
					tasks = append(tasks, func() {
						layer, residuals := n, part.of.weigh(part.residuals, new([]float32))
						for k, inputs := range t.weights.hidden(n, i, part.parents) {
							all[layer][i][at] = term{residuals: residuals, parents: inputs}
							if k == depth {
								return
							}
							residuals = throughTanh(residuals, matrix(layer.Layer(t.point, i)), inputs)
							layer = n.Tanh(depth - k)
						}
					})
				}
			}
		}
	}
	parallel(len(tasks), func(k int) { tasks[k]() })
}

// throughTanh returns Wᵀδ ⊙ (1 − z²) for residuals δ and inputs [1; z], one row per sample.
func throughTanh(residuals, weights, inputs kernels.Matrix) kernels.Matrix {
	below := kernels.NewMatrix(residuals.Rows, inputs.Cols-1)
	kernels.AddMulNN(below, residuals, kernels.Cols(weights, 1, weights.Cols))
	for r := range below.Rows {
		row := kernels.Row(below, r)
		for j, z := range kernels.Row(inputs, r)[1:] {
			row[j] *= 1 - z*z
		}
	}
	return below
}

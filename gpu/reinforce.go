//go:build cuda

package gpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

// optimal returns the term of the gradient of layer i of a network that comes from REINFORCE with the optimal
// baseline. It has no samples if the layer has no such term.
func (t *trainer) optimal(p *stepPrograms, n network, i int) reinforceOf {
	a, of := t.job.Algorithm, t.layout.layers[n][i]
	if n != recognition || !a.Reinforce || a.ReinforceBaseline != engine.OptimalBaseline {
		return reinforceOf{}
	}
	return reinforceOf{
		source: sourceOf(p.wake, n, i, p.wake.residuals[n][i], 0, 0), logWeights: t.logWeights,
		samples: uint32(p.wake.samples), units: uint32(of.units), width: uint32(of.width), scale: float32(a.QWake / float64(p.wake.rows())),
	}
}

// baseline is the network of the learned baseline. weights has a row of inputs for each output, learned the outputs for
// each datum, and moves how these have to move. weighted has the weighted residuals of each layer of q.
type baseline struct {
	inputs, outputs         int
	weights, learned, moves address
	weighted                []address
}

func newBaseline(m *memory, wake *pass) baseline {
	b := baseline{weighted: make([]address, len(wake.states))}
	b.inputs, b.outputs = engine.BaselineShape(wake.layout.Architecture)
	b.weights = m.floats(b.outputs * padded(b.inputs))
	b.learned, b.moves = m.floats(wake.data*padded(b.outputs)), m.floats(wake.data*padded(b.outputs))
	wake.want(m, b.weighted, recognition)
	return b
}

// upload copies the weights of a state, if it has any, to the device. They have a row of outputs for each input.
func (b baseline) upload(m *memory, state []float32) {
	weights := make([]float32, b.outputs*padded(b.inputs))
	for k, x := range state {
		weights[k%b.outputs*padded(b.inputs)+k/b.outputs] = x
	}
	upload(m, b.weights, weights)
}

// read returns the weights as a state has them.
func (b baseline) read(m *memory) []float32 {
	weights, state := make([]float32, b.outputs*padded(b.inputs)), make([]float32, b.outputs*b.inputs)
	download(m, weights, b.weights)
	for k := range state {
		state[k] = weights[k%b.outputs*padded(b.inputs)+k/b.outputs]
	}
	return state
}

// writePredictions writes the operations that predict the baselines of a step's samples, weigh the samples' residuals,
// and compute how the predictions have to move.
func (b baseline) writePredictions(w *writer, wake *pass, logWeights address, qWake float64) {
	width := padded(b.inputs)
	inTiles, predict := product(b.learned, padded(b.outputs), wake.states[0], width, wake.data, b.weights, b.outputs, width)
	add(w.program, w.ready[wake][0], outputs, inTiles, predict)
	at, first := w.done(), 1
	for i := 1; i < len(wake.states); i++ {
		units := wake.layout.Units[i]
		add(w.program, at, learn, wake.data, learnOf{
			residuals: wake.residuals[recognition][i], seen: wake.states[0], learned: b.learned, logWeights: logWeights,
			weighted: b.weighted[i], moves: b.moves, scale: qWake / float64(wake.rows()), rate: engine.BaselineRate / float64(wake.data),
			stride: uint32(padded(units)), seenStride: uint32(width), seenWidth: uint32(b.inputs), outputs: uint32(padded(b.outputs)),
			first: uint32(first), samples: uint32(wake.samples), units: uint32(units), least: engine.LeastDenominator,
		})
		first += 2 * units
	}
}

// writeMove adds to phase at the operation that moves the network.
func (b baseline) writeMove(w *writer, at int, wake *pass) {
	width := padded(b.inputs)
	add(w.program, at, gradient, matrixTiles(b.outputs, width), gradientOf{
		gradient: b.weights, base: b.weights, baseScale: 1, units: uint32(b.outputs), width: uint32(width), sources: 1,
		source: [mostSources]source{{
			residuals: b.moves, parents: wake.states[0], residualsStride: uint32(padded(b.outputs)), parentsStride: uint32(width),
			sharing: 1, rows: uint32(wake.data), scale: w.constant(1),
		}},
	})
}

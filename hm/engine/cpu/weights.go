package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// weights are the parameters of a machine in the order in which logits are
// computed from them.
type weights struct {
	architecture engine.Architecture
	networks     [2][]*kernels.Packed // of each layer with parents
	connections  [2][]*connection
	units        [2][]units
	prior        []float32 // logits of hᴹ
	tiles        []tile    // that are packed together
	classes      *classes  // nil of a machine without labels
}

// newWeights returns room for the parameters of an architecture.
func newWeights(a engine.Architecture) *weights {
	w := &weights{architecture: a}
	for n := range w.networks {
		w.networks[n] = make([]*kernels.Packed, len(a.Units))
		w.connections[n] = make([]*connection, len(a.Units))
		w.units[n] = make([]units, len(a.Units))
	}
	for i := range a.Units {
		w.add(generative, i, a.GenerativeConnection(i))
		if i > 0 {
			w.add(recognition, i, a.RecognitionConnection(i))
		}
	}
	w.networks[generative][a.Depth()] = nil // the prior
	w.tiles = tiles(engine.NewParameters(a), 2*kernels.PackedRows)
	if a.Labels() > 0 {
		w.classes = newClasses(w)
	}
	return w
}

// add makes room for layer i of a network.
func (w *weights) add(n network, i int, c engine.Connection) {
	w.networks[n][i] = kernels.NewPacked(c.Outputs, c.Inputs)
	w.connections[n][i] = newConnection(c)
	w.units[n][i] = newUnits(w.architecture, i, c)
}

// outputs is the number of those of layer i of a network, at all positions.
func (w *weights) outputs(n network, i int) int {
	c := w.connections[n][i]
	return c.Positions * c.Outputs
}

// pack takes over the values of p.
func (w *weights) pack(p *engine.Parameters) {
	parallel(len(w.tiles), func(k int) {
		t := w.tiles[k]
		if packed := w.networks[t.network][t.layer]; packed != nil {
			packed.Pack(matrix(t.network.layer(p, t.layer)), t.first, t.last)
		}
	})
	w.prior = p.Generative[w.architecture.Depth()].Data
	if w.classes != nil {
		w.classes.pack(p)
	}
}

// logits computes the logits of layer i of a network from the states of its
// parents.
func (w *weights) logits(n network, i int, logits, parents kernels.Matrix) {
	if w.networks[n][i] == nil { // the prior
		for r := range logits.Rows {
			copy(kernels.Row(logits, r), w.prior)
		}
		return
	}
	w.connections[n][i].multiply(logits, parents, w.networks[n][i])
}

// matrix views a layer of parameters as a matrix.
func matrix(l engine.Layer) kernels.Matrix {
	return kernels.Matrix{Rows: l.Units, Cols: l.Width, Stride: l.Width, Data: l.Data}
}

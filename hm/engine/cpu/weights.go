package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// weights holds the parameters of a machine, arranged for computing logits from them.
type weights struct {
	architecture engine.Architecture
	connections  [][]connection // per network and layer with parents
	units        [2][]units
	prior        []float32 // logits of hᴹ
	tiles        []tile    // parts that are packed together
	classes      *classes  // nil for a machine without labels
}

// newWeights allocates the parameters of an architecture.
func newWeights(a engine.Architecture, arithmetic engine.Arithmetic) *weights {
	w := &weights{architecture: a, units: [2][]units{make([]units, len(a.Units)), make([]units, len(a.Units))}}
	for n := range network(len(a.Networks())) {
		w.connections = append(w.connections, make([]connection, len(a.Units)))
		for i := range a.Units {
			c := n.Connection(a, i)
			switch {
			case c.Outputs == 0:
				continue
			case inFixedPoint(a, arithmetic, n, i):
				w.connections[n][i] = &fixedPoint{weights: kernels.NewFixed(c.Outputs, c.Inputs), off: a.Off(n.Parents(i))}
			default:
				w.connections[n][i] = newConnection(c)
			}
			if n == n.Base() {
				w.units[n][i] = newUnits(a, i, c)
			}
		}
	}
	w.connections[generative][a.Depth()] = nil // the prior
	w.tiles = tiles(a, 2*kernels.PackedRows, false)
	if a.Labels() > 0 {
		w.classes = newClasses(w)
	}
	return w
}

// outputs returns the number of outputs of layer i of a network, over all positions.
func (w *weights) outputs(n network, i int) int { return outputsOf(n.Connection(w.architecture, i)) }

// pack copies the parameters p.
func (w *weights) pack(p *engine.Parameters) {
	parallel(len(w.tiles), func(k int) {
		t := w.tiles[k]
		if connection := w.connections[t.network][t.layer]; connection != nil {
			connection.pack(matrix(t.network.Layer(p, t.layer)), t.first, t.last)
		}
	})
	w.prior = p.Generative[w.architecture.Depth()].Data
	if w.classes != nil {
		w.classes.pack(p)
	}
}

// logits computes the logits of layer i of a network from the states of its parents.
func (w *weights) logits(n network, i int, logits, parents kernels.Matrix) {
	connection := w.connections[n][i]
	if connection == nil { // the prior
		for r := range logits.Rows {
			copy(kernels.Row(logits, r), w.prior)
		}
		return
	}
	if len(w.architecture.Tanh) > 0 {
		parents = w.hidden(n, i, parents)[0]
	}
	connection.multiply(logits, parents)
}

// inputs returns the inputs of all samples, one row per sample and position.
func (w *weights) inputs(n network, i int, parents kernels.Matrix) kernels.Matrix {
	c := n.Connection(w.architecture, i)
	if !c.Shared() {
		return parents
	}
	all := newInputs(parents.Rows*c.Positions, c.Inputs)
	for r := range parents.Rows {
		w.connections[n][i].(shared).gather(kernels.Rows(all, r*c.Positions, (r+1)*c.Positions), kernels.Row(parents, r))
	}
	return all
}

// matrix returns a view of a layer of parameters as a matrix.
func matrix(l engine.Layer) kernels.Matrix {
	return kernels.Matrix{Rows: l.Units, Cols: l.Width, Stride: l.Width, Data: l.Data}
}

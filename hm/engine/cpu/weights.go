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
	prior        []float32            // logits of hᴹ
}

// newWeights returns room for the parameters of an architecture.
func newWeights(a engine.Architecture) *weights {
	w := &weights{architecture: a}
	for n := range w.networks {
		w.networks[n] = make([]*kernels.Packed, len(a.Units))
	}
	for i := range a.Depth() {
		w.networks[generative][i] = kernels.NewPacked(a.Units[i], 1+a.Units[i+1])
		w.networks[recognition][i+1] = kernels.NewPacked(a.Units[i+1], 1+a.Units[i])
	}
	return w
}

// pack takes over the values of p.
func (w *weights) pack(p *engine.Parameters) {
	type part struct {
		network     network
		layer       int
		first, last int
	}
	const rows = 2 * kernels.PackedRows // a part's
	var parts []part
	for n := range w.networks {
		for i, packed := range w.networks[n] {
			if packed == nil {
				continue
			}
			units := network(n).layer(p, i).Units
			for first := 0; first < units; first += rows {
				parts = append(parts, part{network(n), i, first, min(first+rows, units)})
			}
		}
	}
	parallel(len(parts), func(k int) {
		t := parts[k]
		w.networks[t.network][t.layer].Pack(matrix(t.network.layer(p, t.layer)), t.first, t.last)
	})
	w.prior = p.Generative[w.architecture.Depth()].Data
}

// logits computes the logits of layer i of a network from the states of its
// parents.
func (w *weights) logits(n network, i int, logits, parents kernels.Matrix) {
	kernels.MulPacked(logits, parents, w.networks[n][i])
}

// matrix views a layer of parameters as a matrix.
func matrix(l engine.Layer) kernels.Matrix {
	return kernels.Matrix{Rows: l.Units, Cols: l.Width, Stride: l.Width, Data: l.Data}
}

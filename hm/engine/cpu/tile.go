package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// tile is a part of a layer's weights that is processed as a whole: rows first to last−1.
type tile struct {
	network     network
	layer       int
	first, last int
	shared      bool // all positions share the weights; the tile has all rows of the layer
}

// tiles divides the weights of the layers of both networks into parts of at most this many rows.
// Shared weights are few and stay together. If variables is set, the units of a categorical
// variable stay together, too.
func tiles(a engine.Architecture, rows int, variables bool) []tile {
	var all []tile
	for i := range a.Units {
		for n := range network(len(a.Networks())) {
			c, rows := n.Connection(a, i), rows
			if c.Shared() {
				rows = c.Outputs
			}
			for first := 0; first < c.Outputs; {
				last := min(first+rows, c.Outputs)
				if variables && n == n.Base() {
					last = a.EndOfVariables(i, last)
				}
				all = append(all, tile{n, i, first, last, c.Shared()})
				first = last
			}
		}
	}
	return all
}

// residuals returns the columns of samples' residuals that belong to the tile.
func (t tile) residuals(of kernels.Matrix) kernels.Matrix {
	if t.shared {
		return of
	}
	return kernels.Cols(of, t.first, t.last)
}

// of returns a view of the tile in parameters or their gradient.
func (t tile) of(p *engine.Parameters) kernels.Matrix {
	return kernels.Rows(matrix(t.network.Layer(p, t.layer)), t.first, t.last)
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// tile is the part of the weights of a layer that is worked on together: rows
// first to last−1.
type tile struct {
	network     network
	layer       int
	first, last int
}

// tiles divides the weights of the layers of both networks into parts of at most
// a number of rows.
func tiles(p *engine.Parameters, rows int) []tile {
	var all []tile
	for i := range p.Architecture.Units {
		for _, n := range []network{generative, recognition} {
			units := n.layer(p, i).Units
			for first := 0; first < units; first += rows {
				all = append(all, tile{n, i, first, min(first+rows, units)})
			}
		}
	}
	return all
}

// of views the tile of parameters, or of their gradient.
func (t tile) of(p *engine.Parameters) kernels.Matrix {
	return kernels.Rows(matrix(t.network.layer(p, t.layer)), t.first, t.last)
}

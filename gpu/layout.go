//go:build cuda

package gpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

type network = engine.Network

const (
	generative  = engine.Generative
	recognition = engine.Recognition
)

// layer locates the parameters of a layer in engine.Parameters.Flat.
type layer struct{ first, units, width int }

func (l layer) count() int { return l.units * l.width }

// layout locates the parameters of each layer: [generative][i] of p(hⁱ|hⁱ⁺¹), [recognition][i] of
// q(hⁱ|hⁱ⁻¹).
type layout struct {
	engine.Architecture
	layers [2][]layer
}

func newLayout(a engine.Architecture) layout {
	l := layout{Architecture: a}
	p := engine.NewParameters(a)
	first := 0
	for n, layers := range [2][]engine.Layer{p.Generative, p.Recognition} {
		l.layers[n] = make([]layer, len(layers))
		for i, of := range layers {
			l.layers[n][i] = layer{first, of.Units, of.Width}
			first += of.Units * of.Width
		}
	}
	return l
}

// each visits all layers that have parameters, first the layers of p.
func (l layout) each(visit func(n network, i int, of layer)) {
	for n, layers := range l.layers {
		for i, of := range layers {
			if of.units > 0 {
				visit(network(n), i, of)
			}
		}
	}
}

// columns returns the number of columns of tiles that the units of a network have from layer first
// upward, which is the number of scores per row.
func (l layout) columns(first int) int {
	n := 0
	for _, units := range l.Units[first:] {
		n += tiles(units, tileSize)
	}
	return n
}

func ifTrue(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

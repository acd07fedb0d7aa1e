//go:build cuda

package gpu

import "github.com/helmholtz-go/helmholtz/hm/engine"

type network = engine.Network

const (
	generative  = engine.Generative
	recognition = engine.Recognition
)

// layer locates the parameters of a layer on the device, where rows are padded with zeros, and in
// engine.Parameters.Flat.
type layer struct {
	first, units, width        int
	compactFirst, compactWidth int
	compactStride              int   // between units
	before                     int   // numbers on the device before each unit's parameters, which stay 0
	blocks                     []int // units in each Fisher block, or nil if each unit has a block
}

func (l layer) count() int { return l.units * l.width }

// run locates consecutive Fisher blocks of a layer, each of the same number of units.
type run struct{ first, blocks, units int }

func (l layer) runs() (all []run) {
	if l.blocks == nil {
		return []run{{0, l.units, 1}}
	}
	first := 0
	for _, units := range l.blocks {
		if last := len(all) - 1; last < 0 || all[last].units != units {
			all = append(all, run{first: first, units: units})
		}
		all[len(all)-1].blocks++
		first += units
	}
	return all
}

// layout locates the parameters of each layer: layers[generative][i] has p(hⁱ|hⁱ⁺¹), and
// layers[recognition][i] has q(hⁱ|hⁱ⁻¹).
type layout struct {
	engine.Architecture
	layers [2][]layer
	// classifier has two parts: the weights of the bias and x, and the weights of h¹ after a 0 for the bias.
	classifier [2]layer
	size       int // total length of the parameters on the device
}

// padded returns the length of a row of n numbers on the device, which reads four numbers at a
// time.
func padded(n int) int { return (n + 3) / 4 * 4 }

func newLayout(a engine.Architecture) layout {
	l := layout{Architecture: a}
	compact := 0
	for n := range l.layers {
		l.layers[n] = make([]layer, len(a.Units))
		for i := range a.Units {
			c := network(n).Connection(a, i)
			l.layers[n][i] = l.add(layer{units: c.Outputs, compactFirst: compact, compactWidth: c.Inputs, compactStride: c.Inputs, blocks: a.Blocks(i)})
			compact += c.Outputs * c.Inputs
		}
	}
	if a.Classes > 0 {
		below, hidden := 1+a.ClassifierVisible(), a.Units[1]
		l.classifier[0] = l.add(layer{units: a.Classes, compactFirst: compact, compactWidth: below, compactStride: below + hidden})
		l.classifier[1] = l.add(layer{units: a.Classes, compactFirst: compact + below, compactWidth: hidden, compactStride: below + hidden, before: 1})
	}
	return l
}

// add returns a layer after the others.
func (l *layout) add(of layer) layer {
	of.first, of.width = l.size, padded(of.before+of.compactWidth)
	l.size += of.count()
	return of
}

// pad returns parameters as the device has them.
func (l layout) pad(flat []float32) []float32 {
	to := make([]float32, l.size)
	l.rows(func(at, compact, width int) { copy(to[at:], flat[compact:][:width]) })
	return to
}

// read copies parameters from the device.
func (l layout) read(m *memory, flat []float32, from address) {
	numbers := make([]float32, l.size)
	download(m, numbers, from)
	l.rows(func(at, compact, width int) { copy(flat[compact:][:width], numbers[at:]) })
}

// rows visits the parameters of each unit. at is where they begin on the device, compact where they
// begin in engine.Parameters.Flat, and width their number.
func (l layout) rows(visit func(at, compact, width int)) {
	units := func(of layer) {
		for unit := range of.units {
			visit(of.first+unit*of.width+of.before, of.compactFirst+unit*of.compactStride, of.compactWidth)
		}
	}
	l.each(func(_ network, _ int, of layer) { units(of) })
	for _, of := range l.classifier {
		units(of)
	}
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

// columns returns the number of scores per row of a network whose lowest layer is first. A layer has one score for
// each column of tiles that covers its units, or for each categorical variable.
func (l layout) columns(first int) int {
	n := 0
	for i, units := range l.Units[first:] {
		if variables := l.Variables(first + i); variables != nil {
			n += len(variables)
		} else {
			n += tiles(units, tileSize)
		}
	}
	return n
}

// isLabel reports whether layer i is a label at the top.
func (l layout) isLabel(i int) bool { return i == l.Depth() && l.TopLabels() }

func ifTrue(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

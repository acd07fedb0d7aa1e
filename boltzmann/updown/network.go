package updown

import (
	"fmt"
	"iter"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// layer is p(y|x) of Bernoulli units y that are independent given x, with the inputs b + Wᵀx.
type layer struct {
	weights kernels.Matrix // W, x × y
	biases  []float32      // b
}

func newLayer(x, y int) layer { return layer{kernels.NewMatrix(x, y), make([]float32, y)} }

// write writes the inputs of y for each row x.
func (l layer) write(inputs, x kernels.Matrix) {
	kernels.Affine(inputs, x, l.weights, l.biases)
}

// weightsAPart is the number of rows of weights that one processor updates together.
const weightsAPart = 64

// ascend moves the layer by rate times the mean gradient of log p(y|x) over the rows of x. residuals holds y
// − p(y=1|x) for each row; ascend scales it in place.
func (l layer) ascend(rate float64, x, residuals kernels.Matrix) {
	factor := float32(rate / float64(x.Rows))
	for r := range residuals.Rows {
		for j, d := range kernels.Row(residuals, r) {
			kernels.Row(residuals, r)[j] = factor * d
			l.biases[j] += factor * d
		}
	}
	work.Parts(l.weights.Rows, weightsAPart, func(first, last int) {
		kernels.MulTN(kernels.Rows(l.weights, first, last), 1, kernels.Cols(x, first, last), residuals)
	})
}

// network holds the directed layers between v = h⁰ and h^K.
type network struct {
	generative  []layer // generative[l] is p(h^l|h^{l+1})
	recognition []layer // recognition[l] is q(h^{l+1}|h^l)
}

// newNetwork returns a network with all parameters 0. units holds the number of units in each layer, from v
// to h^K.
func newNetwork(units []int) (n network) {
	for l := range len(units) - 1 {
		n.generative = append(n.generative, newLayer(units[l+1], units[l]))
		n.recognition = append(n.recognition, newLayer(units[l], units[l+1]))
	}
	return n
}

// unrolled returns the network of a stack of restricted machines: W generates and Wᵀ recognises.
func unrolled(machines []*boltzmann.Parameters) network {
	units := []int{machines[0].Visible()}
	for _, m := range machines {
		units = append(units, m.Hidden())
	}
	n := newNetwork(units)
	for l, m := range machines {
		copy(n.recognition[l].weights.Data, m.Weights.Data)
		copy(n.recognition[l].biases, m.HiddenBiases)
		n.generative[l].weights = kernels.Transposed(m.Weights)
		copy(n.generative[l].biases, m.VisibleBiases)
	}
	return n
}

// units returns the number of units in each layer, v first.
func (n network) units() []int {
	units := []int{len(n.generative[0].biases)}
	for _, q := range n.recognition {
		units = append(units, len(q.biases))
	}
	return units
}

func (n network) layers() iter.Seq2[string, layer] {
	return func(yield func(string, layer) bool) {
		for l, p := range n.generative {
			if !yield(fmt.Sprintf("generative.%d", l), p) {
				return
			}
		}
		for l, q := range n.recognition {
			if !yield(fmt.Sprintf("recognition.%d", l+1), q) {
				return
			}
		}
	}
}

// rowsAPart is the largest number of rows that one processor sends through the network together.
const rowsAPart = 32

// pass holds rows of states of all layers, and the inputs from which they were drawn or scored. After scoring,
// residuals replace the inputs.
type pass struct {
	network
	states      []kernels.Matrix // of h⁰ … h^K
	generative  []kernels.Matrix // of h⁰ … h^{K−1}
	recognition []kernels.Matrix // of h¹ … h^K
}

func (n network) newPass(rows int) *pass {
	p := &pass{network: n}
	for l, units := range n.units() {
		p.states = append(p.states, kernels.NewMatrix(rows, units))
		if l > 0 {
			p.recognition = append(p.recognition, kernels.NewMatrix(rows, units))
		}
		if l < len(n.generative) {
			p.generative = append(p.generative, kernels.NewMatrix(rows, units))
		}
	}
	return p
}

// rows returns the part of the pass from row first to row last−1, which shares its memory.
func (p *pass) rows(first, last int) *pass {
	part := func(all []kernels.Matrix) []kernels.Matrix { return kernels.RowsOf(all, first, last) }
	return &pass{p.network, part(p.states), part(p.generative), part(p.recognition)}
}

// top returns the states of h^K.
func (p *pass) top() kernels.Matrix { return p.states[len(p.states)-1] }

// tops returns the states of h^K as rows of data for the prior.
func (p *pass) tops() dataset.Split {
	var values []uint8
	for r := range p.top().Rows {
		for _, on := range kernels.Row(p.top(), r) {
			values = append(values, uint8(255*on))
		}
	}
	return dataset.Split{Name: "drawn", Shape: dataset.Shape{Height: 1, Width: p.top().Cols}, Values: dataset.Bytes(p.top().Cols, values)}
}

type place struct {
	key     philox.Key
	purpose philox.Purpose
	datum   uint32 // the first row
	step    uint32
}

func (at place) counter(layer, row int) philox.Counter {
	return philox.Counter{Word: philox.Word{Purpose: at.purpose, Layer: uint8(layer)}, Datum: at.datum + uint32(row), Step: at.step}
}

// load writes row d of a split, binarised, into row r of v.
func (p *pass) load(rows dataset.Split, binarization dataset.Binarization, r, d int, at place) {
	kernels.Binarize(kernels.Row(p.states[0], r), rows.Row(d), binarization == dataset.Stochastic, 0, at.key, at.counter(0, r))
}

// rise draws the hidden layers from q given v, and adds log q(h|v) of each row, multiplied by times, to logs.
func (p *pass) rise(at place, logs []float64, times float64) {
	for l, q := range p.network.recognition {
		q.write(p.recognition[l], p.states[l])
		for r := range logs {
			logs[r] += times * kernels.Units(kernels.Draws|kernels.Residuals, kernels.Row(p.states[l+1], r), kernels.Row(p.recognition[l], r), 0, at.key, at.counter(l+1, r))
		}
	}
}

// generate scores the states by p, and adds log p(v,h¹…|h^K) of each row to logs.
func (p *pass) generate(logs []float64) {
	for l, g := range p.network.generative {
		g.write(p.generative[l], p.states[l+1])
		for r := range logs {
			logs[r] += kernels.Residual(kernels.Row(p.generative[l], r), kernels.Row(p.states[l], r))
		}
	}
}

// descend draws all layers below h^K from p.
func (p *pass) descend(at place) {
	for l := len(p.network.generative) - 1; l >= 0; l-- {
		p.network.generative[l].write(p.generative[l], p.states[l+1])
		for r := range p.states[l].Rows {
			kernels.Draw(kernels.Row(p.states[l], r), kernels.Row(p.generative[l], r), 0, at.key, at.counter(l, r))
		}
	}
}

func (p *pass) recognize() {
	for l, q := range p.network.recognition {
		q.write(p.recognition[l], p.states[l])
		for r := range p.states[l].Rows {
			kernels.Residual(kernels.Row(p.recognition[l], r), kernels.Row(p.states[l+1], r))
		}
	}
}

package sequences

import (
	"context"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Belief is a temporal sigmoid belief network (Gan, Li, Henao, Carlson and Carin 2015) with its recognition
// network. At each step it has D visible and H hidden units, H′ of them in a second layer. Given its parents,
// each hidden unit is a Bernoulli unit, and each visible unit a Bernoulli or a Gaussian unit:
//
//	p(h′ₜ|hₜ₋₁, past), p(hₜ|h′ₜ, hₜ₋₁, past), p(vₜ|hₜ, past)
//	q(hₜ|hₜ₋₁, past, vₜ), q(h′ₜ|hₜ, hₜ₋₁, past, vₜ)
//
// where hₜ₋₁ includes the second layer. The past is vₜ₋₁ … vₜ₋ₘ and two more units: one is always on, the
// other only at the first step, at which hₜ₋₁ and vₜ₋₁ … vₜ₋ₘ are 0. The parameters of a unit form a row: its
// weights from the past, from vₜ in q, and from hidden units. Lateral weights let unit j of vₜ also depend on
// units 1 … j−1, as in a fully visible belief network, so that the units of vₜ are dependent given hₜ.
type Belief struct {
	shape dataset.Shape
	architecture
	parameters
	nets   [networks]network
	adam   *kernels.Moments // for the plain gradient
	blocks *blocksOf        // for the natural gradient
}

// architecture determines, together with the shape of the data, which parameters a Belief has.
type architecture struct {
	hidden, deep, order int // H − H′, H′, m
	lateral, gaussian   bool
}

// These are the networks of a Belief.
const (
	ofHidden = iota
	ofVisible
	ofRecognition
	ofDeep
	ofDeepRecognition
	ofDeviations // logarithms of the standard deviations of Gaussian units
	networks     // their number
)

// network holds the weights of some units, one row per unit. The parents are the first columns of the
// observed units, followed by some columns of the state.
type network struct {
	kernels.Matrix
	inputs      int // number of observed parents
	first, last int // columns of the state: the hidden parents
	own         int // first column of these units in the state, if they are hidden
}

func (n network) parents(state kernels.Matrix) kernels.Matrix {
	return kernels.Cols(state, n.first, n.last)
}

func (n network) units(state kernels.Matrix) kernels.Matrix {
	return kernels.Cols(state, n.own, n.own+n.Rows)
}

func (n network) logits(observed, state kernels.Matrix) kernels.Matrix {
	a, b := kernels.NewMatrix(observed.Rows, n.Rows), kernels.NewMatrix(observed.Rows, n.Rows)
	kernels.MulNT(a, kernels.Cols(observed, 0, n.inputs), kernels.Cols(n.Matrix, 0, n.inputs))
	kernels.MulNT(b, n.parents(state), kernels.Cols(n.Matrix, n.inputs, n.Cols))
	add(a, b)
	return a
}

// newBelief returns a network with its parameters in flat, or in new memory if flat is nil.
func newBelief(shape dataset.Shape, a architecture, flat []float32) *Belief {
	m := &Belief{shape: shape, architecture: a}
	// A state has the columns hₜ without its second layer, hₜ₋₁ and h′ₜ, in this order, so that hidden parents are
	// adjacent.
	d, past, h, now := shape.Width, m.pastWidth(), m.hidden, 2*m.hidden+m.deep
	lateral, deviations := 0, 0
	if m.lateral {
		lateral = d
	}
	if m.gaussian {
		deviations = d
	}
	for k, n := range [networks]struct {
		name  string
		units int
		network
	}{
		ofHidden:          {"hidden", h, network{inputs: past, first: h, last: now + m.deep}},
		ofVisible:         {"visible", d, network{inputs: past + lateral, last: h}},
		ofRecognition:     {"recognition", h, network{inputs: past + d, first: h, last: now}},
		ofDeep:            {"deep", m.deep, network{inputs: past, first: h, last: now, own: now}},
		ofDeepRecognition: {"deep_recognition", m.deep, network{inputs: past + d, last: now, own: now}},
		ofDeviations:      {"deviations", deviations, network{inputs: 1}},
	} {
		m.nets[k] = n.network
		m.add(n.name, &m.nets[k].Matrix, n.units, n.inputs+n.last-n.first)
	}
	m.over(flat)
	return m
}

// shrink multiplies all weights, but not the biases, by 1 − share. After a step this acts like an L2 penalty.
func (m *Belief) shrink(share float64) {
	for _, n := range m.nets[:ofDeviations] {
		for j := range n.Rows {
			kernels.Scale(kernels.Row(n.Matrix, j)[2:], 1-share)
		}
	}
}

// begin draws weights from the seed. The visible units' weights from the past and from each other begin at 0.
// begin sets the visible biases to the log odds of the training steps or, for Gaussian units, to their means,
// and sets the standard deviations.
func (m *Belief) begin(rows dataset.Split, seed uint64) {
	normal(m.flat, 0.05, seed, 0)
	var biases, deviations []float32
	if m.gaussian {
		biases, deviations = moments(rows)
	} else {
		biases = logOdds(rows)
	}
	visible := m.nets[ofVisible]
	for j, a := range biases {
		row := kernels.Row(visible.Matrix, j)
		clear(row[:visible.inputs])
		row[0] = a
	}
	copy(m.nets[ofDeviations].Data, deviations)
}

// pastWidth returns the number of parents in the past: 2+mD.
func (m *Belief) pastWidth() int { return 2 + m.order*m.shape.Width }

func (m *Belief) stateWidth() int { return 2 * (m.hidden + m.deep) }

// observe writes the observed units of each frame of step t into u: the past, followed by vₜ. In p, only the
// first columns are parents.
func (m *Belief) observe(u kernels.Matrix, f frames, t int) {
	d := m.shape.Width
	for i := range f.active(t) {
		row := kernels.Row(u, f.start[t]+i)
		row[0] = 1
		if t == 0 {
			row[1] = 1
		}
		for lag := 1; lag <= min(m.order, t); lag++ {
			copy(row[2+(lag-1)*d:], kernels.Row(f.v, f.start[t-lag]+i))
		}
		copy(row[m.pastWidth():], kernels.Row(f.v, f.start[t]+i))
	}
}

// remember copies the hidden units of a state into the next step's state, as its hₜ₋₁.
func (m *Belief) remember(next, state []float32) {
	now := 2*m.hidden + m.deep
	copy(next[m.hidden:now], state[:m.hidden])
	copy(next[2*m.hidden:now], state[now:])
}

// score replaces the logits of visible units, or their means and log standard deviations, by the derivatives of
// log p, and returns log p.
func (m *Belief) score(logits, deviations, v []float32) (logP float64) {
	if !m.gaussian {
		return kernels.Residual(logits, v)
	}
	outputs := slices.Concat(logits, deviations)
	logP = kernels.ResidualGaussian(outputs, v, len(v), smallest)
	copy(deviations, outputs[copy(logits, outputs):])
	return logP
}

// smallest is the lower bound on the standard deviation of a Gaussian unit.
const smallest = 1e-3

// dreams holds the draws of a Belief, in the order of frames.
type dreams struct{ observed, state, means kernels.Matrix }

// dream draws the hidden and visible units of frames from step first on, one sample per frame. If first is
// above 0, state holds the states of the preceding step.
func (m *Belief) dream(f frames, first int, state kernels.Matrix, d draws) dreams {
	n, width := f.v.Rows, m.shape.Width
	r := dreams{kernels.NewMatrix(n, m.pastWidth()+width), kernels.NewMatrix(n, m.stateWidth()), kernels.NewMatrix(n, width)}
	if first > 0 {
		fill(f.at(r.state, first-1, 1), state)
	}
	for t := first; t < f.steps(); t++ {
		source := d
		source.first = f.start[t]
		m.observe(r.observed, f, t)
		observed, now, means := f.at(r.observed, t, 1), f.at(r.state, t, 1), f.at(r.means, t, 1)
		for i := range now.Rows {
			if t > 0 {
				m.remember(kernels.Row(now, i), kernels.Row(r.state, f.start[t-1]+i))
			}
		}
		for layer, k := range []int{ofDeep, ofHidden} {
			h := m.nets[k].logits(observed, now)
			source.draw(h, uint8(layer), 0)
			fill(m.nets[k].units(now), h)
		}
		m.drawVisible(observed, now, means, source)
		fill(f.at(f.v, t, 1), kernels.Cols(observed, m.pastWidth(), observed.Cols))
	}
	return r
}

// drawVisible draws the visible units, which are the last columns of observed, and writes their means. Units with
// lateral weights are drawn one after another.
func (m *Belief) drawVisible(observed, state, means kernels.Matrix, source draws) {
	net, deviations := m.nets[ofVisible], m.nets[ofDeviations]
	v, atOnce := kernels.Cols(observed, m.pastWidth(), observed.Cols), m.shape.Width
	if m.lateral {
		atOnce = 1
	}
	for first := 0; first < m.shape.Width; first += atOnce {
		some := net
		some.Matrix = kernels.Rows(net.Matrix, first, first+atOnce)
		a := some.logits(observed, state)
		drawn := kernels.Clone(a)
		if m.gaussian {
			for i := range a.Rows {
				outputs := slices.Concat(kernels.Row(a, i), deviations.Data[first:first+atOnce])
				kernels.DrawGaussian(kernels.Row(drawn, i), outputs, atOnce, smallest, source.key,
					philox.Counter{Word: philox.Word{Purpose: source.purpose, Layer: 2}, Sample: uint32(first), Datum: uint32(source.first + i), Step: source.step})
			}
		} else {
			source.draw(drawn, 2, first)
			sigmoid(a)
		}
		fill(kernels.Cols(means, first, first+atOnce), a)
		fill(kernels.Cols(v, first, first+atOnce), drawn)
	}
}

// sample draws n sequences as long as the model's rows. If means is true, it returns the expected values of vₜ
// given its parents; the past still consists of draws.
func (m *Belief) sample(ctx context.Context, n int, means bool, seed uint64) (dataset.Sheet, error) {
	if err := checkDraws(n, m.shape); err != nil {
		return dataset.Sheet{}, err
	}
	sheet := newSheet(m.shape, n)
	f := frames{v: kernels.NewMatrix(n*m.shape.Height, m.shape.Width), rows: make([]int, n), start: make([]int, m.shape.Height+1)}
	for t := range f.start {
		f.start[t] = t * n
	}
	drawn := m.dream(f, 0, kernels.Matrix{}, draws{key: philox.Key(seed), purpose: philox.Ancestral})
	v := f.v
	if means {
		v = drawn.means
	}
	for t := range f.steps() {
		write(sheet, f.at(v, t, 1), t)
	}
	return sheet, ctx.Err()
}

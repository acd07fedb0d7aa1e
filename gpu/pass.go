//go:build cuda

package gpu

import "github.com/helmholtz-go/helmholtz/internal/philox"

// pass is where the activations of samples go that pass through both networks:
// upward from data, where the samples of a datum share a row of the visible
// layer, or downward from the prior.
type pass struct {
	layout  layout
	data    int
	samples int // of a datum; 1 of dreams
	// states[i] holds a row [1; hⁱ] a sample; states[0] of an upward pass one a
	// datum.
	states []address
	shared address // logits of h¹, a row a datum, where there are several samples
	// Of each network and layer a row a sample, and null where not wanted:
	// residuals on − σ(a), ∂H/∂a of the entropies, and means.
	residuals, slopes, means [2][]address
	scores                   [2]address // log-probabilities: of each column of tiles, of each row
	one                      address    // the parent of the prior
}

// newPass makes room for the states and the scores of a pass.
func newPass(m *memory, l layout, data, samples int) *pass {
	v := &pass{layout: l, data: data, samples: samples, states: make([]address, len(l.Units))}
	for i, units := range l.Units {
		rows := data * samples
		if i == 0 {
			rows = data
		}
		v.states[i] = m.floats(rows * (1 + units))
	}
	if samples > 1 {
		v.shared = m.floats(data * l.Units[1])
	}
	for n := range v.scores {
		v.residuals[n], v.slopes[n], v.means[n] = make([]address, len(l.Units)), make([]address, len(l.Units)), make([]address, len(l.Units))
		v.scores[n] = m.doubles(l.columns(n) * data * samples)
	}
	v.one = hold(m, []float32{1})
	return v
}

// want makes room for a number of each unit of the layers of a network.
func (v *pass) want(m *memory, of []address, n network) {
	for i := int(n); i < len(of); i++ {
		of[i] = m.floats(v.rows() * v.layout.Units[i])
	}
}

func (v *pass) rows() int { return v.data * v.samples }

// resized is the pass with fewer rows.
func (v *pass) resized(data, samples int) *pass {
	w := *v
	w.data, w.samples = data, samples
	return &w
}

// stateRows is what states[i] has rows of, and how many samples share one.
func (v *pass) stateRows(i int) (rows, of int) {
	if i == 0 {
		return v.data, v.samples
	}
	return v.rows(), 1
}

// writer writes operations of passes to a program, each into the first phase in
// which what it reads is there, or where nothing waits for it into the first that
// has room. Parameters are read at an address.
type writer struct {
	*program
	parameters address
	blocks     int             // thread blocks of the device
	ready      map[*pass][]int // the phases from which on the layers of a pass are there
	none       uint32          // an input that is 0
}

func newWriter(parameters address, blocks int) *writer {
	w := &writer{program: &program{}, parameters: parameters, blocks: blocks, ready: map[*pass][]int{}}
	w.none = w.input(func(moment) uint32 { return 0 })
	return w
}

// begin says from which phase on all layers of a pass are there, or may be drawn.
func (w *writer) begin(v *pass, at int) {
	ready := make([]int, len(v.states))
	for i := range ready {
		ready[i] = at
	}
	w.ready[v] = ready
}

// room is the first phase from one on that takes a number of tiles more without
// another round of the thread blocks; the first, where none does.
func (w *writer) room(from, more int) int {
	for at := from; at < len(w.phases); at++ {
		n := 0
		for _, o := range w.phases[at] {
			n += int(o.tiles)
		}
		if tiles(n+more, w.blocks) == tiles(n, w.blocks) {
			return at
		}
	}
	return from
}

// done is the phase from which on all that was written so far is there.
func (w *writer) done() int { return len(w.phases) }

// word is the first word of the counters of layer 0.
func word(p philox.Purpose) uint32 { return uint32(p) << 24 }

// mode is what follows from the outputs of a layer.
type mode struct {
	draw, score bool
	at          place // of the draws of layer 0
}

// layer writes the operation that computes the outputs of layer i of a network
// for a pass.
func (w *writer) layer(v *pass, n network, i int, do mode) {
	of := v.layout.layers[n][i]
	ready := w.ready[v]
	o := outputsOf{
		weights: w.parameters.floats(of.first), width: uint32(of.width),
		parents: v.one, // of the prior
		rows:    uint32(v.rows()), units: uint32(of.units),
		states: v.states[i].floats(1), statesStride: uint32(1 + of.units), statesOf: 1,
		means: v.means[n][i], draw: ifTrue(do.draw), samples: uint32(v.samples), off: v.layout.Coding.Off(),
		place: do.at,
	}
	o.place.word |= uint32(i) << 16
	parent := n.Parents(i)
	at := ready[i]
	if parent < len(v.states) {
		o.parents, o.parentsStride = v.states[parent], o.width
		if at = ready[parent]; !do.draw {
			at = max(at, ready[i])
		}
	}
	if i == 0 {
		o.statesOf = uint32(v.samples)
	}
	if do.score {
		o.residuals, o.slopes = v.residuals[n][i], v.slopes[n][i]
		column := v.layout.columns(int(n)) - v.layout.columns(i)
		o.scores, o.scoresStride = v.scores[n]+address(8*column*v.rows()), uint32(v.rows())
	}
	if n == recognition && i == 1 && v.samples > 1 {
		// The samples of a datum have the same logits.
		n, logits := product(v.shared, o.parents, of.width, v.data, o.weights, of.units, of.width)
		at = add(w.program, at, outputs, n, logits)
		o.logits, o.logitsOf = v.shared, uint32(v.samples)
	}
	inTiles := tiles(v.rows(), tileSize) * tiles(of.units, tileSize)
	if !do.draw {
		at = w.room(at, inTiles)
	}
	if after := add(w.program, at, outputs, inTiles, o); do.draw {
		ready[i] = after
	}
}

// recognize draws the hidden layers from q, upward from the visible units, and
// scores them.
func (w *writer) recognize(v *pass, at place) {
	for i := 1; i < len(v.states); i++ {
		w.layer(v, recognition, i, mode{draw: true, score: true, at: at})
	}
}

// dream draws the layers below the given one from p, and scores them; all, where
// it is the number of layers.
func (w *writer) dream(v *pass, below int, at place) {
	for i := below - 1; i >= 0; i-- {
		w.layer(v, generative, i, mode{draw: true, score: true, at: at})
	}
}

// score scores states that are there by a network.
func (w *writer) score(v *pass, n network) {
	for i := int(n); i < len(v.states); i++ {
		w.layer(v, n, i, mode{score: true})
	}
}

// observe loads the visible units of a pass from rows of data.
func (w *writer) observe(v *pass, data loadOf) {
	data.states, data.stride = v.states[0].floats(1), uint32(1+v.layout.Visible())
	data.units, data.off = uint32(v.layout.Visible()), v.layout.Coding.Off()
	w.ready[v][0] = add(w.program, w.ready[v][0], load, v.data, data)
}

// weigh writes the weights of the samples of a pass by what else o says.
func (w *writer) weigh(v *pass, o weighOf) {
	o.generative, o.recognition = v.scores[generative], v.scores[recognition]
	o.generativeTiles, o.recognitionTiles = uint32(v.layout.columns(0)), uint32(v.layout.columns(1))
	o.stride, o.samples = uint32(v.rows()), uint32(v.samples)
	add(w.program, w.done(), weigh, v.data, o)
}

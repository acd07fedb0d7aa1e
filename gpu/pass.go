//go:build cuda

package gpu

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// pass locates the activations of samples that pass through both networks: upward from data, or downward from
// the prior. Upward, the samples of a datum share a row of the visible layer.
type pass struct {
	layout  layout
	data    int
	samples int // per datum; 1 for dreams
	// states[i] holds one row [1; hⁱ] per sample. states[0] of an upward pass holds one per datum.
	states []address
	shared address // logits of h¹, one row per datum, if a datum has several samples
	// variables[i] lists the categorical variables of layer i as the kernels read them, and logits has the logits of such
	// layers for each network, one row per sample. They are null addresses for other layers.
	variables []address
	logits    [2][]address
	// These have one row per sample for each network and layer, or a null address if they are not wanted:
	// residuals on − σ(a), derivatives ∂H/∂a of the units' entropies, and means.
	residuals, slopes, means [2][]address
	scores                   [2]address // parts of log-probabilities, one per column and row
	one                      address    // the parent of the prior
}

// mostIndexed is the largest size of an array whose numbers, in whole tiles, have 32-bit indices.
const mostIndexed = 1<<32 - elements

func newPass(m *memory, l layout, data, samples int) *pass {
	v := &pass{layout: l, data: data, samples: samples, states: make([]address, len(l.Units)), variables: make([]address, len(l.Units))}
	if l.size > mostIndexed {
		m.fail(fmt.Errorf("%d parameters are too many for the 32-bit indices of the backend %s: use fewer units, or --backend cpu", l.Size(), name))
	}
	for i, units := range l.Units {
		rows, _ := v.stateRows(i)
		v.states[i] = v.matrix(m, i, rows, 1+units)
		var variables []uint32
		first := 0
		for _, of := range l.Variables(i) {
			variables = append(variables, uint32(first), uint32(of.Units), ifTrue(of.Rest))
			first += of.Units
		}
		v.variables[i] = hold(m, variables)
	}
	if samples > 1 {
		v.shared = m.floats(data * padded(l.Units[1]))
	}
	for n := range v.scores {
		v.residuals[n], v.slopes[n], v.means[n], v.logits[n] = make([]address, len(l.Units)), make([]address, len(l.Units)), make([]address, len(l.Units)), make([]address, len(l.Units))
		for i := n; i < len(l.Units); i++ {
			if l.Variables(i) != nil {
				v.logits[n][i] = v.matrix(m, i, v.rows(), l.Units[i])
			}
		}
		v.scores[n] = m.doubles(l.columns(n) * data * samples)
	}
	v.one = hold(m, []float32{1, 0, 0, 0})
	return v
}

// want allocates one number per unit and sample for the layers of a network.
func (v *pass) want(m *memory, layers []address, n network) {
	for i := int(n); i < len(layers); i++ {
		layers[i] = v.matrix(m, i, v.rows(), v.layout.Units[i])
	}
}

// matrix allocates rows of width numbers for layer i.
func (v *pass) matrix(m *memory, i, rows, width int) address {
	size := rows * padded(width)
	if size > mostIndexed {
		m.fail(fmt.Errorf("layer %d has %d units and %d rows, too many for the 32-bit indices of the backend %s: use fewer units, a lower batch size or number of samples, or --backend cpu", i, v.layout.Units[i], rows, name))
	}
	return m.floats(size)
}

func (v *pass) rows() int { return v.data * v.samples }

func (v *pass) resized(data, samples int) *pass {
	w := *v
	w.data, w.samples = data, samples
	return &w
}

// stateRows returns the number of rows of states[i], and how many samples share a row.
func (v *pass) stateRows(i int) (rows, sharing int) {
	if i == 0 {
		return v.data, v.samples
	}
	return v.rows(), 1
}

// writer writes the operations of passes to a program. It puts each operation into the first phase
// in which its inputs are ready, or, if nothing waits for its outputs, into any later phase that has
// room. A narrow layer that is drawn from a narrow one needs no separate phase: the thread block that drew
// rows of the first layer draws the same rows of the second. The operations read the parameters at the
// address parameters.
type writer struct {
	*program
	parameters address
	blocks     int             // thread blocks of the device
	ready      map[*pass][]int // for each layer of a pass, the first phase in which it is ready
	narrow     map[*pass]drawn // the last layer that was drawn, if its units are a single column of tiles
	none       uint32          // an input that is 0
}

func newWriter(parameters address, blocks int) *writer {
	w := &writer{program: &program{}, parameters: parameters, blocks: blocks, ready: map[*pass][]int{}, narrow: map[*pass]drawn{}}
	w.none = w.input(func(moment) uint32 { return 0 })
	return w
}

// mostFollowing is the largest number of narrow layers that are drawn in one phase: more would make
// the other thread blocks wait.
const mostFollowing = 3

// drawn locates the operation that draws a layer.
type drawn struct{ layer, phase, group int }

// begin sets the phase from which all layers of a pass are ready, or may be drawn.
func (w *writer) begin(v *pass, at int) {
	ready := make([]int, len(v.states))
	for i := range ready {
		ready[i] = at
	}
	w.ready[v] = ready
	delete(w.narrow, v)
}

// fill distributes the tiles of an operation over phase from and the phases after it; nothing waits for this
// operation. It repeatedly chooses the phase that the tiles prolong least, and puts one tile there for each
// idle thread block.
func fill[T any](w *writer, from int, k kind, inTiles int, args T) {
	for first := 0; first < inTiles; {
		most := inTiles - first
		best, part, least := from, most, math.MaxInt
		for at := from; at < len(w.phases); at++ {
			n := most
			if idle := w.blocks - tilesOf(w.phases[at]); idle > 0 {
				n = min(n, idle)
			}
			longer := duration(w.phases[at], w.blocks, group{tiles: n, cost: cost(args)}) - duration(w.phases[at], w.blocks)
			if longer < least {
				best, part, least = at, n, longer
			}
		}
		add(w.program, best, k, part, args)
		groups := w.phases[best]
		groups[len(groups)-1].first = first
		first += part
	}
}

// done returns the phase from which everything written so far is ready.
func (w *writer) done() int { return len(w.phases) }

// word returns the first word of the counters of layer 0.
func word(p philox.Purpose) uint32 { return uint32(p) << 24 }

// mode selects what is done with the outputs of a layer.
type mode struct {
	draw, score bool
	at          place   // place of the draws, for layer 0
	chained     chained // chains, for layer 1, whose states take the place of draws; or none
}

// layer writes the operation that computes the outputs of layer i of a network for a pass.
func (w *writer) layer(v *pass, n network, i int, do mode) {
	l := v.layout.layers[n][i]
	ready := w.ready[v]
	o := outputsOf{
		weights: w.parameters.floats(l.first), width: uint32(l.width),
		parents: v.one, // replaced below unless this is the prior
		rows:    uint32(v.rows()), units: uint32(l.units), stride: uint32(padded(l.units)),
		states: v.states[i].floats(1), statesStride: uint32(padded(1 + l.units)), statesOf: 1,
		means: v.means[n][i], draw: ifTrue(do.draw), samples: uint32(v.samples), off: v.layout.Off(i),
		place: do.at, chained: do.chained,
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
		count, logits := product(v.shared, padded(l.units), o.parents, l.width, v.data, o.weights, l.units, l.width)
		at = add(w.program, at, outputs, count, logits)
		o.logits, o.logitsOf = v.shared, uint32(v.samples)
	}
	if count := len(v.layout.Variables(i)); count > 0 {
		if o.logits == 0 {
			inTiles, logits := product(v.logits[n][i], int(o.stride), o.parents, int(o.parentsStride), v.rows(), o.weights, l.units, l.width)
			at = add(w.program, at, outputs, inTiles, logits)
			o.logits, o.logitsOf = v.logits[n][i], 1
		}
		at = add(w.program, at, softmax, matrixTiles(v.rows(), count), softmaxOf{
			variables: v.variables[i], logits: o.logits, states: o.states, residuals: o.residuals, means: o.means, scores: o.scores,
			rows: o.rows, count: uint32(count), stride: o.stride, logitsOf: o.logitsOf,
			statesStride: o.statesStride, statesOf: o.statesOf, draw: o.draw, samples: o.samples, place: o.place,
		})
		if do.draw {
			delete(w.narrow, v)
			ready[i] = at
		}
		return
	}
	columns := tiles(l.units, tileSize)
	inTiles := tiles(v.rows(), tileSize) * columns
	if !do.draw {
		fill(w, at, outputs, inTiles, o)
		return
	}
	last, isNarrow := w.narrow[v]
	delete(w.narrow, v)
	if isNarrow && columns == 1 && last.layer == parent && len(w.phases[last.phase][last.group].operations) < mostFollowing {
		ready[i] = follow(w.program, last.phase, last.group, outputs, o)
		w.narrow[v] = drawn{i, last.phase, last.group}
		return
	}
	ready[i] = add(w.program, at, outputs, inTiles, o)
	if columns == 1 {
		w.narrow[v] = drawn{i, at, len(w.phases[at]) - 1}
	}
}

// recognize draws the hidden layers from q, upward from the visible units, and scores them. The states of chains,
// if there are any, take the place of draws.
func (w *writer) recognize(v *pass, at place, c chained) {
	for i := 1; i < len(v.states); i++ {
		w.layer(v, recognition, i, mode{draw: true, score: true, at: at, chained: c})
		c.first += uint32(engine.PackedUnits(v.layout.Units[i]))
	}
}

// dream draws the layers below the given one from p, and scores them. If below is the number of layers, it
// draws all of them.
func (w *writer) dream(v *pass, below int, at place) {
	for i := below - 1; i >= 0; i-- {
		w.layer(v, generative, i, mode{draw: true, score: true, at: at})
	}
}

func (w *writer) score(v *pass, n network) {
	for i := int(n); i < len(v.states); i++ {
		w.layer(v, n, i, mode{score: true})
	}
}

func (w *writer) observe(v *pass, data loadOf) {
	data.states, data.stride = v.states[0].floats(1), uint32(padded(1+v.layout.Visible()))
	data.units, data.off = uint32(v.layout.Visible()), v.layout.Off(0)
	w.ready[v][0] = add(w.program, w.ready[v][0], load, v.data, data)
}

// weigh writes the operation o, which weighs the samples of a pass. It first fills in the addresses of the
// samples' scores.
func (w *writer) weigh(v *pass, o weighOf) {
	o.generative, o.recognition = v.scores[generative], v.scores[recognition]
	o.generativeTiles, o.recognitionTiles = uint32(v.layout.columns(0)), uint32(v.layout.columns(1))
	o.stride, o.samples = uint32(v.rows()), uint32(v.samples)
	add(w.program, w.done(), weigh, v.data, o)
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// pass holds the activations of samples that have passed through both networks. An upward pass
// starts at data (the wake phase), and the samples of a datum share one row of the visible layer. A
// downward pass starts at the prior (dreams).
type pass struct {
	weights *weights
	data    int // rows of data, or of dreams
	samples int // samples per datum; 1 for dreams
	// states[i] holds one coded row [1; hⁱ] per sample; states[0] of an upward pass holds one per
	// datum.
	states []kernels.Matrix
	// seen holds the rows [1; x] that q sees. It is states[0] unless gaps is set.
	seen kernels.Matrix
	// gaps holds the gap of each datum, nil for a complete one. It is nil if no row may have a gap.
	gaps []*gap
	// outputs[n][i] holds the outputs of network n for layer i, one row per sample: logits, or the
	// parameters of the distribution of another kind of units. Scoring may overwrite them unless
	// they are kept.
	outputs [2][]kernels.Matrix
	// residuals[n][i], if wanted, holds the derivatives of the log-probability of the states with
	// respect to the outputs after network n has scored the states. They are on − σ(a) for
	// Bernoulli units.
	residuals  [2][]kernels.Matrix
	logP, logQ []float64 // per sample, once scored
}

// newPass allocates a pass for this many data rows, and this many samples per row.
func newPass(w *weights, data, samples int) *pass {
	v := &pass{
		weights: w,
		states:  make([]kernels.Matrix, len(w.architecture.Units)),
		logP:    make([]float64, data*samples),
		logQ:    make([]float64, data*samples),
	}
	for i, units := range w.architecture.Units {
		rows := data * samples
		if i == 0 {
			rows = data
		}
		v.states[i] = newInputs(rows, 1+units)
	}
	v.seen = v.states[0]
	for n := range v.outputs {
		v.outputs[n] = w.newOutputs(network(n), data*samples)
	}
	v.resize(data, samples)
	return v
}

// newInputs allocates inputs: rows [1; 0 …].
func newInputs(rows, width int) kernels.Matrix {
	m := kernels.NewMatrix(rows, width)
	for r := range rows {
		kernels.Row(m, r)[0] = 1
	}
	return m
}

// newOutputs allocates the outputs of all layers of a network, one row per sample.
func (w *weights) newOutputs(n network, samples int) []kernels.Matrix {
	outputs := make([]kernels.Matrix, len(w.architecture.Units))
	for i := int(n); i < len(outputs); i++ {
		outputs[i] = kernels.NewMatrix(samples, w.outputs(n, i))
	}
	return outputs
}

// want makes scoring compute the residuals of a network. The residuals overwrite the outputs, which
// is cheapest, unless keep is set, which gives the residuals separate memory.
func (v *pass) want(n network, keep bool) {
	v.residuals[n] = v.outputs[n]
	if keep {
		v.residuals[n] = v.weights.newOutputs(n, v.rows())
	}
}

// rows returns the number of samples of all data.
func (v *pass) rows() int { return v.data * v.samples }

// resize sets the numbers of data and of samples per datum. They must fit into the memory that the
// pass was allocated with.
func (v *pass) resize(data, samples int) {
	v.data, v.samples = data, samples
	v.logP, v.logQ = v.logP[:data*samples], v.logQ[:data*samples]
	for i := range v.states {
		v.states[i].Rows = data * samples
	}
	v.states[0].Rows, v.seen.Rows = data, data
	for n := range v.outputs {
		for _, layers := range [][]kernels.Matrix{v.outputs[n], v.residuals[n]} {
			for i := range layers {
				layers[i].Rows = data * samples
			}
		}
	}
}

// part returns the part of the pass for data first to last−1.
func (v *pass) part(first, last int) *pass {
	s := v.samples
	part := &pass{
		weights: v.weights,
		data:    last - first,
		samples: s,
		states:  append(kernels.RowsOf(v.states[:1], first, last), kernels.RowsOf(v.states[1:], first*s, last*s)...),
		logP:    v.logP[first*s : last*s],
		logQ:    v.logQ[first*s : last*s],
		seen:    kernels.Rows(v.seen, first, last),
	}
	if v.gaps != nil {
		part.gaps = v.gaps[first:last]
	}
	for n := range v.outputs {
		part.outputs[n] = kernels.RowsOf(v.outputs[n], first*s, last*s)
		if v.residuals[n] != nil {
			part.residuals[n] = kernels.RowsOf(v.residuals[n], first*s, last*s)
		}
	}
	return part
}

// units returns the states of sample r in layer i, without the leading 1.
func (v *pass) units(i, r int) []float32 {
	if i == 0 {
		r /= v.samples
	}
	return kernels.Row(v.states[i], r)[1:]
}

// place locates the draws of a pass in the counters of the random generator: sample s of row d of
// the pass uses the counters of sample s+sample of datum datum(d).
type place struct {
	key     philox.Key
	purpose philox.Purpose
	step    uint32
	sample  uint32
	datum   func(row int) uint32
}

// to returns the same place for another purpose.
func (at place) to(p philox.Purpose) place {
	at.purpose = p
	return at
}

// from returns the same place starting at a sample.
func (at place) from(sample int) place {
	at.sample = uint32(sample)
	return at
}

func (at place) counter(layer, datum, sample int) philox.Counter {
	return philox.Counter{Word: philox.Word{Purpose: at.purpose, Layer: uint8(layer)}, Step: at.step, Sample: at.sample + uint32(sample), Datum: at.datum(datum)}
}

// score returns the log-probability of sample r of layer i under the outputs of a network, from which it draws the
// sample before if todo is kernels.Draws. If residuals are wanted, it overwrites them and leaves the outputs alone.
func (v *pass) score(todo int, n network, i, r int, key philox.Key, c philox.Counter) float64 {
	row := kernels.Row(v.outputs[n][i], r)
	todo |= kernels.Scores
	if v.residuals[n] != nil {
		residuals := kernels.Row(v.residuals[n][i], r)
		copy(residuals, row) // a no-op if both are the same row
		row, todo = residuals, todo|kernels.Residuals
	}
	if g := v.gap(n, i, r); g != nil {
		return g.score(todo, v.units(i, r), row)
	}
	return v.weights.units[n][i].do(todo, v.units(i, r), row, key, c)
}

// recognize draws the hidden layers from q, upward from the visible units, and scores them into
// logQ. If given is not nil and reports that it wrote the states of a sample, recognize does not
// draw them.
func (v *pass) recognize(at place, given func(i, r int) bool) {
	clear(v.logQ)
	for i := 1; i < len(v.states); i++ {
		v.computeOutputs(recognition, i)
		for r := range v.logQ {
			draws := kernels.Draws
			if given != nil && given(i, r) {
				draws = 0
			}
			v.logQ[r] += v.score(draws, recognition, i, r, at.key, at.counter(i, r/v.samples, r%v.samples))
		}
	}
}

// inputs returns the rows [1; states] of the parents of layer i of a network. The prior has none.
func (v *pass) inputs(n network, i int) (none kernels.Matrix) {
	switch of := n.Parents(i); of {
	case 0:
		return v.seen
	case len(v.states):
		return none
	default:
		return v.states[of]
	}
}

// computeOutputs computes the outputs of layer i of a network. In the first layer of q, the outputs are the
// same for all samples of a datum, so it computes them once per datum.
func (v *pass) computeOutputs(n network, i int) {
	outputs, parents := v.outputs[n][i], v.inputs(n, i)
	if n == generative || i > 1 || v.samples == 1 {
		v.weights.logits(n, i, outputs, parents)
		return
	}
	shared := outputs
	shared.Rows, shared.Stride = v.data, v.samples*outputs.Stride
	v.weights.logits(n, i, shared, parents)
	for r := range v.logQ {
		if r%v.samples != 0 {
			copy(kernels.Row(outputs, r), kernels.Row(outputs, r-r%v.samples))
		}
	}
}

// scoreLayer adds the log-probability of each sample's layer i in a network to sums.
func (v *pass) scoreLayer(n network, i int, sums []float64) {
	for r := range sums {
		sums[r] += v.score(0, n, i, r, 0, philox.Counter{})
	}
}

// scoreStates computes log p(x,h) of the existing states into logP, or log q(h|x) into logQ.
func (v *pass) scoreStates(n network) {
	sums := [...][]float64{generative: v.logP, recognition: v.logQ}[n]
	clear(sums)
	for i := int(n); i < len(v.states); i++ {
		v.computeOutputs(n, i)
		v.scoreLayer(n, i, sums)
	}
}

// scoreDreams does the same as scoreStates for p, but uses the existing outputs.
func (v *pass) scoreDreams() {
	clear(v.logP)
	for i := range v.states {
		v.scoreLayer(generative, i, v.logP)
	}
}

// dream draws all layers from p, downward from the prior, and keeps the outputs that it drew from.
// The pass must have one sample per datum.
func (v *pass) dream(at place) { v.descend(len(v.states), at) }

// descend draws only the layers below the given layer, in the same way as dream. The given layer
// must already have states.
func (v *pass) descend(layer int, at place) {
	for i := layer - 1; i >= 0; i-- {
		v.computeOutputs(generative, i)
		for r := range v.data {
			v.weights.units[generative][i].do(kernels.Draws, v.units(i, r), kernels.Row(v.outputs[generative][i], r), at.key, at.counter(i, r, 0))
		}
	}
}

// load writes rows of data into the visible layer: row(d) into datum d.
func (v *pass) load(data engine.Data, at place, row func(d int) int) {
	var values []uint8
	off, binary := v.weights.architecture.Off(0), v.weights.architecture.Binary(0)
	for d := range v.data {
		units := kernels.Row(v.states[0], d)[1:]
		if binary {
			values = data.RowIn(values, row(d))
			kernels.Binarize(units, values, data.Stochastic, off, at.key, at.counter(0, d, 0))
		} else {
			data.Read(units[:data.Units], row(d))
		}
		if v.gaps != nil {
			mask := data.Mask(row(d))
			v.gaps[d] = v.weights.newGap(mask)
			v.hide(d, mask, data.Means)
		}
	}
}

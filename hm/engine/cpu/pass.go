package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// pass holds the activations of samples that have gone through both networks:
// upward from data (the wake phase), where the samples of a datum share a row
// of the visible layer, or downward from the prior (dreams).
type pass struct {
	weights *weights
	data    int // rows of data, or of dreams
	samples int // samples a datum; 1 for dreams
	// states[i] holds a row [1; hⁱ] a sample, coded; states[0] of an upward
	// pass one a datum.
	states []kernels.Matrix
	// generative[i] and recognition[i] hold the logits of layer i, or what other
	// outputs its kind of units has, and, once scored for training, the residuals
	// on − σ(a), or other derivatives of the log-probability by the outputs, a row a
	// sample.
	generative, recognition []kernels.Matrix
	logP, logQ              []float64 // of each sample, once scored
	// residuals says that scoring leaves residuals behind, as training needs them;
	// otherwise it leaves what it likes.
	residuals bool
	// slopes[i], where made, holds ∂H/∂a of the entropies H of the units that the
	// pass has drawn, given their parents, a row a sample.
	slopes []kernels.Matrix
	// parents[n][i] are those of layer i of network n as bits, for its gradient in
	// fixed point; nil where it is in floating point.
	parents [2][]*kernels.Bits
	// compact[n][i] has room for the states of the parents of those samples that count
	// in that gradient, where not all need to.
	compact [2][]kernels.Matrix
}

// newPass returns a pass with room for a number of samples of each of data
// rows.
func newPass(w *weights, data, samples int) *pass {
	depth := w.architecture.Depth()
	v := &pass{
		weights:     w,
		states:      make([]kernels.Matrix, depth+1),
		generative:  make([]kernels.Matrix, depth+1),
		recognition: make([]kernels.Matrix, depth+1),
		logP:        make([]float64, data*samples),
		logQ:        make([]float64, data*samples),
	}
	for i, units := range w.architecture.Units {
		rows := data * samples
		v.generative[i] = kernels.NewMatrix(rows, w.outputs(generative, i))
		if i == 0 {
			v.states[i] = kernels.NewMatrix(data, 1+units)
		} else {
			v.states[i] = kernels.NewMatrix(rows, 1+units)
			v.recognition[i] = kernels.NewMatrix(rows, w.outputs(recognition, i))
		}
		for r := range v.states[i].Rows {
			kernels.Row(v.states[i], r)[0] = 1
		}
	}
	v.resize(data, samples)
	return v
}

// resize makes room for a smaller number of rows, within what the pass was
// made for.
func (v *pass) resize(data, samples int) {
	v.data, v.samples = data, samples
	v.logP, v.logQ = v.logP[:data*samples], v.logQ[:data*samples]
	for i := range v.states {
		v.generative[i].Rows, v.recognition[i].Rows = data*samples, data*samples
		v.states[i].Rows = data * samples
	}
	v.states[0].Rows = data
}

// rows returns the part of the pass of data first to last−1.
func (v *pass) rows(first, last int) *pass {
	s := v.samples
	part := &pass{
		weights:     v.weights,
		data:        last - first,
		samples:     s,
		states:      make([]kernels.Matrix, len(v.states)),
		generative:  make([]kernels.Matrix, len(v.states)),
		recognition: make([]kernels.Matrix, len(v.states)),
		logP:        v.logP[first*s : last*s],
		logQ:        v.logQ[first*s : last*s],
		residuals:   v.residuals,
	}
	for i := range v.states {
		part.generative[i] = kernels.Rows(v.generative[i], first*s, last*s)
		if i == 0 {
			part.states[i] = kernels.Rows(v.states[i], first, last)
		} else {
			part.states[i] = kernels.Rows(v.states[i], first*s, last*s)
			part.recognition[i] = kernels.Rows(v.recognition[i], first*s, last*s)
		}
		if v.slopes != nil {
			part.slopes = append(part.slopes, kernels.Rows(v.slopes[i], first*s, last*s))
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

// place says which counters the draws of a pass have: sample s of row d of the
// pass is sample s+Sample of datum Datum(d).
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

// from returns the same place from a sample on.
func (at place) from(sample int) place {
	at.sample = uint32(sample)
	return at
}

func (at place) counter(layer, datum, sample int) philox.Counter {
	return philox.Counter{
		Purpose: at.purpose, Layer: uint8(layer), Step: at.step,
		Sample: at.sample + uint32(sample), Datum: at.datum(datum),
	}
}

// scoreUnits returns the log-probability of the states of units of layer i by outputs of a
// network.
func (v *pass) scoreUnits(n network, i int, outputs, states []float32) float64 {
	if v.residuals {
		return v.weights.units[n][i].residual(outputs, states)
	}
	return v.weights.units[n][i].score(outputs, states)
}

// drawUnits draws the states of units of layer i by outputs of q, and scores them.
func (v *pass) drawUnits(i int, states, outputs []float32, key philox.Key, c philox.Counter) float64 {
	if v.residuals {
		return v.weights.units[recognition][i].drawResidual(states, outputs, key, c)
	}
	return v.weights.units[recognition][i].drawScore(states, outputs, key, c)
}

// recognize draws the hidden layers from q, upward from the visible units, and
// scores them: logQ is then known.
func (v *pass) recognize(at place) {
	clear(v.logQ)
	for i := 1; i < len(v.states); i++ {
		v.recognitionLogits(i)
		for r := range v.logQ {
			logits := kernels.Row(v.recognition[i], r)
			c := at.counter(i, r/v.samples, r%v.samples)
			slopes := v.keepLogits(i, r, logits)
			v.logQ[r] += v.drawUnits(i, v.units(i, r), logits, at.key, c)
			entropySlopes(slopes, logits)
		}
	}
}

// recognitionLogits computes the logits of q(hⁱ|hⁱ⁻¹). Those of the first layer
// are the same for all samples of a datum, and computed once.
func (v *pass) recognitionLogits(i int) {
	logits := v.recognition[i]
	if i == 1 && v.samples > 1 {
		shared := logits
		shared.Rows, shared.Stride = v.data, v.samples*logits.Stride
		v.weights.logits(recognition, 1, shared, v.states[0])
		for r := range v.logQ {
			if r%v.samples != 0 {
				copy(kernels.Row(logits, r), kernels.Row(logits, r-r%v.samples))
			}
		}
		return
	}
	v.weights.logits(recognition, i, logits, v.states[i-1])
}

// scoreRecognition is recognise for hidden layers that are there already.
func (v *pass) scoreRecognition() {
	clear(v.logQ)
	for i := 1; i < len(v.states); i++ {
		v.recognitionLogits(i)
		for r := range v.logQ {
			v.logQ[r] += v.scoreUnits(recognition, i, kernels.Row(v.recognition[i], r), v.units(i, r))
		}
	}
}

// scoreGeneration computes log p(x,h) of the states that are there: logP is then
// known.
func (v *pass) scoreGeneration() {
	clear(v.logP)
	for i := range v.states {
		v.generativeLogits(i)
		for r := range v.logP {
			v.logP[r] += v.scoreUnits(generative, i, kernels.Row(v.generative[i], r), v.units(i, r))
		}
	}
}

// generativeLogits computes the logits of p(hⁱ|hⁱ⁺¹), or of the prior.
func (v *pass) generativeLogits(i int) {
	var parents kernels.Matrix // the prior has none
	if i < len(v.states)-1 {
		parents = v.states[i+1]
	}
	v.weights.logits(generative, i, v.generative[i], parents)
}

// dream draws all layers from p, downward from the prior. generative holds the
// logits that the states were drawn from. The pass must have one sample a
// datum.
func (v *pass) dream(at place) { v.descend(len(v.states), at) }

// descend is dream for the layers below the given one, whose states are there
// already.
func (v *pass) descend(layer int, at place) {
	for i := layer - 1; i >= 0; i-- {
		v.generativeLogits(i)
		for r := range v.data {
			v.weights.units[generative][i].draw(v.units(i, r), kernels.Row(v.generative[i], r), at.key, at.counter(i, r, 0))
		}
	}
}

// load writes rows of data into the visible layer: row(d) into that of datum d.
func (v *pass) load(data engine.Data, at place, row func(d int) int) {
	off := v.weights.architecture.Coding.Off()
	for d := range v.data {
		values := data.Values[row(d)*data.Units:][:data.Units]
		units := kernels.Row(v.states[0], d)[1:]
		if v.weights.architecture.Kind(0) == engine.Gaussian {
			for j, value := range values {
				units[j] = float32(value) / 255
			}
			continue
		}
		if !data.Stochastic {
			for j, value := range values {
				units[j] = off
				if value >= 128 {
					units[j] = 1
				}
			}
			continue
		}
		c := at.counter(0, d, 0)
		var words [4]uint32
		for j, value := range values {
			if j%4 == 0 {
				c.Unit = uint16(j / 4)
				words = at.key.Block(c)
			}
			units[j] = off
			if philox.Uniform(words[j%4]) < float32(value)/255 {
				units[j] = 1
			}
		}
	}
}

package cpu

import (
	"slices"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// lesson is a pass from whose samples the networks learn. It keeps the weights apart from the
// residuals, so that the residuals themselves stay unweighted.
type lesson struct {
	*pass
	teaches [2]bool      // the networks that learn from the samples
	counted [2]weighting // weights of the samples in the gradient of each network
	// weighted[n][i] holds the weighted residuals of layer i of network n. weighted[n] is nil if
	// each sample has a single weight in the gradient of network n; the weights are then in
	// counted[n].
	weighted [2][]kernels.Matrix
	// datum, data × units, holds the weighted recognition residuals of the first layer, summed over
	// the samples of each datum, which share their parents. It is empty for dreams, which share no
	// parents.
	datum kernels.Matrix
	// parents[n][i] holds the parents of layer i of network n as bits, for its gradient in fixed
	// point, or nil in floating point.
	parents [2][]*kernels.Bits
	// compact[n][i] holds copies of the parents' states for the samples that count in the gradient
	// of layer i of network n, if that gradient may omit other samples.
	compact [2][]kernels.Matrix
}

// newLesson allocates a lesson with this many data rows, and this many samples per row. teaches
// selects the networks that learn from it.
func newLesson(w *weights, data, samples int, teaches [2]bool) *lesson {
	l := &lesson{pass: newPass(w, data, samples), teaches: teaches}
	for n, layers := range w.connections[:2] {
		l.counted[n] = weighting{make([]int32, 0, data*samples), make([]float32, 0, data*samples)}
		l.parents[n] = make([]*kernels.Bits, len(layers))
		for i, c := range layers {
			if _, fixed := c.(*fixedPoint); fixed {
				l.parents[n][i] = kernels.NewBits(w.architecture.Off(network(n).Parents(i)))
			}
		}
	}
	return l
}

// newWake allocates the lesson of a step's wake samples.
func newWake(w *weights, a engine.Algorithm) *lesson {
	teaches := [2]bool{generative: true, recognition: a.HasRecognitionWake() || a.HasEntropy()}
	l := newLesson(w, a.BatchSize, a.MostSamples(), teaches)
	keep := keepsOutputs(w.architecture, a)
	l.want(generative, keep)
	l.want(recognition, keep)
	l.datum = kernels.NewMatrix(a.BatchSize, w.outputs(recognition, 1))
	for n := range l.compact {
		l.compact[n] = make([]kernels.Matrix, len(l.states))
		for i := range l.states {
			if parents := network(n).Parents(i); parents > 0 && parents < len(l.states) && leavesOut(a, network(n)) {
				l.compact[n][i] = kernels.NewMatrix(l.states[parents].Rows, l.states[parents].Cols)
			}
		}
	}
	return l
}

// keepsOutputs reports whether the outputs of the wake samples are read after scoring: by the
// entropies, or by the Fisher information of Gaussian units.
func keepsOutputs(of engine.Architecture, a engine.Algorithm) bool {
	real := false
	for i := range of.Units {
		real = real || !of.Binary(i)
	}
	return a.Entropy != 0 || a.Metric != engine.Euclidean && real
}

// newDreams allocates the lesson of the dreams in a sleep phase.
func newDreams(w *weights, a engine.Algorithm) *lesson {
	teaches := [2]bool{generative: a.HasEntropy(), recognition: a.HasSleep()}
	l := newLesson(w, a.BatchSize*a.MostSamples(), 1, teaches)
	if a.HasSleep() {
		l.want(recognition, false)
	}
	if a.HasEntropy() || a.HasDreamtBlocks() {
		l.want(generative, true) // dreams may be scored later, from the outputs that drew them
	}
	return l
}

// wantWeighted allocates the weighted residuals of a network.
func (l *lesson) wantWeighted(n network) { l.weighted[n] = l.weights.newOutputs(n, l.rows()) }

// signal returns the residuals of the samples of layer i for the gradient of a network, and the
// weights by which they still have to be multiplied.
func (l *lesson) signal(n network, i int) (kernels.Matrix, weighting) {
	if l.weighted[n] != nil {
		return kernels.Rows(l.weighted[n][i], 0, l.rows()), weighting{}
	}
	return l.residuals[n][i], l.counted[n]
}

// sumOverSamples sets row d of sums to the weighted sum of the rows that belong to the samples of
// datum d.
func (l *lesson) sumOverSamples(sums, rows kernels.Matrix, d int, of weighting) {
	sum, first, last := kernels.Row(sums, d), d*l.samples, (d+1)*l.samples
	clear(sum)
	if of.empty() {
		for r := first; r < last; r++ {
			kernels.AddMultiple(sum, 1, kernels.Row(rows, r))
		}
		return
	}
	from, _ := slices.BinarySearch(of.rows, int32(first))
	for k := from; k < len(of.rows) && int(of.rows[k]) < last; k++ {
		kernels.AddMultiple(sum, of.weights[k], kernels.Row(rows, int(of.rows[k])))
	}
}

// term is a part of the gradient of a layer: residuals times inputs, one row per sample.
type term struct {
	residuals kernels.Matrix
	of        weighting      // the samples that count, and their weights
	states    kernels.Matrix // states of the parents
	parents   kernels.Matrix // the rows of states for the samples that count
	bits      *kernels.Bits  // the parents as bits, or nil in floating point
}

// term returns the term of layer i of a network.
func (l *lesson) term(n network, i int) (t term) {
	t.residuals, t.of = l.signal(n, i)
	parents := n.Parents(i)
	if parents == len(l.states) {
		return t // the prior
	}
	t.states = l.inputs(n, i)
	if parents == 0 && l.datum.Rows > 0 {
		// All samples of a datum have the same parents: rank B, not B·S.
		t.residuals, t.of = kernels.Rows(l.datum, 0, l.data), weighting{}
	}
	t.parents, t.bits = t.states, l.parents[n][i]
	if !t.of.empty() && len(t.of.rows) < t.states.Rows {
		t.parents = kernels.Rows(l.compact[n][i], 0, len(t.of.rows))
	}
	return t
}

// part returns the term for samples first to last−1 of the samples that count.
func (t term) part(first, last int) term {
	t.parents = kernels.Rows(t.parents, first, last)
	if t.of.empty() {
		t.residuals = kernels.Rows(t.residuals, first, last)
	} else {
		t.of = weighting{t.of.rows[first:last], t.of.weights[first:last]}
	}
	return t
}

// pack prepares the factors of the term for multiplication.
func (t term) pack() {
	if t.parents.Rows < t.states.Rows {
		for k, r := range t.of.rows {
			copy(kernels.Row(t.parents, k), kernels.Row(t.states, int(r)))
		}
	}
	if t.bits != nil {
		t.bits.PackColumns(t.parents)
	}
}

// Gradients omit a sample whose importance ω̃ is below weightless. The gradient of unit j is (1/B)
// Σ ω̃ δ u with residuals δ of the unit and parents u = [1; h], and the norm of the omitted part is
// at most
//
//	(1/B) Σ ω̃ |δ| ‖u‖ < 2⁻²⁴ (1/B) Σ |δ| ‖u‖
//
// For n binary parents of a binary unit, this is at most S·2⁻²⁴ √(1+n), comparable to the rounding
// error of float32. The bound is not relative to the unit's gradient, which may be smaller: the
// residuals of the remaining samples may all be near 0.
const weightless = 0x1p-24

// leavesOut reports whether the gradient of a network omits weightless samples. With a baseline or
// with entropies, each sample counts in the gradient of q; with an estimator, each counts in both
// gradients.
func leavesOut(a engine.Algorithm, n network) bool {
	return a.Exponent != 0 && a.Estimator == nil && (n == generative || !a.Baseline && !a.HasEntropy())
}

// weighting lists the samples that count in a term of the gradient, in order, and the weights of
// their residuals. It is empty if the residuals are already weighted.
type weighting struct {
	rows    []int32
	weights []float32
}

func (w *weighting) clear() { w.rows, w.weights = w.rows[:0], w.weights[:0] }

func (w *weighting) add(row int, weight float64) {
	w.rows, w.weights = append(w.rows, int32(row)), append(w.weights, float32(weight))
}

func (w weighting) empty() bool { return len(w.rows) == 0 }

// weigh returns the residuals of the samples that count, times their weights. It stores the result
// in *strip, which grows as needed. If the residuals are already weighted, it returns them
// unchanged.
func (w weighting) weigh(residuals kernels.Matrix, strip *[]float32) kernels.Matrix {
	if w.empty() {
		return residuals
	}
	n := len(w.rows) * residuals.Cols
	*strip = slices.Grow((*strip)[:0], n)[:n]
	weighted := kernels.Matrix{Rows: len(w.rows), Cols: residuals.Cols, Stride: residuals.Cols, Data: *strip}
	kernels.Gather(weighted, residuals, w.rows, w.weights)
	return weighted
}

// strips pools the arrays of weighted residuals.
var strips = sync.Pool{New: func() any { return new([]float32) }}

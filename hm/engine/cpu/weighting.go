package cpu

import (
	"slices"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// A sample whose importance ω̃ is below weightless is left out of the gradients that it
// weighs. That of unit j is (1/B) Σ ω̃ δ u with residuals δ of the unit and parents
// u = [1; h], and what is left out of it has at most the norm
//
//	(1/B) Σ ω̃ |δ| ‖u‖ < 2⁻²⁴ (1/B) Σ |δ| ‖u‖
//
// or S·2⁻²⁴ √(1+n), for n binary parents of a binary unit: rounding to float32 is as
// coarse. It is no part of the unit's gradient, which may be smaller: the residuals of
// the samples that have weight may all be near 0.
const weightless = 0x1p-24

// leavesOut says whether weightless samples are left out of the gradient of a network.
// With a baseline, or with entropies, each sample counts in that of q.
func leavesOut(a engine.Algorithm, n network) bool {
	return a.Exponent != 0 && (n == generative || !a.Baseline && !a.HasEntropy())
}

// weighting is the samples that count in a term of the gradient, in their order, and
// the weights of their residuals. It is empty where residuals are weighted already.
type weighting struct {
	rows    []int32
	weights []float32
}

func newWeighting(most int) weighting {
	return weighting{make([]int32, 0, most), make([]float32, 0, most)}
}

func (w *weighting) clear() { w.rows, w.weights = w.rows[:0], w.weights[:0] }

func (w *weighting) add(row int, weight float64) {
	w.rows, w.weights = append(w.rows, int32(row)), append(w.weights, float32(weight))
}

func (w weighting) empty() bool { return len(w.rows) == 0 }

// weigh returns the residuals of the samples times their weights, in an array that
// it keeps in strip.
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

// strips are the arrays of weighted residuals.
var strips = sync.Pool{New: func() any { return new([]float32) }}

// count weighs the samples of a lesson that have one weight each in a gradient.
func (t *trainer) count(l *lesson) {
	for _, n := range []network{generative, recognition} {
		counted, leavesOut := &l.counted[n], l == t.wake && leavesOut(t.job.Algorithm, n)
		counted.clear()
		if !l.teaches[n] || l.weighted[n] != nil {
			continue
		}
		for r := range l.rows() {
			if !leavesOut || !(t.importance[r] < weightless) {
				counted.add(r, t.objective.weight(l, n, r))
			}
		}
	}
}

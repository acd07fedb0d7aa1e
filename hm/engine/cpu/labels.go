package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"

	"gonum.org/v1/gonum/floats"
)

// labels weighs the labels y of the wake samples of a semi-supervised bidirectional machine (BiHM
// thesis 2016, ch. 4). With the scores ℓ (see type classes) and K samples h ~ q(h|x),
//
//	B̃(x,y) = (1/K) Σ_k e^ℓ_k(y)
//	Ã(x)   = (1/K) Σ_k Σ_y e^ℓ_k(y)            labels summed exactly
//	Ã(x)   = (1/K) Σ_k e^ℓ_k(y_k)/q'(y_k|h_k)  labels y_k ~ q'(y|h_k)
//
// estimate B(x,y) = Σ_h √(p(x,h,y) q(h|x) q(y|h)) and A(x) = Σ_y B(x,y), where q' is q(y|h), or the
// mixture of ½ q(y|h) and ½ at the label of the datum (BiHM thesis 2016, 4.11). Each term of a sum,
// divided by the sum, is a weight: ω̃_B(k) for B̃, ω̃_A(k,y) for Ã. Since ∂√f = ½√f ∂ log f,
//
//	∂ log A = ½ Σ_k Σ_y ω̃_A(k,y) ∂ log [p(x,h_k,y) q(h_k|x) q(y|h_k)]  (BiHM thesis 2016, 4.9)
//	∂ log B = ½ Σ_k ω̃_B(k) ∂ log [p(x,h_k,y) q(h_k|x) q(y|h_k)]        (BiHM thesis 2016, 4.10)
//
// In 4.10, h ~ q(h|x) and ω_B = √(p(x,h,y) q(y|h)/q(h|x)). The gradient of a datum is therefore Σ
// T(k,y) ∂ log [p q] with a table
//
//	T(k,y') = ω̃_A(k,y')                                without a label (4.8)
//	T(k,y') = w/2 · (ω̃_B(k) δ(y',y) − γ ω̃_A(k,y'))     with the label y (4.7)
//
// The weight of the layers below y is t(k) = Σ_y T(k,y). In the distributions of y itself, p(y) and
// q(y|h), ∂ log softmax = δ − softmax gives the residual T(k,y) − t(k) softmax(y). p(hᴹ⁻¹|y) has
// the derivative Σ_k T(k,y)(on − σ(a_y)) with respect to its logits for y.
//
// A classifier with p(y|x,h¹) = q(y|x,h¹) counts twice in log [p q]. With a classifier, ω̃_A(k,y)
// contains the factor q(y|x,h¹), so the terms of A cancel in the classifier's residual: a datum
// without a label does not change the classifier.
type labels struct {
	likelihood
	logits kernels.Matrix // logits of the classes, one row per sample
	table  kernels.Matrix // T divided by the size of the minibatch, one row per sample

	// For a classifier: softmaxes and residuals have one row per sample. datum holds the residuals
	// summed over the samples of each datum.
	softmaxes, residuals, datum kernels.Matrix
}

func newLabels(s *samples) *labels {
	rows, count := s.wake.rows(), s.weights.classes.count
	l := &labels{likelihood: likelihood{s}, logits: kernels.NewMatrix(rows, count), table: kernels.NewMatrix(rows, count)}
	if !s.weights.classes.top {
		l.softmaxes, l.residuals = kernels.NewMatrix(rows, count), kernels.NewMatrix(rows, count)
		l.datum = kernels.NewMatrix(s.wake.data, count)
	}
	s.wake.wantWeighted(generative)
	s.wake.wantWeighted(recognition)
	return l
}

// weighImportance writes the part's rows of the table, and stores the sums t(k) as the importance
// of the samples.
func (l *labels) weighImportance(part *pass, first int, rows []int, at place) {
	s, count, scale := part.samples, part.weights.classes.count, float32(1/float64(l.wake.data))
	logits := kernels.Rows(l.logits, first*s, (first+part.data)*s)
	part.classLogits(logits)
	scores, logQ := make([]float64, s*count), make([]float64, s*count)
	for d := range part.data {
		for k := range s {
			row := d*s + k
			part.scoreClasses(scores[k*count:][:count], logQ[k*count:][:count], row, kernels.Row(logits, row))
			if !part.weights.classes.top {
				softmax := kernels.Row(l.softmaxes, first*s+row)
				for y := range softmax {
					softmax[y] = float32(math.Exp(logQ[k*count+y]))
				}
			}
		}
		weights := l.tabulate(part, d, at, int(l.samples.labels[rows[first+d]]), scores, logQ)
		for k := range s {
			sum := 0.0
			for y, w := range weights[k*count:][:count] {
				sum += w
				kernels.Row(l.table, (first+d)*s+k)[y] = scale * float32(w)
			}
			l.importance[(first+d)*s+k] = sum
		}
	}
}

// tabulate returns T for datum d of a part, from the scores of its samples.
func (l *labels) tabulate(part *pass, d int, at place, label int, scores, logQ []float64) []float64 {
	algorithm, s, count := l.algorithm, part.samples, part.weights.classes.count
	all := make([]float64, s*count) // ω̃_A
	copy(all, scores)
	if algorithm.LabelProposal != engine.ExactLabels && part.weights.classes.top {
		l.proposeLabels(part, d, at, label, all, logQ)
	}
	normalize(all)
	if label >= count { // the datum has no label
		return all
	}
	one := make([]float64, s) // ω̃_B
	for k := range one {
		one[k] = scores[k*count+label]
	}
	normalize(one)
	half := algorithm.LabelWeight / 2
	for i := range all {
		all[i] *= -half * algorithm.Gamma
	}
	for k, w := range one {
		all[k*count+label] += half * w
	}
	return all
}

// normalize turns log-weights into weights that sum to 1.
func normalize(weights []float64) {
	logSoftmax(weights)
	for i, w := range weights {
		weights[i] = math.Exp(w)
	}
}

// logSoftmax subtracts log Σ eᵛ from values v.
func logSoftmax(values []float64) { floats.AddConst(-floats.LogSumExp(values), values) }

// weighResiduals multiplies the residuals of the samples of datum d by t(k), and weighs the
// residuals of its label by the table. The scores ∂ log q(h|x) have mean 0 under q(h|x), so a
// baseline may be subtracted from their weights: the mean of t(k). The scores of y have no
// baseline: their mean over y is either exact already or not a mean under q.
func (l *labels) weighResiduals(d int) {
	wake, samples, batch := l.wake, l.wake.samples, float64(l.wake.data)
	top, below := len(wake.states)-1, len(wake.states)
	if l.weights.classes.top {
		below = top
	}
	baseline := 0.0
	if l.algorithm.Baseline {
		for r := d * samples; r < (d+1)*samples; r++ {
			baseline += l.importance[r] / float64(samples)
		}
	}
	weigh := func(n network, i, r int, by float64) {
		row := kernels.Row(wake.weighted[n][i], r)
		copy(row, kernels.Row(wake.residuals[n][i], r))
		kernels.Scale(row, by)
	}
	for r := d * samples; r < (d+1)*samples; r++ {
		w, table := l.importance[r], kernels.Row(l.table, r)
		for i := range below {
			weigh(generative, i, r, w/batch)
			if i > 0 {
				weigh(recognition, i, r, (w-baseline)/batch)
			}
		}
		// The residuals of the label are on − softmax.
		share := float32(w / batch)
		if below == top {
			for _, n := range []network{generative, recognition} {
				residuals, row := kernels.Row(wake.residuals[n][top], r), kernels.Row(wake.weighted[n][top], r)
				for y, state := range wake.units(top, r) {
					row[y] = table[y] - share*(state-residuals[y])
				}
			}
			continue
		}
		for y, softmax := range kernels.Row(l.softmaxes, r) {
			kernels.Row(l.residuals, r)[y] = 2 * (table[y] - share*softmax)
		}
	}
	if below != top {
		wake.sumOverSamples(l.datum, l.residuals, d, weighting{})
	}
}

// accumulate computes the gradient of units of p(hᴹ⁻¹|y) if the label is the top layer. Each column
// of the gradient belongs to a class, and the element for the bias is the sum of the other elements
// of its row.
func (l *labels) accumulate(tile tile, gradient kernels.Matrix) bool {
	c, layer, first := l.weights.classes, len(l.wake.states)-2, tile.first
	if !c.top || tile.network != generative || tile.layer != layer {
		return false
	}
	off := float64(l.weights.architecture.Off(layer))
	table := kernels.Rows(l.table, 0, l.wake.rows())
	states := kernels.Cols(l.wake.states[layer], 1+first, 1+tile.last)
	kernels.MulTN(kernels.Cols(gradient, 1, 1+c.count), 0, states, table)
	totals := make([]float64, c.count)
	for r := range table.Rows {
		for y, w := range kernels.Row(table, r) {
			totals[y] += float64(w)
		}
	}
	for j := range gradient.Rows {
		row, bias := kernels.Row(gradient, j), 0.0
		for y, total := range totals {
			σ := statistics.Sigmoid(c.logits[(first+j)*c.count+y])
			slope := (float64(row[1+y])-off*total)/(1-off) - σ*total
			row[1+y] = float32(slope)
			bias += slope
		}
		row[0] = float32(bias)
	}
	return true
}

func (l *labels) finish(gradient kernels.Matrix) {
	if l.weights.classes.top {
		return
	}
	visible, wake := l.weights.architecture.ClassifierVisible(), l.wake
	kernels.MulTN(kernels.Cols(gradient, 0, 1+visible), 0, kernels.Rows(l.datum, 0, wake.data), kernels.Cols(wake.states[0], 0, 1+visible))
	hidden := kernels.Cols(wake.states[1], 1, wake.states[1].Cols)
	kernels.MulTN(kernels.Cols(gradient, 1+visible, gradient.Cols), 0, kernels.Rows(l.residuals, 0, wake.rows()), hidden)
}

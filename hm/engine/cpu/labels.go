package cpu

import (
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// labels weigh the labels y of the wake samples of a semi-supervised
// bidirectional machine (BiHM thesis 2016, ch. 4). With the scores ℓ of classes and
// K samples h ~ q(h|x),
//
//	B̃(x,y) = (1/K) Σ_k e^ℓ_k(y)
//	Ã(x)   = (1/K) Σ_k Σ_y e^ℓ_k(y)            labels summed exactly
//	Ã(x)   = (1/K) Σ_k e^ℓ_k(y_k)/q'(y_k|h_k)  labels y_k ~ q'(y|h_k)
//
// estimate B(x,y) = Σ_h √(p(x,h,y) q(h|x) q(y|h)) and A(x) = Σ_y B(x,y), where q'
// is q(y|h), or half of it and half the label of the datum (BiHM thesis 2016, 4.11). The
// terms, over their sum, are the weights ω̃_B(k) and ω̃_A(k,y), and since
// ∂√f = ½√f ∂ log f,
//
//	∂ log A = ½ Σ_k Σ_y ω̃_A(k,y) ∂ log [p(x,h_k,y) q(h_k|x) q(y|h_k)]  (BiHM thesis 2016, 4.9)
//	∂ log B = ½ Σ_k ω̃_B(k) ∂ log [p(x,h_k,y) q(h_k|x) q(y|h_k)]        (BiHM thesis 2016, 4.10)
//
// where in 4.10 h ~ q(h|x) and ω_B = √(p(x,h,y) q(y|h)/q(h|x)). The gradient of a
// datum is therefore Σ T(k,y) ∂ log [p q] with a table
//
//	T(k,y') = ω̃_A(k,y')                                without a label (4.8)
//	T(k,y') = w/2 · (ω̃_B(k) δ(y',y) − γ ω̃_A(k,y'))     with the label y (4.7)
//
// and t(k) = Σ_y T(k,y) is what weighs the layers below y. For those above,
// ∂ log softmax = δ − softmax gives the residual T(k,y) − t(k) softmax(y), and
// p(hᴹ⁻¹|y) the derivative Σ_k T(k,y)(on − σ(a_y)) by its logits for y.
//
// A classifier with p(y|x,h¹) = q(y|x,h¹) counts twice in log [p q]. Its ω̃_A(k,y)
// has the factor q(y|x,h¹), so that the terms of A cancel in its residual, and
// without a label it does not move.
type labels struct {
	table     kernels.Matrix // T, a row a sample
	softmaxes kernels.Matrix // of the classifier, then its residuals
	datum     kernels.Matrix // these summed over the samples of each datum
}

// newLabels returns nil where the machine is trained without labels.
func newLabels(j engine.Job, w *weights) *labels {
	if j.Data.Labels == nil || w.classes == nil {
		return nil
	}
	samples, count := j.Algorithm.BatchSize*j.Algorithm.MostSamples(), w.classes.count
	l := &labels{table: kernels.NewMatrix(samples, count)}
	if !w.classes.top {
		l.softmaxes, l.datum = kernels.NewMatrix(samples, count), kernels.NewMatrix(j.Algorithm.BatchSize, count)
	}
	return l
}

// weighLabels writes the table of a part of the wake pass, which begins with
// datum first of the minibatch, and the sums t(k) as the weights of the samples.
func (t *trainer) weighLabels(part *pass, first int, at place, label func(d int) uint8) {
	s, count := part.samples, part.weights.classes.count
	table := kernels.Rows(t.labels.table, first*s, (first+part.data)*s)
	part.classLogits(table)
	scores, logQ := make([]float64, s*count), make([]float64, s*count)
	for d := range part.data {
		for k := range s {
			row := d*s + k
			part.score(scores[k*count:][:count], logQ[k*count:][:count], row, kernels.Row(table, row))
			if !part.weights.classes.top {
				softmax := kernels.Row(t.labels.softmaxes, first*s+row)
				for y := range softmax {
					softmax[y] = float32(math.Exp(logQ[k*count+y]))
				}
			}
		}
		weights := t.tabulate(part, d, at, int(label(first+d)), scores, logQ)
		for k := range s {
			sum := 0.0
			for y, w := range weights[k*count:][:count] {
				sum += w
				kernels.Row(table, d*s+k)[y] = float32(w)
			}
			t.importance[first*s+d*s+k] = sum
		}
	}
}

// tabulate returns T of datum d of a part, from the scores of its samples.
func (t *trainer) tabulate(part *pass, d int, at place, label int, scores, logQ []float64) []float64 {
	algorithm, s, count := t.job.Algorithm, part.samples, part.weights.classes.count
	labeled := label < count
	all := make([]float64, s*count) // ω̃_A
	copy(all, scores)
	if part.weights.classes.top && algorithm.LabelProposal != engine.ExactLabels {
		top := len(part.states) - 1
		for k := range s {
			y, row := part.drawnClass(d*s+k), all[k*count:][:count]
			mixed := labeled && algorithm.LabelProposal == engine.MixedLabels
			if mixed && at.coin(top, d*s+k, s) {
				y = label
			}
			part.setClass(d*s+k, y)
			proposal := logQ[k*count+y]
			if mixed {
				probability := math.Exp(proposal) / 2
				if y == label {
					probability += 0.5
				}
				proposal = math.Log(probability)
			}
			score := row[y] - proposal
			for other := range row {
				row[other] = math.Inf(-1)
			}
			row[y] = score
		}
	}
	normalize(all)
	if !labeled {
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

// normalize turns log-weights into weights of sum 1.
func normalize(weights []float64) {
	logSoftmax(weights)
	for i, w := range weights {
		weights[i] = math.Exp(w)
	}
}

// logSoftmax takes log Σ eᵛ from values v.
func logSoftmax(values []float64) {
	largest := slices.Max(values)
	sum := 0.0
	for _, v := range values {
		sum += math.Exp(v - largest)
	}
	total := largest + math.Log(sum)
	for i := range values {
		values[i] -= total
	}
}

// setClass makes y the label of sample r, and its residuals those of y.
func (v *pass) setClass(r, y int) {
	top := len(v.states) - 1
	states := v.units(top, r)
	for j := range states {
		state := float32(0)
		if j == y {
			state = 1
		}
		kernels.Row(v.recognition[top], r)[j] += state - states[j]
		kernels.Row(v.generative[top], r)[j] += state - states[j]
		states[j] = state
	}
}

// weightLabels multiplies the residuals of the samples of datum d by t(k), and
// those of its label by the table. Since a score of q(h|x) has mean 0 under it, the
// mean of t(k) is the baseline of these, where there is one; not of those of y,
// whose mean over y is taken already, or is not under q.
func (t *trainer) weightLabels(d int) {
	l, samples, batch := t.labels, t.wake.samples, float64(t.wake.data)
	top, below := len(t.wake.states)-1, len(t.wake.states)
	if t.wake.weights.classes.top {
		below = top
	}
	baseline := 0.0
	if t.job.Algorithm.Baseline {
		for r := d * samples; r < (d+1)*samples; r++ {
			baseline += t.importance[r] / float64(samples)
		}
	}
	for r := d * samples; r < (d+1)*samples; r++ {
		w := t.importance[r]
		kernels.Scale(kernels.Row(l.table, r), 1/batch)
		for i := range below {
			kernels.Scale(kernels.Row(t.wake.generative[i], r), w/batch)
			if i > 0 {
				kernels.Scale(kernels.Row(t.wake.recognition[i], r), (w-baseline)/batch)
			}
		}
		if below == top {
			for _, residuals := range []kernels.Matrix{t.wake.generative[top], t.wake.recognition[top]} {
				row := kernels.Row(residuals, r)
				for y, state := range t.wake.units(top, r) {
					softmax := state - row[y]
					row[y] = kernels.Row(l.table, r)[y] - float32(w/batch)*softmax
				}
			}
			continue
		}
		for y, softmax := range kernels.Row(l.softmaxes, r) {
			kernels.Row(l.softmaxes, r)[y] = 2 * (kernels.Row(l.table, r)[y] - float32(w/batch)*softmax)
		}
	}
	t.sumOverSamples(t.datum, t.wake.recognition[1], d, weighting{})
	if below != top {
		t.sumOverSamples(l.datum, l.softmaxes, d, weighting{})
	}
}

// accumulateLabels computes the gradient of units first to last−1 of p(hᴹ⁻¹|y): the
// columns are the classes, and a bias is the sum of its row.
func (t *trainer) accumulateLabels(gradient kernels.Matrix, first, last int) {
	c, layer := t.wake.weights.classes, len(t.wake.states)-2
	off := float64(t.wake.weights.architecture.Coding.Off())
	table := kernels.Rows(t.labels.table, 0, t.wake.data*t.wake.samples)
	states := kernels.Cols(t.wake.states[layer], 1+first, 1+last)
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
			σ := 1 / (1 + math.Exp(-c.logits[(first+j)*c.count+y]))
			slope := (float64(row[1+y])-off*total)/(1-off) - σ*total
			row[1+y] = float32(slope)
			bias += slope
		}
		row[0] = float32(bias)
	}
}

// accumulateClassifier computes the gradient of the classifier.
func (t *trainer) accumulateClassifier() {
	gradient, visible, rows := matrix(t.gradient.Classifier), t.weights.architecture.ClassifierVisible(), t.wake.data*t.wake.samples
	kernels.MulTN(kernels.Cols(gradient, 0, 1+visible), 0, kernels.Rows(t.labels.datum, 0, t.wake.data), kernels.Cols(t.wake.states[0], 0, 1+visible))
	hidden := kernels.Cols(t.wake.states[1], 1, t.wake.states[1].Cols)
	kernels.MulTN(kernels.Cols(gradient, 1+visible, gradient.Cols), 0, kernels.Rows(t.labels.softmaxes, 0, rows), hidden)
}

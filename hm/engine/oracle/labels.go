package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Semi-supervised machines (BiHM thesis 2016, ch. 4) have a label y, which is either the top layer
// or the output of a classifier that both networks share. The functions here take states of all
// layers. If the label is the top layer, they replace its state by their argument y.

// withLabel returns v with the label y.
func (n *Networks) withLabel(v Values, y int) Values {
	if !n.Architecture.TopLabels() {
		return v
	}
	v = slices.Clone(v)
	top := n.Architecture.Depth()
	v[top] = make([]float64, n.Architecture.Labels())
	v[top][y] = 1
	return v
}

// classifierLogits returns the logits of q(y|x,h¹) or q(y|h¹), and the parents of the classifier.
func (n *Networks) classifierLogits(v Values) (logits, parents []float64) {
	parents = slices.Concat([]float64{1}, v[0][:n.Architecture.ClassifierVisible()], v[1])
	flat := n.Flat[len(n.Flat)-n.Architecture.Classes*len(parents):]
	for range n.Architecture.Classes {
		logits, flat = append(logits, floats.Dot(flat[:len(parents)], parents)), flat[len(parents):]
	}
	return logits, parents
}

// LogLabel returns log q(y|h), or log q(y|x,h¹) for a classifier.
func (n *Networks) LogLabel(v Values, y int) float64 {
	if !n.Architecture.TopLabels() {
		logits, _ := n.classifierLogits(v)
		return logits[y] - floats.LogSumExp(logits)
	}
	v = n.withLabel(v, y)
	return n.logDensity(n.labelUnits(), v)
}

// labelUnits returns the recognition units of the top layer, if it is the label.
func (n *Networks) labelUnits() []Unit {
	return n.Recognition[len(n.Recognition)-n.Architecture.Labels():]
}

// LogBelow returns log q(h|x) without the label.
func (n *Networks) LogBelow(v Values) float64 {
	if n.Architecture.TopLabels() {
		return n.logDensity(n.Recognition[:len(n.Recognition)-n.Architecture.Labels()], v)
	}
	return n.LogRecognitionOf(v)
}

// logProduct returns log p(x,h,y) q(h|x) q(y|h).
func (n *Networks) logProduct(v Values, y int) float64 {
	v = n.withLabel(v, y)
	log := n.LogJointOf(v) + n.LogBelow(v) + n.LogLabel(v, y)
	if !n.Architecture.TopLabels() {
		log += n.LogLabel(v, y) // p(y|x,h¹) = q(y|x,h¹)
	}
	return log
}

// productScore returns the derivative of logProduct.
func (n *Networks) productScore(v Values, y int) []float64 {
	score := n.ScoreOf(n.withLabel(v, y))
	if n.Architecture.TopLabels() {
		return score
	}
	logits, parents := n.classifierLogits(v)
	start := len(score) - n.Architecture.Classes*len(parents)
	for class, a := range logits {
		residual := -math.Exp(a - floats.LogSumExp(logits))
		if class == y {
			residual++
		}
		floats.ScaleTo(score[start+class*len(parents):][:len(parents)], 2*residual, parents)
	}
	return score
}

// belowScore returns the derivative of LogBelow.
func (n *Networks) belowScore(v Values) []float64 {
	score := n.ScoreOf(v)
	clear(score[:n.Architecture.GenerativeSize()])
	if n.Architecture.TopLabels() {
		clear(score[n.labelUnits()[0].Start:])
	}
	return score
}

// Explanations returns x with every h, for machines with few units. The label of a top layer is set
// to the first class.
func (n *Networks) Explanations(x []float64) (all []Values) {
	last := n.Architecture.Depth()
	if n.Architecture.TopLabels() {
		last--
	}
	for v := range n.states(1, last) {
		v[0] = x
		all = append(all, n.withLabel(v, 0))
	}
	return all
}

// LogB returns log B(x,y) = log Σ_h √(p(x,h,y) q(h|x) q(y|h)) for each label (BiHM thesis 2016,
// 4.2). A(x) is the sum of B(x,y) over y (BiHM thesis 2016, 4.1).
func (n *Networks) LogB(x []float64) []float64 {
	logs := make([]float64, n.Architecture.Labels())
	for y := range logs {
		var terms []float64
		for _, v := range n.Explanations(x) {
			terms = append(terms, n.logProduct(v, y)/2)
		}
		logs[y] = floats.LogSumExp(terms)
	}
	return logs
}

// LogA returns log A(x).
func (n *Networks) LogA(x []float64) float64 { return floats.LogSumExp(n.LogB(x)) }

// LabelRule selects the objective of a semi-supervised machine and its estimator. The objective is
// Weight·(log B(x,y) − γ log A(x)) for a datum with a label y (BiHM thesis 2016, 4.7), and 2 log A(x)
// for a datum without a label (BiHM thesis 2016, 4.8).
type LabelRule struct {
	Proposal engine.LabelProposal
	Gamma    float64
	Weight   float64 // weight of a labelled datum
	Baseline bool    // subtract the mean weight of the samples for q(h|x)
}

// labelEstimates returns log Ã(x) and log B̃(x,y), estimated from samples h ~ q(h|x), and the
// logarithms of the terms of Ã, one per sample and label. If labels are drawn, only the term of the
// sample's drawn label is not 0. y is the label of the datum.
func (n *Networks) labelEstimates(samples []Values, y int, r LabelRule) (logA float64, logB []float64, terms [][]float64) {
	classes := n.Architecture.Labels()
	columns := make([][]float64, classes)
	var all []float64
	for _, v := range samples {
		row := make([]float64, classes)
		for class := range row {
			score := n.logProduct(v, class)/2 - n.LogBelow(v)
			columns[class] = append(columns[class], score)
			switch {
			case r.Proposal == engine.ExactLabels || !n.Architecture.TopLabels():
				row[class] = score
			case v[n.Architecture.Depth()][class] != 1:
				row[class] = math.Inf(-1)
			default:
				q := math.Exp(n.LogLabel(v, class))
				if r.Proposal == engine.MixedLabels && y < classes {
					q /= 2
					if class == y {
						q += 0.5
					}
				}
				row[class] = score - math.Log(q)
			}
		}
		terms, all = append(terms, row), append(all, row...)
	}
	count := math.Log(float64(len(samples)))
	for _, column := range columns {
		logB = append(logB, floats.LogSumExp(column)-count)
	}
	return floats.LogSumExp(all) - count, logB, terms
}

// LabelGradientOn returns the direction of a step on the samples of each datum, given its label.
func (n *Networks) LabelGradientOn(data [][]Values, labels []int, r LabelRule) []float64 {
	gradient := make([]float64, len(n.Flat))
	add := func(weight float64, score []float64) {
		floats.AddScaled(gradient, weight/float64(len(data)), score)
	}
	for d, samples := range data {
		y, count := labels[d], math.Log(float64(len(samples)))
		labeled := y < n.Architecture.Labels()
		logA, logB, terms := n.labelEstimates(samples, y, r)
		mean := 0.0
		for k, v := range samples {
			for class := range logB {
				weight := math.Exp(terms[k][class] - count - logA)
				if labeled {
					weight *= -r.Gamma * r.Weight / 2
				}
				if class == y {
					weight += r.Weight / 2 * math.Exp(n.logProduct(v, class)/2-n.LogBelow(v)-count-logB[y])
				}
				mean += weight / float64(len(samples))
				add(weight, n.productScore(v, class))
			}
		}
		if r.Baseline {
			for _, v := range samples {
				add(-mean, n.belowScore(v))
			}
		}
	}
	return gradient
}

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
	_, label := n.split()
	return n.logDensity(label, n.withLabel(v, y))
}

// split returns the recognition units below the label and the units of the label, if it is the top layer.
func (n *Networks) split() (below, label []Unit) {
	last := len(n.Recognition)
	if n.Architecture.TopLabels() {
		last -= n.Architecture.Labels()
	}
	return n.Recognition[:last], n.Recognition[last:]
}

// LogBelow returns log q(h|x) without the label.
func (n *Networks) LogBelow(v Values) float64 {
	below, _ := n.split()
	return n.logDensity(below, v)
}

// logProduct returns log p(x,h,y) q(h|x) q(y|h).
func (n *Networks) logProduct(v Values, y int) float64 {
	v = n.withLabel(v, y)
	log := n.LogJointOf(v) + n.LogRecognitionOf(v)
	if !n.Architecture.TopLabels() {
		log += 2 * n.LogLabel(v, y) // p(y|x,h¹) = q(y|x,h¹)
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

// labelEstimates returns log Ã(x) and log B̃(x,y), estimated from samples h ~ q(h|x), and the
// logarithms of the terms of Ã, one per sample and label. If labels are drawn, only the term of the
// sample's drawn label is not 0. y is the label of the datum.
func (n *Networks) labelEstimates(samples []Values, y int, r engine.Algorithm) (logA float64, logB []float64, terms [][]float64) {
	classes := n.Architecture.Labels()
	columns := make([][]float64, classes)
	var all []float64
	for _, v := range samples {
		row := make([]float64, classes)
		for class := range row {
			score := n.logProduct(v, class)/2 - n.LogBelow(v)
			columns[class] = append(columns[class], score)
			switch {
			case r.LabelProposal == engine.ExactLabels || !n.Architecture.TopLabels():
				row[class] = score
			case v[n.Architecture.Depth()][class] != 1:
				row[class] = math.Inf(-1)
			default:
				q := math.Exp(n.LogLabel(v, class))
				if r.LabelProposal == engine.MixedLabels && y < classes {
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

// LabelGradientOn returns the direction of a step on the samples of each datum, given its label. The objective is
// LabelWeight·(log B(x,y) − γ log A(x)) for a datum with a label y (BiHM thesis 2016, 4.7), and 2 log A(x)
// for a datum without a label (BiHM thesis 2016, 4.8).
func (n *Networks) LabelGradientOn(data [][]Values, labels []int, r engine.Algorithm) []float64 {
	gradient := make([]float64, len(n.Flat))
	for d, samples := range data {
		y, count := labels[d], math.Log(float64(len(samples)))
		labeled := y < n.Architecture.Labels()
		logA, logB, terms := n.labelEstimates(samples, y, r)
		mean := 0.0
		for k, v := range samples {
			for class := range logB {
				weight := math.Exp(terms[k][class] - count - logA)
				if labeled {
					weight *= -r.Gamma * r.LabelWeight / 2
				}
				if class == y {
					weight += r.LabelWeight / 2 * math.Exp(n.logProduct(v, class)/2-n.LogBelow(v)-count-logB[y])
				}
				mean += weight / float64(len(samples))
				floats.AddScaled(gradient, weight/float64(len(data)), n.productScore(v, class))
			}
		}
		if r.Baseline {
			below, _ := n.split()
			for _, v := range samples {
				n.addScore(gradient, below, v, -mean/float64(len(data)))
			}
		}
	}
	return gradient
}

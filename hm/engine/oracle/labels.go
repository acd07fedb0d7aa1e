package oracle

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/lists"
)

// Semi-supervised machines (BiHM thesis 2016, ch. 4) have a label y, which is either the top layer
// or the output of a classifier that both networks share. The functions here take states of all
// layers, and give them the label of their argument y.

// classifier returns the units of a classifier, whose layer comes after the missing parents of the prior. Their
// parents are x, unless the classifier does not see it, and h¹.
func classifier(a engine.Architecture, start int) (list []Unit) {
	width := 1 + a.ClassifierVisible() + a.Units[1]
	for y := range a.Classes {
		list = append(list, Unit{
			Layer: len(a.Units) + 1, Index: y, Parents: 1, besideX: !a.HiddenClassifier, Kind: engine.Categorical,
			Start: start + y*width, Width: width, variable: engine.Group{Units: a.Classes}, column: func(parent int) int { return 1 + parent },
		})
	}
	return list
}

// withLabel returns v with the label y.
func (n *Networks) withLabel(v Values, y int) Values {
	layer := n.label[0].Layer
	v = append(slices.Clone(v), nil, nil)[:layer+1]
	v[layer] = make([]float64, len(n.label))
	v[layer][y] = 1
	return v
}

// LogLabel returns log q(y|h), or log q(y|x,h¹) for a classifier.
func (n *Networks) LogLabel(v Values, y int) float64 { return n.logDensity(n.label, n.withLabel(v, y)) }

// LogBelow returns log q(h|x) without the label.
func (n *Networks) LogBelow(v Values) float64 { return n.logDensity(n.below, v) }

// logProduct returns log p(x,h,y) q(h|x) q(y|h).
func (n *Networks) logProduct(v Values, y int) float64 {
	log := n.LogJointOf(n.withLabel(v, y)) + n.LogBelow(v) + n.LogLabel(v, y)
	if !n.Architecture.TopLabels() {
		log += n.LogLabel(v, y) // p(y|x,h¹) = q(y|x,h¹)
	}
	return log
}

// productScore returns the derivative of logProduct.
func (n *Networks) productScore(v Values, y int) []float64 {
	v = n.withLabel(v, y)
	score := n.ScoreOf(v)
	if !n.Architecture.TopLabels() {
		n.addScore(score, n.label, v, 2)
	}
	return score
}

// Explanations returns x with every h, for machines with few units. A label at the top is left out.
func (n *Networks) Explanations(x []float64) (all []Values) {
	last := n.Architecture.Depth()
	if n.Architecture.TopLabels() {
		last--
	}
	for v := range n.states(1, last) {
		v[0] = x
		all = append(all, v)
	}
	return all
}

// LogB returns log B(x,y) = log Σ_h √(p(x,h,y) q(h|x) q(y|h)) for each label (BiHM thesis 2016,
// 4.2). A(x) is the sum of B(x,y) over y (BiHM thesis 2016, 4.1).
func (n *Networks) LogB(x []float64) []float64 {
	logs := make([]float64, n.Architecture.Labels())
	for y := range logs {
		terms := lists.Map(n.Explanations(x), func(v Values) float64 { return n.logProduct(v, y) / 2 })
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
			for _, v := range samples {
				n.addScore(gradient, n.below, v, -mean/float64(len(data)))
			}
		}
	}
	return gradient
}

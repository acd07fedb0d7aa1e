package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// This file reproduces printed formulas, and programs behind publications, that are wrong or
// inferior to the formulas used elsewhere in this package. They are needed to reproduce published
// results.

// printedEntropy adds to an objective the estimator of the entropy's gradient that is printed below
// Várady 2025, 6.17. It subtracts the estimator's strength from the weights of the wake samples in
// the gradient of q, and from the weights of the dreams in the gradient of p.
type printedEntropy struct {
	objective
	samples *samples
}

func (o printedEntropy) weight(of *lesson, n network, r int) float64 {
	weight := o.objective.weight(of, n, r)
	if s := o.samples; of == s.wake && n == recognition || of == s.dreams && n == generative {
		weight -= float64(s.warmth * s.algorithm.EntropyEstimator)
	}
	return weight
}

// legacyWeight returns the weight of dream r in the Fisher blocks of p in the program behind Várady
// 2025: the importance of an unrelated wake sample, divided by B·S.
func (s *samples) legacyWeight(r int) float64 { return s.importance[r] / float64(s.wake.rows()) }

// proposeLabels draws one label for each sample of datum d of a part, so that Ã needs no sum over
// all labels. The label comes from q(y|h) (BiHM thesis 2016, 4.4). For MixedLabels and a datum with
// a label, it is that label with probability ½, and otherwise comes from q(y|h) (BiHM thesis 2016,
// 4.11). proposeLabels reduces the score of each drawn label by the logarithm of its proposal
// probability, and sets all other scores to −∞.
func (l *labels) proposeLabels(part *pass, d int, at place, label int, scores, logQ []float64) {
	s, count, top := part.samples, part.weights.classes.count, len(part.states)-1
	mixed := label < count && l.algorithm.LabelProposal == engine.MixedLabels
	for k := range s {
		r, row := d*s+k, scores[k*count:][:count]
		y := part.drawnClass(r)
		if mixed && at.coin(top, r, s) {
			y = label
		}
		part.setClass(r, y)
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

// setClass makes y the label of sample r, and updates its residuals.
func (v *pass) setClass(r, y int) {
	top := len(v.states) - 1
	states := v.units(top, r)
	for j := range states {
		state := float32(0)
		if j == y {
			state = 1
		}
		for n := range v.residuals {
			kernels.Row(v.residuals[n][top], r)[j] += state - states[j]
		}
		states[j] = state
	}
}

// coin returns a fair coin for sample r of a pass, independent of the draw of its label.
func (at place) coin(layer, r, samples int) bool {
	words := at.key.Block(at.counter(layer, r/samples, r%samples))
	return philox.Uniform(words[1]) < 0.5
}

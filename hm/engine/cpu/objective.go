package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// objective says what the samples of a step count in its gradient. That of the published
// methods is likelihood; the others begin from it, and say what they do otherwise.
type objective interface {
	// weighImportance writes the normalised importance weights of a part of the wake pass
	// that has been scored: that of the rows of a minibatch from datum first on.
	weighImportance(part *pass, first int, rows []int, at place)
	// weight is that of sample r of a lesson in the gradient of a network.
	weight(of *lesson, n network, r int) float64
	// weighResiduals writes the weighted residuals of the samples of datum d, and of the
	// dreams beside them, where these have not one weight each.
	weighResiduals(d int)
	// accumulate computes a tile of the gradient, where that is no sum of terms, and says
	// whether it did.
	accumulate(tile tile, gradient kernels.Matrix) bool
	// finish computes the gradient, or with the metric and the penalties the direction, of
	// what is no layer of a network.
	finish(natural bool)
}

func (t *trainer) newObjective() objective {
	usual := objective(likelihood{t})
	a := t.job.Algorithm
	switch {
	case t.job.Data.Labels != nil && t.weights.classes != nil:
		return newLabels(t)
	case a.Reinforce:
		return newReinforce(t)
	}
	if a.EntropyEstimator != 0 {
		usual = printedEntropy{usual, t}
	}
	if a.Entropy != 0 {
		usual = newEntropy(usual, t)
	}
	return usual
}

// likelihood weighs samples by the rule of the algorithm: those of the data by their
// importance ω̃, in the gradient of q less a baseline, and dreams alike.
type likelihood struct{ *trainer }

func (o likelihood) weighImportance(part *pass, first int, _ []int, _ place) {
	s, exponent := part.samples, o.job.Algorithm.Exponent
	for d := range part.data {
		weights := o.importance[(first+d)*s : (first+d+1)*s]
		largest := math.Inf(-1)
		for k := range weights {
			weights[k] = exponent * (part.logP[d*s+k] - part.logQ[d*s+k])
			largest = max(largest, weights[k])
		}
		sum := 0.0
		for k := range weights {
			weights[k] = math.Exp(weights[k] - largest)
			sum += weights[k]
		}
		for k := range weights {
			weights[k] /= sum
		}
	}
}

func (o likelihood) weight(of *lesson, n network, r int) float64 {
	a, data, baseline := o.job.Algorithm, float64(of.data), 0.0
	switch {
	case of != o.wake && n == recognition:
		return a.Sleep / data
	case of == o.wake && n == generative:
		return o.importance[r] / data
	case of != o.wake || !a.HasRecognitionWake():
		return 0
	}
	if a.Baseline {
		baseline = 1 / float64(of.samples)
	}
	return a.QWake * (o.importance[r] - baseline) / data
}

func (likelihood) weighResiduals(int) {}

func (likelihood) accumulate(tile, kernels.Matrix) bool { return false }

func (likelihood) finish(bool) {}

// warmth is the part of their strength that regularisers have in the step, over B·S.
func (t *trainer) warmth() float64 {
	return t.job.Algorithm.WarmedUp(t.state.Step) / float64(t.wake.rows())
}

package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// samples holds the draws of a step and their weights: everything that an objective may use.
type samples struct {
	algorithm  engine.Algorithm
	labels     []uint8 // labels of the training rows, or nil if they have none
	weights    *weights
	wake       *lesson
	dreams     *lesson   // nil if the algorithm draws no dreams
	importance []float64 // normalised importance weights ω̃, S per datum
	// estimates holds the weights of the wake samples in the gradients of p and q by the algorithm's Estimator, or nil
	// without one.
	estimates [2][]float64
	baseline  kernels.Matrix // the network of LearnedBaseline, or no rows with other baselines
	warmth    float64        // factor of the regularisers' strengths in this step (WarmedUp), divided by B·S
}

// objective decides how much each sample of a step counts in the step's gradient. The published
// methods use likelihood; the others build on it.
type objective interface {
	// weighImportance writes the importance weights of a scored part of the wake pass. The part
	// begins at datum first of the minibatch. rows lists the data rows of the whole minibatch.
	weighImportance(part *pass, first int, rows []int, at place)
	// weight returns the weight of sample r of a lesson in the gradient of a network.
	weight(of *lesson, n network, r int) float64
	// weighResiduals writes the weighted residuals of the samples of datum d, and of the dreams
	// with the same indices, unless each sample has a single weight.
	weighResiduals(d int)
	// accumulate computes a tile of the gradient if the tile is not a sum of terms, and reports
	// whether it did.
	accumulate(tile tile, gradient kernels.Matrix) bool
	// finish computes the gradient of the classifier, which is not a layer of a network.
	finish(classifier kernels.Matrix)
}

func newObjective(s *samples) objective {
	usual := objective(likelihood{s})
	a := s.algorithm
	if a.Estimator != nil {
		s.estimates = [2][]float64{make([]float64, len(s.importance)), make([]float64, len(s.importance))}
	}
	switch {
	case s.labels != nil && s.weights.classes != nil:
		return newLabels(s)
	case a.Reinforce:
		s.wake.wantWeighted(recognition)
		return reinforce{likelihood{s}}
	}
	if a.EntropyEstimator != 0 {
		usual = printedEntropy{usual, s}
	}
	if a.Entropy != 0 {
		s.wake.wantWeighted(recognition)
		s.dreams.wantWeighted(generative)
		usual = entropy{usual, s}
	}
	return usual
}

// likelihood weighs samples by the rule of the algorithm: wake samples by their importance ω̃,
// minus a baseline in the gradient of q, or by the algorithm's Estimator, and dreams equally.
type likelihood struct{ *samples }

func (o likelihood) weighImportance(part *pass, first int, _ []int, _ place) {
	s, exponent := part.samples, o.algorithm.Exponent
	for d := range part.data {
		weights := o.importance[(first+d)*s : (first+d+1)*s]
		largest := math.Inf(-1)
		for k := range weights {
			weights[k] = exponent * (part.logP[d*s+k] - part.logQ[d*s+k])
			largest = max(largest, weights[k])
		}
		sum := 0.0
		for k := range weights {
			weights[k] = statistics.Exp(weights[k] - largest)
			sum += weights[k]
		}
		for k := range weights {
			weights[k] /= sum
		}
		if e := o.algorithm.Estimator; e != nil {
			p, q := o.estimates[generative][(first+d)*s:(first+d+1)*s], o.estimates[recognition][(first+d)*s:(first+d+1)*s]
			clear(p)
			clear(q)
			e.Weigh(part.logP[d*s:(d+1)*s], part.logQ[d*s:(d+1)*s], p, q)
		}
	}
}

func (o likelihood) weight(of *lesson, n network, r int) float64 {
	a, data, baseline := o.algorithm, float64(of.data), 0.0
	switch {
	case of != o.wake && n == recognition:
		return a.Sleep / data
	case of == o.wake && a.Estimator != nil:
		return o.estimates[n][r] / data * [2]float64{1, a.QWake}[n]
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

func (likelihood) finish(kernels.Matrix) {}

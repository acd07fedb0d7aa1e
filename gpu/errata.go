//go:build cuda

package gpu

// This file follows the printed formulas of the sources, or the programs behind them, where they
// are wrong, so that published results can be reproduced. Package cpu has a file of the same name.

// printedEntropy returns the input with the weight of the score of q in the printed estimator of
// the entropy's gradient (below Várady 2025, 6.17). It adds to the samples' other weights.
func (t *trainer) printedEntropy(w *writer, p *stepPrograms) uint32 {
	return t.warmed(w, -t.job.Algorithm.EntropyEstimator, p)
}

// legacy makes e the estimate of the program behind Várady 2025: from dreams, but with the
// importance weights of wake samples. It returns the pass to estimate from.
func (e *estimate) legacy(t *trainer, step *stepPrograms) *pass {
	e.weights, e.scale = t.weights, 1/float64(step.wake.samples)
	return step.dreams
}

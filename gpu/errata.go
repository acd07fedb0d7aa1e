//go:build cuda

package gpu

// This file repeats errors in the printed formulas of the sources, or in the programs behind them,
// so that published results can be reproduced. Package cpu has a file of the same name.

// printedEntropy returns the place of an input: the weight of the scores in the estimator of the
// entropy's gradient, as printed below Várady 2025, 6.17. The scores are q's for wake samples and
// p's for dreams. The weight is added to the other weights of the samples.
func (t *trainer) printedEntropy(w *writer, p *stepPrograms) uint32 {
	return t.warmed(w, -t.job.Algorithm.EntropyEstimator, p)
}

// legacy changes e to estimate like the program behind Várady 2025: from dreams, but with the
// importance weights of wake samples. It returns the pass of the dreams.
func (e *estimate) legacy(t *trainer, step *stepPrograms) *pass {
	e.weights, e.scale = t.weights, 1/float64(step.wake.samples)
	return step.dreams
}

//go:build cuda

package gpu

// What stands here follows the print, or the programs behind it, where these err: results
// are reproduced by it. The package cpu has a file of the same name.

// printedEntropy is the place of the weight that samples have by the printed estimator of
// the entropy's gradient (below Várady 2025, 6.17), of q beside their others.
func (t *trainer) printedEntropy(w *writer, p *stepPrograms) uint32 {
	return t.warmed(w, -t.job.Algorithm.EntropyEstimator, p)
}

// legacy makes an estimate that of the program behind Várady 2025: from dreams, with the
// importance weights of wake samples.
func (e *estimate) legacy(t *trainer, step *stepPrograms) *pass {
	e.weights, e.scale = t.weights, 1/float64(step.wake.samples)
	return step.dreams
}

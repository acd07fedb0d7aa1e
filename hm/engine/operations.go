package engine

// Operations is the number of floating-point operations, two a multiplication
// and addition, of the matrix products of one training step: logits and
// gradients of both networks for the wake samples and, where there are any, for
// as many dreams, in each sleep phase. The first recognition layer sees the same
// data in all samples of a datum, and counts once a datum. The number of samples
// is that of the first step.
func (a Algorithm) Operations(arch Architecture) float64 {
	data, samples := float64(a.BatchSize), float64(a.BatchSize*a.Samples)
	generative := float64(arch.GenerativeSize())
	recognition := float64(arch.Size()) - generative
	first := float64(arch.Units[1] * (1 + arch.Units[0]))
	upward := data*first + samples*(recognition-first)

	products := upward + 2*samples*generative // wake: logits of q and p, gradient of p
	if a.HasRecognitionWake() || a.HasEntropy() {
		products += upward // gradient of q
	}
	if a.HasDreams() {
		products += samples * generative
	}
	if a.HasSleep() {
		products += samples * 2 * recognition // logits and gradient of q in dreams
		products += float64(a.SleepSteps-1) * samples * (generative + 2*recognition)
	}
	if a.HasEntropy() {
		products += samples * generative // gradient of the entropy of p in dreams
	}
	return 2 * products
}

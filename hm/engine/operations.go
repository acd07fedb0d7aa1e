package engine

// Operations is the number of floating-point operations, two a multiplication
// and addition, of the matrix products of one training step: logits and
// gradients of both networks for the wake samples and for the dreams of each sleep
// phase, which are as many. The first recognition layer sees the same data in all samples
// of a datum, and counts once a datum.
func (a Algorithm) Operations(arch Architecture) float64 {
	data, samples := float64(a.BatchSize), float64(a.BatchSize*a.Samples)
	generative := float64(arch.GenerativeSize())
	recognition := float64(arch.Size()) - generative
	first := float64(arch.Units[1] * (1 + arch.Units[0]))
	upward := data*first + samples*(recognition-first)

	products := upward + 2*samples*generative // wake: logits of q and p, gradient of p
	if a.HasRecognitionWake() {
		products += upward // gradient of q
	}
	if a.HasSleep() {
		products += float64(a.SleepSteps) * samples * (generative + 2*recognition) // dreams, logits and gradient of q
	}
	return 2 * products
}

package engine

// Operations is the number of floating-point operations, two a multiplication
// and addition, of the matrix products of one training step: logits and
// gradients of both networks for the wake samples and, where there are any, for
// as many dreams, in each sleep phase. The first recognition layer sees the same
// data in all samples of a datum, and counts once a datum. The number of samples
// is that of the first step.
func (a Algorithm) Operations(arch Architecture) float64 {
	data, samples := float64(a.BatchSize), float64(a.BatchSize*a.Samples)
	generative, recognition := 0.0, 0.0 // of one sample
	for i := range arch.Units {
		generative += arch.GenerativeConnection(i).multiplications()
		if i > 0 {
			recognition += arch.RecognitionConnection(i).multiplications()
		}
	}
	first := arch.RecognitionConnection(1).multiplications()
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

// multiplications is the number of those that the outputs of a layer take. Those
// of a deconvolution are counted from the coarse grid, where all taps are.
func (c Connection) multiplications() float64 {
	if c.Down {
		coarse := c.Convolution.Coarse()
		return float64(coarse.Height*coarse.Width) * float64(c.Outputs) * float64(c.Inputs-1)
	}
	return float64(c.Positions) * float64(c.size())
}

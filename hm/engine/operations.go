package engine

// Operations returns the number of floating-point operations in the matrix products of one training
// step; a multiplication with its addition counts as two. The products compute the logits and
// gradients of both networks, for the wake samples and, in each sleep phase, for the same number of
// dreams. The first recognition layer counts once per datum, since all samples of a datum share its
// input. Back-propagation through tanh layers is not counted. The count uses the number of samples
// at the first step.
func (a Algorithm) Operations(arch Architecture) float64 {
	data, samples := float64(a.BatchSize), float64(a.BatchSize*a.Samples)
	var each [2]float64 // of p and q, per sample
	first := 0.0
	for _, n := range arch.Networks() {
		for i := range arch.Units {
			each[n.Base()] += n.Connection(arch, i).multiplications()
		}
		if n.Base() == Recognition {
			first += n.Connection(arch, 1).multiplications()
		}
	}
	generative, recognition := each[Generative], each[Recognition]
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

// multiplications returns the number of multiplications per sample for the outputs of a layer. A
// deconvolution is counted on the coarse grid, where no kernel weight is missing.
func (c Connection) multiplications() float64 {
	if c.Down {
		coarse := c.Convolution.Coarse()
		return float64(coarse.Height*coarse.Width) * float64(c.Outputs) * float64(c.Inputs-1)
	}
	return float64(c.Positions) * float64(c.size())
}

package deterministic

import "math"

// adam implements Adam with its published settings: running means of the gradient and of its
// square, corrected for their start at zero.
type adam struct {
	mean, square, gradient *Parameters
}

// descend takes a step along the negative gradient. Steps count from 1.
func (a *adam) descend(parameters *Parameters, step int, rate float64) {
	const meanDecay, squareDecay, floor = 0.9, 0.999, 1e-8
	meanScale := 1 / (1 - math.Pow(meanDecay, float64(step)))
	squareScale := 1 / (1 - math.Pow(squareDecay, float64(step)))
	mean, square := a.mean.Flat, a.square.Flat
	for i, g := range a.gradient.Flat {
		mean[i] += (1 - meanDecay) * (g - mean[i])
		square[i] += (1 - squareDecay) * (g*g - square[i])
		parameters.Flat[i] -= rate * mean[i] * meanScale / (math.Sqrt(square[i]*squareScale) + floor)
	}
}

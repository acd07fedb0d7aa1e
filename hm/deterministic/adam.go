package deterministic

import "math"

// adam is Adam with its published settings: means of the gradient and of its
// square, corrected for their start at zero.
type adam struct {
	rate         float64
	step         int
	mean, square []float64
}

func newAdam(size int, rate float64) *adam {
	return &adam{rate: rate, mean: make([]float64, size), square: make([]float64, size)}
}

func (a *adam) descend(parameters, gradient []float64) {
	const meanDecay, squareDecay, floor = 0.9, 0.999, 1e-8
	a.step++
	meanScale := 1 / (1 - math.Pow(meanDecay, float64(a.step)))
	squareScale := 1 / (1 - math.Pow(squareDecay, float64(a.step)))
	for i, g := range gradient {
		a.mean[i] += (1 - meanDecay) * (g - a.mean[i])
		a.square[i] += (1 - squareDecay) * (g*g - a.square[i])
		parameters[i] -= a.rate * a.mean[i] * meanScale / (math.Sqrt(a.square[i]*squareScale) + floor)
	}
}

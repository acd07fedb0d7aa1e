package boltzmann

import "math"

type optimizer struct {
	kind        Optimizer
	β1, β2      float32
	moments     []*Parameters // slots: running means, the velocity or the previous gradient
	rate        float32       // learning rate of this step
	correction1 float32       // factors that correct Adam's means, which start at 0
	correction2 float32

	γ         float64
	logFactor *float64     // logarithm of CosineRate's factor of the rate
	sums      [][3]float64 // for each visible unit ⟨g,g′⟩, ⟨g,g⟩ and ⟨g′,g′⟩; g is the gradient of its weights, and g′ is the gradient in the previous step
}

func newOptimizer(s MethodSpec, moments []*Parameters) *optimizer {
	o := &optimizer{kind: s.Optimizer, moments: moments, β1: float32(s.Momentum), γ: s.Adaptation, logFactor: new(float64)}
	switch o.kind {
	case Adam:
		o.β1, o.β2 = float32(s.AdamBeta1), float32(s.AdamBeta2)
	case CosineRate:
		o.sums = make([][3]float64, moments[0].Visible())
	}
	return o
}

// begin prepares the n-th step, counted from 1.
func (o *optimizer) begin(rate float64, n int) {
	o.rate = float32(rate * math.Exp(*o.logFactor))
	o.correction1 = float32(1 / (1 - math.Pow(float64(o.β1), float64(n))))
	o.correction2 = float32(1 / (1 - math.Pow(float64(o.β2), float64(n))))
}

// turn replaces gradient by the direction of a step. It returns the length, the factor that turns the
// direction into the step. first is the index in Flat of the first parameter of gradient.
func (o *optimizer) turn(gradient []float32, first int) (length float32) {
	slot := func(i int) []float32 { return o.moments[i].Flat[first : first+len(gradient)] }
	switch o.kind {
	case Adam:
		mean, square := slot(0), slot(1)
		for k, g := range gradient {
			mean[k] += (1 - o.β1) * (g - mean[k])
			square[k] += (1 - o.β2) * (g*g - square[k])
			gradient[k] = o.correction1 * mean[k] / (float32(math.Sqrt(float64(o.correction2*square[k]))) + 1e-8)
		}
	case Momentum:
		velocity := slot(0)
		for k, g := range gradient {
			velocity[k] = o.β1*velocity[k] + g
			gradient[k] = velocity[k]
		}
	case CosineRate:
		if unit := first / o.moments[0].Hidden(); unit < len(o.sums) { // weights
			var sums [3]float64
			previous := slot(0)
			for k, g := range gradient {
				g, p := float64(g), float64(previous[k])
				sums[0] += g * p
				sums[1] += g * g
				sums[2] += p * p
			}
			copy(previous, gradient)
			o.sums[unit] = sums
		}
	}
	return o.rate
}

// mostFactor is the largest absolute value of the logarithm of CosineRate's factor.
var mostFactor = math.Log(1000)

func (o *optimizer) end() {
	var all [3]float64
	for _, sums := range o.sums {
		for k, s := range sums {
			all[k] += s
		}
	}
	if norms := math.Sqrt(all[1] * all[2]); norms > 0 { // 0 in the first step, which has no previous gradient
		*o.logFactor = max(-mostFactor, min(mostFactor, *o.logFactor+o.γ*all[0]/norms))
	}
}

package cpu

import (
	"math"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// ascend computes the gradient of the objectives from the residuals of the two
// passes, and then, if natural, applies the metric to it.
//
//	θ: (1/B) Σ ω̃ δ [1; parents]ᵀ                     wake (004, 2.27)
//	φ: (1/B) Σ (ω̃ − c) δ [1; parents]ᵀ               q-wake (004, 2.30)
//	φ: mean over dreams of δ [1; parents]ᵀ           sleep (004, 2.31)
//
// Reweighted wake-sleep halves both terms of φ (004, 2.32), rescaled sleep
// multiplies the last one. REINFORCE has log p(x,h) − log q(h|x) − b over S for
// ω̃ − c.
func (t *trainer) ascend(natural bool) {
	t.weightResiduals()
	var tasks []func()
	for i := range t.state.Parameters.Architecture.Units {
		for _, network := range []network{generative, recognition} {
			layer := network.layer(t.gradient, i)
			for first := 0; first < layer.Units; first += unitsAPiece {
				last := min(first+unitsAPiece, layer.Units)
				tasks = append(tasks, func() {
					rows := kernels.Rows(matrix(layer), first, last)
					t.accumulate(network, i, rows, first, last)
					if natural {
						t.metric.apply(network, i, rows, first)
					}
				})
			}
		}
	}
	parallel(len(tasks), func(i int) { tasks[i]() })
}

// precondition applies the metric to the whole gradient.
func (t *trainer) precondition() {
	for i := range t.state.Parameters.Architecture.Units {
		for _, network := range []network{generative, recognition} {
			if layer := network.layer(t.gradient, i); layer.Units > 0 {
				t.metric.apply(network, i, matrix(layer), 0)
			}
		}
	}
}

// weightResiduals multiplies each sample's residuals by its weight in the
// gradient.
func (t *trainer) weightResiduals() {
	algorithm, batch, samples := t.job.Algorithm, t.wake.data, t.wake.samples
	pieces := (batch + dataAPiece - 1) / dataAPiece
	parallel(pieces, func(piece int) {
		first := piece * dataAPiece
		for d := first; d < min(first+dataAPiece, batch); d++ {
			if algorithm.HasRecognitionWake() {
				t.weightRecognition(d)
			}
			for r := d * samples; r < (d+1)*samples; r++ {
				w := t.importance[r]
				for i := range t.wake.states {
					kernels.Scale(kernels.Row(t.wake.generative[i], r), w/float64(batch))
				}
				if t.dreams != nil {
					t.weightDream(r)
				}
			}
		}
	})
}

// weightRecognition multiplies the recognition residuals of the samples of datum
// d by their weights, and sums those of the first layer.
func (t *trainer) weightRecognition(d int) {
	a, samples := t.job.Algorithm, t.wake.samples
	first, last := d*samples, (d+1)*samples
	if a.Phases == engine.Reinforce {
		t.reinforce(d)
	} else {
		baseline := 0.0
		if a.Baseline {
			baseline = 1 / float64(samples)
		}
		for r := first; r < last; r++ {
			w := t.half() * (t.importance[r] - baseline) / float64(t.wake.data)
			for i := 1; i < len(t.wake.states); i++ {
				kernels.Scale(kernels.Row(t.wake.recognition[i], r), w)
			}
		}
	}
	sum := kernels.Row(t.datum, d)
	clear(sum)
	for r := first; r < last; r++ {
		for j, x := range kernels.Row(t.wake.recognition[1], r) {
			sum[j] += x
		}
	}
}

// half is the factor of both terms of φ.
func (t *trainer) half() float64 {
	if t.job.Algorithm.Phases == engine.ReweightedWakeSleep {
		return 0.5
	}
	return 1
}

// weightDream multiplies the residuals of dream r by its weight in the gradient.
func (t *trainer) weightDream(r int) {
	w := t.half() * t.job.Algorithm.SleepScale / float64(t.dreams.data)
	for i := 1; i < len(t.dreams.states); i++ {
		kernels.Scale(kernels.Row(t.dreams.recognition[i], r), w)
	}
}

// accumulate computes the gradient of units first to last−1 of a layer.
func (t *trainer) accumulate(n network, i int, gradient kernels.Matrix, first, last int) {
	if n == generative {
		residuals := kernels.Cols(t.wake.generative[i], first, last)
		if i == len(t.wake.states)-1 {
			columnSums(gradient, residuals)
			return
		}
		kernels.MulTN(gradient, 0, residuals, t.wake.states[i+1])
		return
	}
	if t.reinforcesParameters(i) {
		t.reinforceParameters(i, gradient, first)
		return
	}
	earlier := float32(0)
	if t.job.Algorithm.HasRecognitionWake() {
		residuals := kernels.Cols(t.wake.recognition[i], first, last)
		if i == 1 {
			// All samples of a datum have the same parents: rank B, not B·S.
			residuals = kernels.Rows(kernels.Cols(t.datum, first, last), 0, t.wake.data)
		}
		kernels.MulTN(gradient, 0, residuals, t.wake.states[i-1])
		earlier = 1
	}
	if t.dreams != nil {
		residuals := kernels.Cols(t.dreams.recognition[i], first, last)
		kernels.MulTN(gradient, earlier, residuals, t.dreams.states[i-1])
	}
}

func columnSums(gradient, residuals kernels.Matrix) {
	for j := range gradient.Rows {
		sum := 0.0
		for r := range residuals.Rows {
			sum += float64(residuals.Data[r*residuals.Stride+j])
		}
		gradient.Data[j*gradient.Stride] = float32(sum)
	}
}

// update moves the parameters from first to last−1 along the gradient, for the
// n-th time.
func (t *trainer) update(learningRate float64, first, last, n int) {
	p, g := t.state.Parameters.Flat[first:last], t.gradient.Flat[first:last]
	switch a := t.job.Algorithm; a.Optimizer {
	case engine.GradientDescent:
		rate := float32(learningRate)
		for k := range p {
			p[k] += rate * g[k]
		}
	case engine.Adam:
		// With bias correction, and ε outside the root (004, 6.3, corrected).
		rate := learningRate / (1 - math.Pow(a.AdamBeta1, float64(n)))
		correction := 1 / (1 - math.Pow(a.AdamBeta2, float64(n)))
		means, squares := t.state.Moments[0].Flat[first:last], t.state.Moments[1].Flat[first:last]
		b1, b2 := float32(a.AdamBeta1), float32(a.AdamBeta2)
		c1, c2 := float32(1-a.AdamBeta1), float32(1-a.AdamBeta2)
		for k := range p {
			means[k] = b1*means[k] + c1*g[k]
			squares[k] = b2*squares[k] + c2*g[k]*g[k]
			p[k] += float32(rate * float64(means[k]) / (math.Sqrt(correction*float64(squares[k])) + a.AdamEpsilon))
		}
	}
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// reinforce moves q along the gradient of the bound. If the baseline differs between units, the
// weights of a sample's residuals also differ between units.
type reinforce struct{ likelihood }

// reinforcement weighs the S samples of one datum as REINFORCE does.
type reinforcement struct {
	signal   []float64 // log p(x,h) − log q(h|x)
	constant []float64 // mean signal of the other samples; for a single sample, the learned mean, or 0
	squares  []float64 // squares of ∂ log q(h|x), the weights of the optimal baseline
	baseline []float64 // b
	scale    float64   // 1/(B·S)

	sums, totals []float64 // scratch for othersMean

	learned []float32 // outputs of the network of LearnedBaseline
}

func (o reinforce) newReinforcement(d int) *reinforcement {
	s := o.wake.samples
	numbers := make([]float64, 6*s)
	part := func(k int) []float64 { return numbers[k*s : (k+1)*s] }
	f := &reinforcement{part(0), part(1), part(2), part(3), 1 / float64(o.wake.data*s), part(4), part(5), nil}
	for k := range f.signal {
		f.signal[k] = o.wake.logP[d*s+k] - o.wake.logQ[d*s+k]
		f.squares[k] = 1
	}
	f.othersMean(f.constant)
	if o.baseline.Rows > 0 {
		f.learned = o.predict(d)
		if s == 1 {
			f.constant[0] = float64(f.learned[0])
		}
	}
	return f
}

// weight returns the weight of sample k in the gradient.
func (f *reinforcement) weight(k int) float64 { return (f.signal[k] - f.baseline[k]) * f.scale }

// optimal sets the baseline to the optimal baseline for the current squares.
func (f *reinforcement) optimal() {
	copy(f.baseline, f.constant)
	f.othersMean(f.baseline)
}

// othersMean sets means[k] to the mean signal of the samples other than k, weighted by their
// squares. If all these squares are 0, it does not change means[k]. It adds the sums before and
// after k, because a difference of nearly equal sums would be inaccurate.
func (f *reinforcement) othersMean(means []float64) {
	sum, total := 0.0, 0.0
	for k := range means {
		f.sums[k], f.totals[k] = sum, total
		sum += float64(f.squares[k] * f.signal[k])
		total += f.squares[k]
	}
	sum, total = 0, 0
	for k := len(means) - 1; k >= 0; k-- {
		if others := f.totals[k] + total; others != 0 {
			means[k] = (f.sums[k] + sum) / others
		}
		sum += float64(f.squares[k] * f.signal[k])
		total += f.squares[k]
	}
}

// weighResiduals leaves the residuals unweighted in layers where the weights differ between the
// parameters of a unit. accumulate handles these layers.
func (o reinforce) weighResiduals(d int) {
	f := o.newReinforcement(d)
	first, last := d*o.wake.samples, (d+1)*o.wake.samples
	if o.algorithm.ReinforceBaseline == engine.ConstantBaseline {
		copy(f.baseline, f.constant)
	}
	output := 1 // of the network of LearnedBaseline
	for i := 1; i < len(o.wake.states); i++ {
		weighted := kernels.Rows(o.wake.weighted[recognition][i], first, last)
		for k := range weighted.Rows {
			copy(kernels.Row(weighted, k), kernels.Row(o.wake.residuals[recognition][i], first+k))
		}
		switch {
		case o.algorithm.ReinforceBaseline == engine.LearnedBaseline:
			for j := range weighted.Cols {
				apart := float64(f.learned[output]) / max(float64(f.learned[output+1]), engine.LeastDenominator)
				for k, m := range f.constant {
					f.baseline[k] = m + apart
					kernels.Row(weighted, k)[j] *= float32(f.weight(k))
				}
				output += 2
			}
		case o.algorithm.ReinforceBaseline != engine.OptimalBaseline:
			for k := range weighted.Rows {
				kernels.Scale(kernels.Row(weighted, k), f.weight(k))
			}
		case !o.ofParameters(i):
			f.weighUnits(weighted)
		}
	}
}

// weighUnits multiplies the residuals δ of a layer by the samples' weights, with one optimal
// baseline per unit. This baseline is optimal for all parameters of the unit if the squares of the
// parents are the same in all samples, since ∂ log q is δ times the parents.
func (f *reinforcement) weighUnits(residuals kernels.Matrix) {
	for j := range residuals.Cols {
		for k := range f.squares {
			δ := float64(kernels.Row(residuals, k)[j])
			f.squares[k] = δ * δ
		}
		f.optimal()
		for k := range f.squares {
			kernels.Row(residuals, k)[j] *= float32(f.weight(k))
		}
	}
}

// ofParameters reports whether layer i of q has one optimal baseline per parameter, because the
// squares of the parents differ between samples, or because positions share their parameters.
func (o reinforce) ofParameters(i int) bool {
	architecture := o.weights.architecture
	if o.algorithm.ReinforceBaseline != engine.OptimalBaseline {
		return false
	}
	return recognition.Connection(architecture, i).Shared() ||
		i > 1 && (!architecture.Binary(i-1) || architecture.Off(i-1) != -1)
}

// accumulate computes the gradient of a tile of q with one optimal baseline per parameter.
func (o reinforce) accumulate(tile tile, gradient kernels.Matrix) bool {
	i, samples, width := tile.layer, o.wake.samples, gradient.Cols
	if tile.network != recognition || !o.ofParameters(i) {
		return false
	}
	scores := make([]kernels.Matrix, samples) // ∂ log q per sample
	for s := range scores {
		scores[s] = kernels.NewMatrix(gradient.Rows, width)
	}
	sums := make([]float64, gradient.Rows*width)
	for d := range o.wake.data {
		f := o.newReinforcement(d)
		for s, score := range scores {
			r := d*samples + s
			parents := r
			if i == 1 {
				parents = d
			}
			o.weights.connections[recognition][i].accumulate(score, 0, tile.residuals(kernels.Rows(o.wake.residuals[recognition][i], r, r+1)),
				kernels.Rows(o.wake.inputs(recognition, i), parents, parents+1))
		}
		for k := range sums {
			for s, score := range scores {
				g := float64(score.Data[k])
				f.squares[s] = g * g
			}
			f.optimal()
			for s, score := range scores {
				sums[k] += float64(f.weight(s) * float64(score.Data[k]))
			}
		}
	}
	for j := range gradient.Rows {
		for k := range width {
			kernels.Row(gradient, j)[k] = float32(sums[j*width+k])
		}
	}
	return true
}

// predict returns the outputs of the network of LearnedBaseline for datum d.
func (o reinforce) predict(d int) []float32 {
	outputs := make([]float32, o.baseline.Cols)
	for i, x := range kernels.Row(o.wake.seen, d) {
		kernels.AddMultiple(outputs, x, kernels.Row(o.baseline, i))
	}
	return outputs
}

// learnBaseline moves the network of LearnedBaseline towards the numbers that the samples of the step give, after
// their gradient has used it. Since the squared length of its inputs divides a move (normalised least mean
// squares), no rate has to suit their scale.
func (o reinforce) learnBaseline() {
	moves := make([][]float32, o.wake.data)
	parallel(len(moves), func(d int) {
		f := o.newReinforcement(d)
		length := 0.0
		for _, x := range kernels.Row(o.wake.seen, d) {
			length += float64(x) * float64(x)
		}
		move := func(output int, target func(k int) float64) {
			mean := 0.0
			for k := range f.signal {
				mean += target(k) / float64(len(f.signal))
			}
			f.learned[output] = float32(engine.BaselineRate * (mean - float64(f.learned[output])) / length / float64(len(moves)))
		}
		move(0, func(k int) float64 { return f.signal[k] })
		output := 1
		for _, residuals := range o.wake.residuals[recognition][1:] {
			for j := range residuals.Cols {
				square := func(k int) float64 {
					δ := float64(kernels.Row(residuals, d*o.wake.samples+k)[j])
					return δ * δ
				}
				move(output, func(k int) float64 { return (f.signal[k] - f.constant[k]) * square(k) })
				move(output+1, square)
				output += 2
			}
		}
		moves[d] = f.learned
	})
	parallel(o.baseline.Rows, func(i int) {
		for d, move := range moves {
			kernels.AddMultiple(kernels.Row(o.baseline, i), kernels.Row(o.wake.seen, d)[i], move)
		}
	})
}

package cpu

import (
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// reinforcement weighs the S samples of one datum as REINFORCE does.
type reinforcement struct {
	signal   []float64 // log p(x,h) − log q(h|x)
	constant []float64 // mean of the others' signal; 0 for a single sample
	squares  []float64 // of ∂ log q(h|x), by which the optimal baseline weighs
	baseline []float64 // b
	scale    float64   // 1/(B·S)

	sums, totals []float64 // scratch of othersMean
}

func (t *trainer) newReinforcement(d int) *reinforcement {
	s := t.wake.samples
	numbers := make([]float64, 6*s)
	part := func(k int) []float64 { return numbers[k*s : (k+1)*s] }
	f := &reinforcement{part(0), part(1), part(2), part(3), 1 / float64(t.wake.data*s), part(4), part(5)}
	for k := range f.signal {
		f.signal[k] = t.wake.logP[d*s+k] - t.wake.logQ[d*s+k]
		f.squares[k] = 1
	}
	f.othersMean(f.constant)
	return f
}

// weight is what sample k counts in the gradient.
func (f *reinforcement) weight(k int) float64 { return (f.signal[k] - f.baseline[k]) * f.scale }

// optimal makes the baseline the optimal one for the squares.
func (f *reinforcement) optimal() {
	copy(f.baseline, f.constant)
	f.othersMean(f.baseline)
}

// othersMean writes for each sample the mean of the others' signal, weighted by
// their squares, and leaves what is there where these are all 0. Sums from both
// sides take no difference of numbers that may be nearly equal.
func (f *reinforcement) othersMean(means []float64) {
	sum, total := 0.0, 0.0
	for k := range means {
		f.sums[k], f.totals[k] = sum, total
		sum += f.squares[k] * f.signal[k]
		total += f.squares[k]
	}
	sum, total = 0, 0
	for k := len(means) - 1; k >= 0; k-- {
		if others := f.totals[k] + total; others != 0 {
			means[k] = (f.sums[k] + sum) / others
		}
		sum += f.squares[k] * f.signal[k]
		total += f.squares[k]
	}
}

// reinforce multiplies the recognition residuals of datum d by their weights,
// unless these differ between the parameters of a unit.
func (t *trainer) reinforce(d int) {
	f := t.newReinforcement(d)
	first, last := d*t.wake.samples, (d+1)*t.wake.samples
	if t.job.Algorithm.ReinforceBaseline == engine.ConstantBaseline {
		copy(f.baseline, f.constant)
	}
	for i := 1; i < len(t.wake.states); i++ {
		residuals := kernels.Rows(t.wake.recognition[i], first, last)
		switch {
		case t.job.Algorithm.ReinforceBaseline != engine.OptimalBaseline:
			for k := range residuals.Rows {
				kernels.Scale(kernels.Row(residuals, k), f.weight(k))
			}
		case !t.reinforcesParameters(i):
			f.reinforceUnits(residuals)
		}
	}
}

// reinforceUnits multiplies the residuals δ of a layer by weights with an
// optimal baseline a unit. It is that of all of the unit's parameters where the
// squares of the parents are the same in all samples: ∂ log q is δ times them.
func (f *reinforcement) reinforceUnits(residuals kernels.Matrix) {
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

// reinforcesParameters says whether layer i of q has an optimal baseline a
// parameter: the squares of the parents, which are samples, differ, or positions
// share their parameters.
func (t *trainer) reinforcesParameters(i int) bool {
	a, architecture := t.job.Algorithm, t.weights.architecture
	if !a.Reinforce || a.ReinforceBaseline != engine.OptimalBaseline {
		return false
	}
	return architecture.RecognitionConnection(i).Shared() ||
		i > 1 && (architecture.Coding == engine.ZeroOne || architecture.Kind(i-1) == engine.Gaussian)
}

// reinforceParameters computes the gradient of a tile of q with an optimal
// baseline a parameter.
func (t *trainer) reinforceParameters(tile tile, gradient kernels.Matrix) {
	i, samples, width := tile.layer, t.wake.samples, gradient.Cols
	scores := make([]kernels.Matrix, samples) // ∂ log q of each sample
	for s := range scores {
		scores[s] = kernels.NewMatrix(gradient.Rows, width)
	}
	sums := make([]float64, gradient.Rows*width)
	for d := range t.wake.data {
		f := t.newReinforcement(d)
		for s, score := range scores {
			r := d*samples + s
			parents := r
			if i == 1 {
				parents = d
			}
			t.weights.connections[recognition][i].accumulate(score, 0, tile.residuals(kernels.Rows(t.wake.recognition[i], r, r+1)),
				kernels.Rows(t.wake.states[i-1], parents, parents+1))
		}
		for k := range sums {
			for s, score := range scores {
				g := float64(score.Data[k])
				f.squares[s] = g * g
			}
			f.optimal()
			for s, score := range scores {
				sums[k] += f.weight(s) * float64(score.Data[k])
			}
		}
	}
	for j := range gradient.Rows {
		for k := range width {
			kernels.Row(gradient, j)[k] = float32(sums[j*width+k])
		}
	}
}

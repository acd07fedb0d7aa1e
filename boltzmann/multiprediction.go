package boltzmann

import (
	"context"
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Steps of mp follow the gradient of log q(v_M|v_−M), where M is a random half of the visible units, drawn anew for
// each row, and q is what k sweeps of mean field given the other half predict (Goodfellow, Mirza, Courville and Bengio
// 2013). The unknown units, M and the even hidden layers, begin at σ(b), and each sweep updates
//
//	y_s = σ(c + Wᵀx_{s−1}),   x_s = σ(b + W y_s) for unknown units, and the data for the others,
//
// where x are the units of the even layers and y the units of the odd ones. Back-propagation through the sweeps gives
// the derivatives δ with respect to the inputs of all these means, and so
//
//	∇W = Σ_s x_{s−1} δy_sᵀ + δx_s y_sᵀ,   ∇b = Σ_s δx_s,   ∇c = Σ_s δy_s.
//
// The rows of the chains hold these matrices in blocks of one row per datum: in left x_0 … x_{k−1}, δx_1 … δx_k
// and δx_0, and in right −δy_1 … −δy_k, −y_1 … −y_k and 0. So leftᵀ·right is −n∇W.

// sweep updates the negated means of the odd layers given x, and then the means next of the even layers, of which
// those that are not unknown have the values of v.
func (w *products) sweep(next, y, x, v, unknown kernels.Matrix) {
	w.up(y, x)
	kernels.MulPacked(next, negatedMeans(y), w.packed)
	for r := range next.Rows {
		row := kernels.Row(next, r)
		for i, b := range w.VisibleBiases {
			row[i] = b - row[i]
		}
	}
	fill(next, v, unknown)
}

// negatedMeans replaces inputs by the negated means of Bernoulli units, and returns them.
func negatedMeans(inputs kernels.Matrix) kernels.Matrix {
	for r := range inputs.Rows {
		kernels.NegateMeans(kernels.Row(inputs, r))
	}
	return inputs
}

// fill replaces inputs by the means of unknown units and the values v of the others.
func fill(inputs, v, unknown kernels.Matrix) {
	negatedMeans(inputs)
	for r := range inputs.Rows {
		row, values, are := kernels.Row(inputs, r), kernels.Row(v, r), kernels.Row(unknown, r)
		for i, u := range are {
			row[i] = values[i] - u*(values[i]+row[i])
		}
	}
}

// predict fills the blocks for rows v of a minibatch of n rows, the first of which has the number first.
func (t *trainer) predict(n, first int, v kernels.Matrix) {
	k, w, observed := t.method.Steps, t.products, t.parameters.observed()
	left := func(s int) kernels.Matrix { return kernels.Rows(t.chains.visible, s*n+first, s*n+first+v.Rows) }
	right := func(s int) kernels.Matrix { return kernels.Rows(t.chains.hiddenInputs, s*n+first, s*n+first+v.Rows) }
	unknown := kernels.NewMatrix(v.Rows, v.Cols)
	at := place{key: t.key, purpose: philox.Start, step: uint32(t.step), datum: uint32(first)}
	var words [4]uint32
	for r := range v.Rows {
		row := kernels.Row(unknown, r)
		for i := range row {
			if at.sample = uint32(i / 128); i%128 == 0 {
				words = at.key.Block(at.counter(r))
			}
			if i >= observed || words[i/32%4]>>(i%32)&1 == 1 {
				row[i] = 1
			}
		}
		copy(kernels.Row(left(0), r), w.VisibleBiases)
		clear(kernels.Row(right(2*k), r))
	}
	fill(left(0), v, unknown)
	for s := range k {
		next := left(2*k - 1)
		if s+1 < k {
			next = left(s + 1)
		}
		w.sweep(next, right(k+s), left(s), v, unknown)
	}
	for r := range v.Rows {
		row := kernels.Row(left(2*k-1), r)
		for i, mean := range row[:observed] {
			row[i] = kernels.Row(v, r)[i] - mean // 0 for known units
		}
		clear(row[observed:])
	}
	for s := k - 1; s >= 0; s-- {
		odd, before := right(s), left(2*k)
		if s > 0 {
			before = left(k + s - 1)
		}
		for r := range v.Rows {
			clear(kernels.Row(odd, r))
		}
		kernels.AddMulNN(odd, left(k+s), w.rising)
		for r := range v.Rows {
			row := kernels.Row(odd, r)
			for j, y := range kernels.Row(right(k+s), r) {
				row[j] *= y * (1 + y)
			}
		}
		kernels.MulPacked(before, odd, w.packed)
		for r := range v.Rows {
			row, are := kernels.Row(before, r), kernels.Row(unknown, r)
			for i, x := range kernels.Row(left(s), r) {
				row[i] *= -x * (1 - x) * are[i]
			}
		}
	}
}

// completePredictions computes the gradients of the biases from the blocks of a minibatch of n rows, whose hidden means
// given complete rows do not count.
func (t *trainer) completePredictions(n int) {
	k := t.method.Steps
	_, hidden := t.data(n)
	for r := range n {
		clear(kernels.Row(hidden, r))
	}
	mean(t.gradient.VisibleBiases, kernels.Rows(t.chains.visible, k*n, (2*k+1)*n), float32(k+1))
	mean(t.gradient.HiddenBiases, kernels.Rows(t.chains.hiddenInputs, 0, k*n), -float32(k))
}

// PredictMissing returns the means of the visible units that the mask hides, by a number of sweeps of mean field given
// the other units, in rows of all visible units. Machines trained by MP predict best by as many sweeps as in training;
// for others, more sweeps come closer to p. It refuses other machines than deep ones of Bernoulli units.
func (m *Model) PredictMissing(ctx context.Context, rows dataset.Split, mask dataset.Mask, sweeps int) ([][]float64, error) {
	p := m.parameters
	switch {
	case p.Layers == nil || m.below != nil || !p.Spec.plain():
		return nil, errors.New("it is not a deep machine of Bernoulli units: use Inpaint")
	case sweeps < 1 || len(mask) != p.observed():
		return nil, fmt.Errorf("%d sweeps of mean field and a mask of %d units: use at least 1 sweep, and a mask of %d units", sweeps, len(mask), p.observed())
	}
	v, err := m.observe(rows)
	if err != nil {
		return nil, err
	}
	w, means := newProducts(p), make([][]float64, v.Rows)
	inParts(v.Rows, func(first, last int) {
		v := kernels.Rows(v, first, last)
		x, y, unknown := kernels.NewMatrix(v.Rows, v.Cols), kernels.NewMatrix(v.Rows, p.Hidden()), kernels.NewMatrix(v.Rows, v.Cols)
		for r := range v.Rows {
			for i := range v.Cols {
				if i >= len(mask) || mask[i] {
					kernels.Row(unknown, r)[i] = 1
				}
			}
			copy(kernels.Row(x, r), p.VisibleBiases)
		}
		fill(x, v, unknown)
		for s := 0; s < sweeps && ctx.Err() == nil; s++ {
			w.sweep(x, y, x, v, unknown)
		}
		for r := range v.Rows {
			means[first+r] = kernels.Doubles(kernels.Row(x, r)[:len(mask)])
		}
	})
	return means, ctx.Err()
}

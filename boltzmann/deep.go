package boltzmann

import (
	"context"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// A deep Boltzmann machine (Salakhutdinov and Hinton 2009; Goodfellow et al. 2016, 20.4) joins
// each layer to its neighbours, of the energy
//
//	E(h⁰,…,h^L) = −Σ_l a^lᵀh^l − Σ_l h^{l−1}ᵀW^l h^l,   h⁰ = v.
//
// Given the odd layers, the units of the even ones are independent, and the other way
// round: it is a restricted machine between them, of which v alone is observed, and whose
// weights between layers that are no neighbours are 0. So chains, annealing and
// enumeration are those of restricted machines. Only what is given v is not: p(h|v) does not
// factorise, and is approximated by mean field.

// sides are the numbers of units of the even layers and of the odd ones.
func sides(layers []int) (even, odd int) {
	for l, units := range layers {
		if l%2 == 0 {
			even += units
		} else {
			odd += units
		}
	}
	return even, odd
}

// observed is the number of visible units that the values of a row are of, the first ones.
func (p *Parameters) observed() int {
	if p.Layers == nil {
		return p.Visible() - p.Spec.Classes
	}
	return p.Layers[0]
}

// units are the first unit of a layer among those of its side, and the one behind its last.
func (p *Parameters) units(layer int) (first, last int) {
	for l := layer % 2; l < layer; l += 2 {
		first += p.Layers[l]
	}
	return first, first + p.Layers[layer]
}

// unjoin writes 0 for the weights of unit i of the even layers that join no neighbours.
func (p *Parameters) unjoin(i int, weights []float32) {
	if p.Layers == nil {
		return
	}
	layer := 0
	for _, last := p.units(layer); i >= last; _, last = p.units(layer) {
		layer += 2
	}
	first, last := len(weights), 0 // of its neighbours
	for _, l := range []int{layer - 1, layer + 1} {
		if l > 0 && l < len(p.Layers) {
			from, to := p.units(l)
			first, last = min(first, from), max(last, to)
		}
	}
	clear(weights[:first])
	clear(weights[last:])
}

// disjoint returns a weight between layers that are not neighbours, and is not 0. It returns 0 if
// there is none.
func (p *Parameters) disjoint() float32 {
	if p.Layers == nil {
		return 0
	}
	joined := make([]float32, p.Hidden())
	for i := range p.Visible() {
		row := kernels.Row(p.Weights, i)
		copy(joined, row)
		p.unjoin(i, joined)
		for j, w := range row {
			if w != joined[j] {
				return w
			}
		}
	}
	return 0
}

// latentEntropy is that of the even hidden layers whose means stand in x.
func (p *Parameters) latentEntropy(x []float32) (sum float64) {
	for _, mean := range x[p.observed():] {
		sum += entropy(float64(mean))
	}
	return sum
}

// entropy is that of a Bernoulli variable of a mean, in nats.
func entropy(mean float64) float64 {
	if mean <= 0 || mean >= 1 {
		return 0
	}
	return -mean*math.Log(mean) - (1-mean)*math.Log1p(-mean)
}

// A settling says when mean field ends: after a number of sweeps, and for a row once none of
// its means has changed by more than a tolerance.
type settling struct {
	sweeps    int
	tolerance float32
}

// toTheEnd is that of evaluations.
var toTheEnd = settling{sweeps: 500, tolerance: 1e-5}

// meanField fills in the means μ of the even hidden layers of rows x, whose first units are
// observed, and writes the inputs of the odd layers given x into y: those of the factorised
// distribution that, where it has settled, is nearest to p(h|v) by the divergence KL(q‖p), of all
// near it. It begins with a pass from v upwards, for which weights from below are doubled
// where there are others above, and lets the even and the odd layers follow each other in
// turn: each of these steps raises the bound Σ_h q(h) (−E(v,h) − log q(h)) − log Z ≤ log p(v).
// What becomes of a row does not depend on others.
func (w *products) meanField(x, y kernels.Matrix, s settling) {
	observed, top := w.observed(), len(w.Layers)-1
	first := observed / kernels.PackedRows * kernels.PackedRows // of the packed rows with hidden units
	packed, weights := w.packed.From(first), kernels.Rows(w.rising, observed, w.Visible())
	even, odd := kernels.NewMatrix(x.Rows, w.Visible()-first), kernels.NewMatrix(x.Rows, w.Hidden()) // means, negated
	given := kernels.NewMatrix(x.Rows, w.Hidden())                                                   // inputs of odd layers from v
	latent, off := kernels.Cols(x, observed, w.Visible()), make([]float32, max(w.Visible(), w.Hidden()))
	for r := range x.Rows {
		clear(kernels.Row(latent, r))
		copy(kernels.Row(given, r), w.HiddenBiases)
	}
	kernels.AddMulNN(given, kernels.Cols(x, 0, observed), kernels.Rows(w.rising, 0, observed))
	up := func() {
		for r := range y.Rows {
			copy(kernels.Row(y, r), kernels.Row(given, r))
		}
		kernels.AddMulNN(y, latent, weights)
	}
	// negated replaces inputs without biases, times a factor, by means.
	negated := func(means, biases []float32, times float32) {
		for k, input := range means {
			means[k] = biases[k] + times*input
		}
		turnOff(means, off[:len(means)])
	}

	up()
	for l := 1; l <= top; l++ {
		from, to := w.units(l)
		times := float32(2)
		if l == top {
			times = 1
		}
		for r := range x.Rows {
			if l%2 == 1 {
				means, biases := kernels.Row(odd, r)[from:to], w.HiddenBiases[from:to]
				for k, input := range kernels.Row(y, r)[from:to] {
					means[k] = input - biases[k]
				}
				negated(means, biases, times)
				continue
			}
			means := kernels.Row(even, r)[from-first : to-first]
			negated(means, w.VisibleBiases[from:to], -times)
			scaled(kernels.Row(x, r)[from:to], -1, means)
		}
		if l%2 == 0 {
			up()
		} else if l < top {
			kernels.MulPacked(even, odd, packed)
		}
	}

	settled, left := make([]bool, x.Rows), x.Rows
	for sweep := 0; sweep < s.sweeps && left > 0; sweep++ {
		for r := range x.Rows {
			copy(kernels.Row(odd, r), kernels.Row(y, r))
			turnOff(kernels.Row(odd, r), off[:odd.Cols])
		}
		kernels.MulPacked(even, odd, packed)
		for r := range x.Rows {
			if settled[r] {
				continue
			}
			means := kernels.Row(even, r)[observed-first:]
			negated(means, w.VisibleBiases[observed:], -1)
			most := float32(0)
			for k, before := range kernels.Row(latent, r) {
				most = max(most, before+means[k], -before-means[k])
			}
			scaled(kernels.Row(latent, r), -1, means)
			if most <= s.tolerance {
				settled[r] = true
				left--
			}
		}
		up()
	}
}

// posterior is the restricted machine between the even and the odd hidden layers given v:
// the distribution p(h|v), whose log Z is −F(v) but for the visible units' own bᵀv.
func (p *Parameters) posterior(v []float32) *Parameters {
	observed := p.observed()
	given := MachineSpec{Hidden: p.Hidden()}.parameters(p.Visible() - observed)
	copy(given.Weights.Data, p.Weights.Data[observed*p.Hidden():])
	copy(given.VisibleBiases, p.VisibleBiases[observed:])
	copy(given.HiddenBiases, p.HiddenBiases)
	for i, x := range v[:observed] {
		kernels.AddMultiple(given.HiddenBiases, x, kernels.Row(p.Weights, i))
	}
	return given
}

// posteriorTerms is the number of factors of which F(v) of a deep machine sums products, 0 of
// a restricted one, whose hidden units are independent given v.
func (p *Parameters) posteriorTerms() float64 {
	if p.Layers == nil {
		return 0
	}
	few := min(p.Visible()-p.observed(), p.Hidden())
	return math.Ldexp(float64(p.Visible()-p.observed()+p.Hidden()-few), few)
}

// exactFreeEnergies are F(v) of each row of states, of a deep machine by enumeration of its
// hidden units.
func (p *Parameters) exactFreeEnergies(ctx context.Context, states kernels.Matrix) ([]float64, error) {
	if p.Layers == nil {
		return p.freeEnergies(ctx, states)
	}
	energies := make([]float64, states.Rows)
	for r := range energies {
		v := kernels.Row(states, r)[:p.observed()]
		logZ, err := p.posterior(v).logZ(ctx)
		if err != nil {
			return nil, err
		}
		energies[r] = -logZ
		for i, x := range v {
			energies[r] -= float64(x) * float64(p.VisibleBiases[i])
		}
	}
	return energies, nil
}

// latentRows is the number of rows from which the means of hidden units are found.
const latentRows = 2000

// latentMeans are the means over rows of the units beside v, on the side of the visible units:
// of even hidden layers by mean field, of a belief network all, as they are drawn.
func (m *Model) latentMeans(ctx context.Context, rows dataset.Split) ([]float64, error) {
	first := m.parameters.observed()
	switch {
	case m.below != nil:
		first = 0
	case m.parameters.Layers == nil:
		return nil, nil
	}
	states, err := m.states(ctx, rows)
	if err != nil {
		return nil, err
	}
	var means []float64
	for i := first; i < states.Cols; i++ {
		sum := 0.0
		for r := range states.Rows {
			sum += float64(kernels.Row(states, r)[i])
		}
		means = append(means, sum/float64(states.Rows))
	}
	return means, nil
}

// settle fills in the means of even hidden layers of rows of states, where there are any.
func (p *Parameters) settle(ctx context.Context, states kernels.Matrix) error {
	if p.Layers == nil {
		return nil
	}
	w := newProducts(p)
	work.Parts(states.Rows, rowsAPart, func(first, last int) {
		if ctx.Err() == nil {
			w.meanField(kernels.Rows(states, first, last), kernels.NewMatrix(last-first, p.Hidden()), toTheEnd)
		}
	})
	return ctx.Err()
}

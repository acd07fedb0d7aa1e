package boltzmann

import (
	"context"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// A deep Boltzmann machine (Salakhutdinov and Hinton 2009; Goodfellow et al. 2016, 20.4) joins each layer to
// its neighbours. Its energy is
//
//	E(h⁰,…,h^L) = −Σ_l a^lᵀh^l − Σ_l h^{l−1}ᵀW^l h^l,   h⁰ = v.
//
// Given the odd layers, the units of the even layers are independent, and vice versa. So the deep machine is a
// restricted machine between even and odd layers, in which only v is observed. Weights between layers that are not
// neighbours are 0. Chains, annealing and enumeration work as for restricted machines. Only p(h|v) differs: it does
// not factorise, and mean field approximates it.

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

// observed returns the number of visible units that hold the values of a row. These units come first.
func (p *Parameters) observed() int {
	if p.Layers == nil {
		return p.Visible() - p.Spec.Classes
	}
	return p.Layers[0]
}

// layers returns the numbers of units of v and of each hidden layer.
func (p *Parameters) layers() []int { return p.Spec.layers(p.observed()) }

// units returns the range of a layer's units among all units of its side, even or odd. The range ends before last.
func (p *Parameters) units(layer int) (first, last int) {
	layers := p.layers()
	for l := layer % 2; l < layer; l += 2 {
		first += layers[l]
	}
	return first, first + layers[layer]
}

// unjoin clears some weights of unit i of the even layers. weights holds one weight for each unit of the odd layers.
// A weight becomes 0 if its two units are not in neighbouring layers, or if they belong to different pathways.
func (p *Parameters) unjoin(i int, weights []float32) {
	if !p.sparse() {
		return
	}
	layer := 0
	for _, last := p.units(layer); i >= last; _, last = p.units(layer) {
		layer += 2
	}
	first, last := len(weights), 0 // the range of units in neighbouring layers
	for _, l := range []int{layer - 1, layer + 1} {
		if l > 0 && l < len(p.layers()) {
			from, to := p.units(l)
			first, last = min(first, from), max(last, to)
			if beside := p.Spec.Beside; max(l, layer) < len(beside) {
				_, end := p.units(layer)
				if i < end-beside[layer] {
					clear(weights[to-beside[l] : to])
				} else {
					clear(weights[from : to-beside[l]])
				}
			}
		}
	}
	clear(weights[:first])
	clear(weights[last:])
}

// sparse reports whether some weights are always 0.
func (p *Parameters) sparse() bool { return p.Layers != nil || len(p.Spec.Beside) > 0 }

// disjoint returns a weight that should be 0 but is not: a weight between layers that are not neighbours, or between
// two pathways. It returns 0 if all these weights are 0.
func (p *Parameters) disjoint() float32 {
	if !p.sparse() {
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

// latentEntropy returns the entropy of the even hidden layers, in nats. Their means follow the observed units in x.
func (p *Parameters) latentEntropy(x []float32) (sum float64) {
	for _, mean := range x[p.observed():] {
		sum += entropy(float64(mean))
	}
	return sum
}

// entropy returns the entropy of a Bernoulli variable with a mean, in nats.
func entropy(mean float64) float64 {
	if mean <= 0 || mean >= 1 {
		return 0
	}
	return -mean*math.Log(mean) - (1-mean)*math.Log1p(-mean)
}

// settling describes when mean field ends: after a number of sweeps, and earlier for a row if none of its means
// changed by more than the tolerance in the last sweep.
type settling struct {
	sweeps    int
	tolerance float32
}

// toTheEnd is the settling of mean field in evaluations.
var toTheEnd = settling{sweeps: 500, tolerance: 1e-5}

// meanField writes the means μ of the even hidden layers into the rows of x, after the observed units, which stay.
// It writes the inputs of the odd layers given x into y. Once settled, x and y describe the factorised distribution
// q that is locally nearest to p(h|v) in KL(q‖p).
//
// It begins with a pass from v upwards, which doubles the weights from below for each layer that has a layer
// above. Then it alternates between updating all odd layers and updating all even ones. Each update raises the bound
// Σ_h q(h) (−E(v,h) − log q(h)) − log Z ≤ log p(v). Rows do not affect each other.
func (w *products) meanField(x, y kernels.Matrix, s settling) {
	observed, top := w.observed(), len(w.Layers)-1
	first := observed / kernels.PackedRows * kernels.PackedRows // the first packed row that can have hidden units
	packed, weights := w.packed.From(first), kernels.Rows(w.rising, observed, w.Visible())
	even, odd := kernels.NewMatrix(x.Rows, w.Visible()-first), kernels.NewMatrix(x.Rows, w.Hidden()) // means, negated
	given := kernels.NewMatrix(x.Rows, w.Hidden())                                                   // inputs of odd layers from v
	latent, off := kernels.Cols(x, observed, w.Visible()), make([]float32, max(w.Visible(), w.Hidden()))
	for r := range x.Rows {
		clear(kernels.Row(latent, r))
	}
	kernels.Affine(given, kernels.Cols(x, 0, observed), kernels.Rows(w.rising, 0, observed), w.HiddenBiases)
	up := func() {
		for r := range y.Rows {
			copy(kernels.Row(y, r), kernels.Row(given, r))
		}
		kernels.AddMulNN(y, latent, weights)
	}
	// negated replaces inputs without biases by the negated means of units with the inputs biases + times·inputs.
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

// posterior returns the restricted machine between the even and the odd hidden layers given v. Its distribution
// is p(h|v), and its log Z is −F(v) − bᵀv, where b are the biases of v.
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

// posteriorTerms returns the cost of an exact F(v) of a deep machine, in factors multiplied. It returns 0 for a
// restricted machine, whose hidden units are independent given v.
func (p *Parameters) posteriorTerms() float64 {
	if p.Layers == nil {
		return 0
	}
	few := min(p.Visible()-p.observed(), p.Hidden())
	return math.Ldexp(float64(p.Visible()-p.observed()+p.Hidden()-few), few)
}

// exactFreeEnergies returns F(v) of each row of states, in nats. In a deep machine it enumerates the states of the
// even or of the odd hidden layers, whichever are fewer.
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

// latentRows is the number of rows from which the means of hidden units are estimated.
const latentRows = 2000

// latentMeans returns the means over rows of the units on the visible side that are not in v. In a deep machine
// these are the even hidden layers, whose means given a row come from mean field. In a belief network they are all
// units of the visible side, drawn given a row. A restricted machine has none.
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

// settle writes the means of the even hidden layers, if there are any, into rows of states.
func (p *Parameters) settle(ctx context.Context, states kernels.Matrix) error {
	if p.Layers == nil {
		return nil
	}
	w := newProducts(p)
	inParts(states.Rows, func(first, last int) {
		if ctx.Err() == nil {
			w.meanField(kernels.Rows(states, first, last), kernels.NewMatrix(last-first, p.Hidden()), toTheEnd)
		}
	})
	return ctx.Err()
}

package boltzmann

import (
	"context"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Model is a restricted or deep Boltzmann machine with its parameters. Its methods do not change it. Methods
// that draw random numbers draw the same ones each time; WithSeed returns a model that draws different ones.
// Methods that take a dataset.Split binarise its rows as in training, whatever the binarisation of their set.
type Model struct {
	shape      dataset.Shape // of the visible units
	parameters *Parameters
	encoding   encoding       // how rows become visible units
	below      stack          // in a belief network, the machines that generate v from the visible units of this machine
	seed       uint64         // for draws
	rungs      []rung         // ladder of a ptt run
	chains     kernels.Matrix // hidden states of the run's persistent chains
}

// WithSeed returns the same model with another seed for its draws.
func (m *Model) WithSeed(seed uint64) *Model {
	c := *m
	c.seed = seed
	return &c
}

// String names the number of units in each layer, the visible layer first, and the number of parameters.
func (m *Model) String() string {
	p := m.parameters
	layers := p.Layers
	if layers == nil {
		layers = []int{p.observed(), p.Hidden()}
	}
	text := fmt.Sprintf("%s, with %d parameters", described(layers, p.Spec.Visible, p.Spec.HiddenUnits, p.Spec.Classes), len(p.Flat))
	if len(m.below) > 0 {
		text += fmt.Sprintf(", above %d others of a belief network", len(m.below))
	}
	return text
}

// Parameters returns a copy of the model's parameters.
func (m *Model) Parameters() *Parameters { return m.parameters.clone() }

// bottom returns the parameters of the machine whose visible units hold the data.
func (m *Model) bottom() *Parameters {
	if len(m.below) > 0 {
		return m.below[0]
	}
	return m.parameters
}

// image returns the means of the visible units, given their inputs. It converts the means of Gaussian units
// back to grey values.
func (m *Model) image(inputs []float32) []float64 {
	p := m.bottom()
	return m.original(p.visibleUnits().means(inputs[:p.observed()]))
}

// images returns the image of each row of inputs.
func (m *Model) images(inputs kernels.Matrix) (images [][]float64) {
	for r := range inputs.Rows {
		images = append(images, m.image(kernels.Row(inputs, r)))
	}
	return images
}

// original converts standardised values, in place, back to the numbers of the data.
func (m *Model) original(values []float64) []float64 {
	if s := m.encoding.standard; s != nil {
		for i, v := range values {
			values[i] = float64(s.means[i]) + float64(s.deviations[i])*v
		}
	}
	return values
}

// FreeEnergy returns F(v) = −log p(v) − log Z of each row, in nats and in double precision. For Gaussian
// units, it refers to standardised values. For a deep machine it is the variational free energy of mean
// field, so −F(v) − log Z is a lower bound on log p(v). For a belief network it is an estimate from 100
// importance samples per row, too high in expectation. Rows are binarised as in training, whatever the
// binarisation of their set; stochastic binarisation draws them from the model's seed.
func (m *Model) FreeEnergy(ctx context.Context, rows dataset.Split) ([]float64, error) {
	energies, _, err := m.bestFreeEnergy(ctx, rows, false, Annealing{}.samples())
	if err == nil {
		err = m.settleExactly(ctx, energies, rows)
	}
	return energies, err
}

func (p *Parameters) freeEnergies(ctx context.Context, states kernels.Matrix) ([]float64, error) {
	energies := make([]float64, states.Rows)
	inParts(states.Rows, func(first, last int) {
		inputs := make([]float64, p.Hidden())
		for r := first; r < last && ctx.Err() == nil; r++ {
			energies[r] = p.freeEnergy(kernels.Row(states, r), inputs)
		}
	})
	return energies, ctx.Err()
}

// Means runs n chains for a number of sweeps. Each sweep draws the visible units given the hidden ones, then
// the hidden units given the visible ones. For each chain, Means returns the means of the visible units given
// the last hidden states. In a belief network, it then draws the layers below and returns the means of v.
// Chains start from random hidden units: 0 or 1 with equal probability, any category with equal probability,
// or standard normal. They take many sweeps to forget this start.
func (m *Model) Means(ctx context.Context, n, sweeps int) (dataset.Sheet, error) {
	return m.dream(ctx, n, sweeps, func(inputs kernels.Matrix, _ place) [][]float64 { return m.images(inputs) })
}

// Sample runs chains as Means does, and draws the visible units instead of returning their means.
func (m *Model) Sample(ctx context.Context, n, sweeps int) (dataset.Sheet, error) {
	p := m.bottom()
	units := newProducts(p).seen
	return m.dream(ctx, n, sweeps, func(inputs kernels.Matrix, at place) [][]float64 {
		states := kernels.NewMatrix(inputs.Rows, inputs.Cols)
		at.layer = 0
		at.draw(units, states, inputs)
		return m.rows(states)
	})
}

// rows returns the states of visible units as rows of the data.
func (m *Model) rows(states kernels.Matrix) (rows [][]float64) {
	for r := range states.Rows {
		rows = append(rows, m.original(kernels.Doubles(kernels.Row(states, r)[:m.bottom().observed()])))
	}
	return rows
}

// dream runs n chains for a number of sweeps, and returns what of returns for the inputs of the visible units.
func (m *Model) dream(ctx context.Context, n, sweeps int, of func(inputs kernels.Matrix, at place) [][]float64) (dataset.Sheet, error) {
	if err := m.checkDistribution(); err != nil {
		return dataset.Sheet{}, err
	}
	if n < 1 || sweeps < 0 || sweeps > math.MaxUint32 {
		return dataset.Sheet{}, fmt.Errorf("%d chains of %d sweeps: give at least 1 chain, and 0 to 2³²−1 sweeps", n, sweeps)
	}
	bytes := (4 + 4 + 8) * float64(n) * float64(m.parameters.Visible()+m.parameters.Hidden())
	if err := memory.Check(fmt.Sprintf("%d chains", n), bytes, "use fewer"); err != nil {
		return dataset.Sheet{}, err
	}
	w, all, below := newProducts(m.parameters), newChains(n, m.parameters), m.below.climber()
	at := place{key: philox.Key(m.seed), purpose: philox.Chain}
	all.start(at.key)
	sheet := dataset.Sheet{Shape: m.shape, Values: make([][]float64, n)}
	inParts(n, func(first, last int) {
		c, at := all.part(first, last, at)
		for sweep := 0; sweep < sweeps && ctx.Err() == nil; sweep++ {
			at.step = uint32(sweep)
			c.sweep(w, at)
		}
		w.downDrawn(c.visibleInputs, c.hidden)
		at.step = uint32(sweeps)
		copy(sheet.Values[first:], of(below.descend(c.visibleInputs, at), at))
	})
	return sheet, ctx.Err()
}

// Filters returns the weights of the first n hidden units of the lowest layer as images, one column of W each.
// A weight of 0 is grey, and the weight of each image that is farthest from 0 is black or white.
func (m *Model) Filters(n int) (dataset.Sheet, error) {
	all := m.HiddenWeights()
	if n < 1 || n > len(all) {
		return dataset.Sheet{}, fmt.Errorf("filters of %d hidden units: give between 1 and %d", n, len(all))
	}
	return dataset.Filters(m.shape, all[:n]), nil
}

// HiddenWeights returns the weights of each hidden unit of the lowest layer, one column of W each.
func (m *Model) HiddenWeights() [][]float64 {
	p := m.bottom()
	w := kernels.Cols(kernels.Rows(p.Weights, 0, p.observed()), 0, p.Spec.Hidden)
	all := make([][]float64, w.Cols)
	for i := range w.Rows {
		for j := range all {
			all[j] = append(all[j], float64(kernels.Row(w, i)[j]))
		}
	}
	return all
}

package general

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// validationUnits is the number of units per row from which validation estimates the log-pseudo-likelihood
// Σ_i log p(v_i|v_−i). Steps use one unit per row. Validation and steps also measure the free energy, and log
// p(v) if it is exact.
const validationUnits = 16

func size(e Experiment, shape dataset.Shape) float64 {
	s, v, h := e.Settings, float64(shape.Units()), float64(e.Settings.Machine.Hidden)
	n := v + h
	if n > enumerable {
		n *= 1 + float64(s.Training.Chains)
	}
	switch s.Machine.Connections {
	case All:
		return n + (v+h)*(v+h-1)/2
	case SemiRestricted:
		return n + v*(v-1)/2 + v*h
	case Restricted:
		return n + v*h
	}
	return n + float64(len(s.Machine.Pairs))
}

// newModel returns a model. It has chains unless its gradient is exact.
func newModel(e Experiment, shape dataset.Shape) (*Model, error) {
	m, err := e.Settings.Machine.Model(shape)
	if err != nil {
		return nil, err
	}
	m.seed = e.Seed
	if !m.Enumerable() {
		m.chains = make([]float64, e.Settings.Training.Chains*m.units())
	}
	return m, nil
}

// tensors lists
//
//	weights   W_ij = U_ij + U_ji of each pair of connected units, in their order
//	biases    b_i + U_ii, first of the visible units, then of the hidden units
//	chains    the states of all units of the persistent chains, one row per chain, if there are any
func tensors(m *Model) []runs.Tensor {
	all := []runs.Tensor{runs.Wide("weights", m.flat[:len(m.pairs)]), runs.Wide("biases", m.biases())}
	if len(m.chains) > 0 {
		all = append(all, runs.Wide("chains", m.chains, len(m.chains)/m.units(), m.units()))
	}
	return all
}

// restored refuses states of chains other than 0 and 1, and installs the restored weights.
func restored(m *Model) error {
	for _, x := range m.chains {
		if x != 0 && x != 1 {
			return fmt.Errorf("the tensor chains has the value %v: units are 0 or 1", x)
		}
	}
	m.spread()
	return nil
}

// begin draws weights from the seed, with standard deviation 0.01. Hidden biases are 0. Visible biases are
// set so that units without weights have the means of the training rows, slightly smoothed.
func begin(e Experiment, m *Model, set *dataset.Set) error {
	random := rand.New(philox.NewStream(e.Seed, philox.Initialize, 0))
	for k := range m.pairs {
		m.flat[k] = 0.01 * random.NormFloat64()
	}
	rows := set.Train()
	on := make([]float64, m.units())
	for r := range rows.Rows {
		floats.Add(on, m.state(rows.Row(r)))
	}
	for i, n := range on[:set.Shape().Units()] {
		m.biases()[i] = math.Log((n + 0.5) / (float64(rows.Rows) - n + 0.5))
	}
	m.spread()
	for chain := range len(m.chains) / m.units() {
		start(m.chain(chain), m.all(), philox.Key(e.Seed), philox.Counter{Word: philox.Word{Purpose: philox.Start}, Datum: uint32(chain)})
	}
	return nil
}

func (m *Model) chain(i int) []float64 { return m.chains[i*m.units():][:m.units()] }

// step ascends along the gradient of log p(v) of a minibatch.
func step(ctx context.Context, e Experiment, m *Model, b runs.Minibatch, rate float64) (runs.Measures, error) {
	states := lists.Map(b.Index, func(row int) []float64 { return m.state(b.Rows.Row(row)) })
	measured := m.measure(ctx, states, 1, philox.Counter{Word: philox.Word{Purpose: philox.Flip}, Step: uint32(b.Step)})
	gradient, err := m.positive(ctx, states)
	if err != nil {
		return nil, err
	}
	chains, logZ := m.subtractNegative(ctx, gradient, e.Settings.Training.Steps, b.Step)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if m.Enumerable() {
		measured[runs.LogP.Key] = -measured[runs.FreeEnergy.Key] - logZ
	}
	m.ascend(gradient, rate)
	m.chains = chains
	return measured, nil
}

// positive returns the mean over rows of E[x_i x_j|v]: an n×n matrix with the means of E[x_i|v] on its
// diagonal. It replaces the hidden units in states by their means.
func (m *Model) positive(ctx context.Context, states [][]float64) ([]float64, error) {
	visible := m.shape.Units()
	moments := make([][]float64, len(states))
	work.Parallel(len(states), func(r int) {
		if ctx.Err() != nil {
			return
		}
		moments[r], _ = m.moments(m.given(states[r][:visible]))
		for j := range m.hidden {
			states[r][visible+j] = moments[r][j*m.hidden+j]
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gradient := make([]float64, m.units()*m.units())
	m.addProducts(gradient, 1/float64(len(states)), states)
	for j := range m.hidden {
		row := gradient[(visible+j)*m.units()+visible:][:m.hidden]
		clear(row) // which holds products of means
		for _, of := range moments {
			floats.AddScaled(row, 1/float64(len(states)), of[j*m.hidden:][:m.hidden])
		}
	}
	return gradient, nil
}

// subtractNegative subtracts E[x_i x_j] under the model from gradient. This mean is exact if the units are
// enumerable. Otherwise it is estimated from the chains, after the sweeps of a step. subtractNegative returns
// the new states of the chains, or log Z if the mean is exact.
func (m *Model) subtractNegative(ctx context.Context, gradient []float64, sweeps, step int) (chains []float64, logZ float64) {
	if m.Enumerable() {
		moments, logZ := m.moments(m.given(nil))
		floats.Sub(gradient, moments)
		return nil, logZ
	}
	chains = slices.Clone(m.chains)
	each := slices.Collect(slices.Chunk(chains, m.units()))
	work.Parallel(len(each), func(chain int) {
		c := philox.Counter{Word: philox.Word{Purpose: philox.Negative}, Datum: uint32(chain), Step: uint32(step)}
		for sweep := 0; sweep < sweeps && ctx.Err() == nil; sweep++ {
			c.Sample = uint32(sweep)
			m.sweep(each[chain], m.all(), 1, philox.Key(m.seed), c)
		}
	})
	m.addProducts(gradient, -1/float64(len(each)), each)
	return chains, math.NaN()
}

func (m *Model) ascend(gradient []float64, rate float64) {
	for k, p := range m.pairs {
		m.flat[k] += rate * gradient[p[0]*m.units()+p[1]]
	}
	for i := range m.biases() {
		m.biases()[i] += rate * gradient[i*m.units()+i]
	}
	m.spread()
}

// measure returns the means over rows, multiplied by their shares if there are any, of the free energy and of the log-pseudo-likelihood. It estimates the
// log-pseudo-likelihood from a number of units of each row, by log p(v_i|v_−i) = log σ(F(v with unit i
// flipped) − F(v)). It draws the first of these units for each row; the other units follow at even distances.
func (m *Model) measure(ctx context.Context, states [][]float64, units int, c philox.Counter, shares ...float64) runs.Measures {
	visible := m.shape.Units()
	units = min(units, visible)
	energies, pseudo := make([]float64, len(states)), make([]float64, len(states))
	work.Parallel(len(states), func(r int) {
		if ctx.Err() != nil {
			return
		}
		c, v := c, states[r][:visible]
		c.Datum = uint32(r)
		g := m.given(v)
		energies[r] = m.freeEnergy(g)
		first := int(uint64(philox.Key(m.seed).Block(c)[0]) * uint64(visible) >> 32)
		for k := range units {
			i := (first + k*visible/units) % visible
			turn := 1 - 2*v[i]
			flipped := given{g.log + turn*(m.biases()[i]+floats.Dot(m.row(i)[:visible], v)), slices.Clone(g.inputs)}
			floats.AddScaled(flipped.inputs, turn, m.row(i)[visible:])
			pseudo[r] -= statistics.Softplus(energies[r]-m.freeEnergy(flipped)) * float64(visible) / float64(units)
		}
	})
	if shares != nil {
		floats.Mul(energies, shares)
		floats.Mul(pseudo, shares)
	}
	return runs.Measures{runs.FreeEnergy.Key: runs.EstimateOf(energies).Value, runs.PseudoLikelihood.Key: runs.EstimateOf(pseudo).Value}
}

func validate(ctx context.Context, _ Experiment, m *Model, rows dataset.Split) (runs.Measures, error) {
	states, err := m.states(rows)
	if err != nil {
		return nil, err
	}
	measured := m.measure(ctx, states, validationUnits, philox.Counter{Word: philox.Word{Purpose: philox.Flip}, Sample: 1}, rows.Shares()...) // steps have sample 0
	if m.Enumerable() {
		logZ, err := m.LogZ()
		if err != nil {
			return nil, err
		}
		measured[runs.LogP.Key] = -measured[runs.FreeEnergy.Key] - logZ
	}
	return measured, nil
}

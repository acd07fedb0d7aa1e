package general

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

var (
	pseudoMeasure     = runs.Measure{Key: "pseudo_likelihood", Name: "log PL", Label: "log-pseudo-likelihood", Unit: "nats", Rises: true}
	freeEnergyMeasure = runs.Measure{Key: "free_energy", Name: "free energy", Label: "free energy F(x)", Unit: "nats"}
	logZMeasure       = runs.Measure{Key: "log_z", Name: "log Z", Label: "log Z", Unit: "nats"}
)

// Measures implements runs.Experiment. Steps and validation measure the log-pseudo-likelihood Σ_i
// log p(v_i|v_−i), by one unit a row in steps and 16 in validation, the free energy, and log p(v)
// where it is exact.
func (e Experiment) Measures() []runs.Measure {
	return []runs.Measure{pseudoMeasure, freeEnergyMeasure, runs.LogP}
}

// validationUnits is the number of units of a row by which validation estimates its
// pseudo-likelihood.
const validationUnits = 16

// state is what the next step of training needs.
type state struct {
	step   int
	model  *Model
	chains [][]float64 // the states of all units, of a machine whose gradient is not exact
}

// A snapshot has float64 tensors
//
//	weights   W_ij = U_ij + U_ji of each pair of connected units, in their order
//	biases    b_i + U_ii, of the visible units and then of the hidden ones
//	chains    the states of all units of the persistent chains, a row a chain, where there are any
//
// and the shape of the visible units as JSON.
type header struct {
	Shape dataset.Shape `json:"shape"`
}

func (s state) snapshot() (runs.Snapshot, error) {
	text, err := json.Marshal(header{s.model.shape})
	snapshot := runs.Snapshot{Step: s.step, Header: text, Tensors: []runs.Tensor{
		{Name: "weights", Shape: []int{len(s.model.pairs)}, Wide: s.model.flat[:len(s.model.pairs)]},
		{Name: "biases", Shape: []int{s.model.units()}, Wide: s.model.biases()},
	}}
	if len(s.chains) > 0 {
		snapshot.Tensors = append(snapshot.Tensors, runs.Tensor{Name: "chains", Shape: []int{len(s.chains), s.model.units()}, Wide: slices.Concat(s.chains...)})
	}
	return snapshot, err
}

// readSnapshot returns the state that a snapshot of training of the experiment holds.
func (e Experiment) readSnapshot(at runs.Snapshot) (state, error) {
	var h header
	if err := json.Unmarshal(at.Header, &h); err != nil {
		return state{}, fmt.Errorf("the description of the machine: %w", err)
	}
	tensor := func(name string, shape ...int) ([]float64, error) {
		for _, t := range at.Tensors {
			if t.Name == name && slices.Equal(t.Shape, shape) && t.Wide != nil {
				return t.Wide, nil
			}
		}
		return nil, fmt.Errorf("the file lacks a tensor %s of shape %v and of float64, as the experiment asks for", name, shape)
	}
	if h.Shape.Height < 1 || h.Shape.Width < 1 || h.Shape.Height > mostUnits || h.Shape.Width > mostUnits {
		return state{}, fmt.Errorf("no machine is for images of %v", h.Shape)
	}
	biases, err := tensor("biases", h.Shape.Units()+e.Machine.Hidden)
	if err != nil {
		return state{}, err
	}
	m, err := e.Machine.Model(h.Shape)
	if err != nil {
		return state{}, err
	}
	m.seed = e.Seed
	weights, err := tensor("weights", len(m.pairs))
	if err != nil {
		return state{}, err
	}
	copy(m.flat, weights)
	copy(m.biases(), biases)
	m.spread()
	s := state{step: at.Step, model: m}
	if m.Enumerable() {
		return s, nil
	}
	chains, err := tensor("chains", e.Training.Chains, m.units())
	for chain := range slices.Chunk(slices.Clone(chains), m.units()) {
		s.chains = append(s.chains, chain)
	}
	return s, err
}

// Begin implements runs.Experiment. Weights are drawn by seed, with the standard deviation 0.01,
// hidden biases are 0, and visible ones such that units without weights would have the means of
// the training rows.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	m, err := e.Machine.Model(set.Shape())
	if err != nil {
		return runs.Snapshot{}, err
	}
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
	s := state{model: m}
	if !m.Enumerable() {
		for chain := range e.Training.Chains {
			x := make([]float64, m.units())
			start(x, m.all(), philox.Key(e.Seed), philox.Counter{Purpose: philox.Start, Datum: uint32(chain)})
			s.chains = append(s.chains, x)
		}
	}
	return s.snapshot()
}

// Learner implements runs.Experiment.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	s, err := e.readSnapshot(at)
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	if s.model.shape != set.Shape() {
		return nil, fmt.Errorf("the parameters are of a machine for images of %v, the rows of %s have %v", s.model.shape, set.Name(), set.Shape())
	}
	return &learner{s, e, set, runs.NewOrder(e.Seed, set.Train().Rows, e.Training.BatchSize)}, nil
}

// learner trains a machine.
type learner struct {
	state
	experiment Experiment
	set        *dataset.Set
	order      *runs.Order
}

// Steps implements runs.Learner. It takes one step.
func (l *learner) Steps(ctx context.Context, _ int, rate func(k int) float64) ([]runs.Measures, error) {
	rows, train := l.order.Minibatch(l.step), l.set.Train()
	states := make([][]float64, len(rows))
	for r, row := range rows {
		states[r] = l.model.state(train.Row(row))
	}
	measured := l.measure(ctx, states, 1, philox.Counter{Purpose: philox.Flip, Step: uint32(l.step)})
	gradient, err := l.positive(ctx, states)
	if err != nil {
		return nil, err
	}
	chains, logZ := l.subtractNegative(ctx, gradient)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.model.Enumerable() {
		measured[runs.LogP.Key] = -measured[freeEnergyMeasure.Key] - logZ
	}
	l.ascend(gradient, rate(0))
	l.chains = chains
	l.step++
	return []runs.Measures{measured}, nil
}

// positive is the mean over rows of E[x_i x_j|v], an n×n matrix: x_i² is x_i. In states the hidden
// units get their means.
func (l *learner) positive(ctx context.Context, states [][]float64) ([]float64, error) {
	m, visible := l.model, l.model.shape.Units()
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
		clear(row) // of products of means
		for _, of := range moments {
			floats.AddScaled(row, 1/float64(len(states)), of[j*m.hidden:][:m.hidden])
		}
	}
	return gradient, nil
}

// subtractNegative subtracts E[x_i x_j] of the model, exactly or as the chains have it after
// the sweeps of a step, and returns these, or log Z where it is exact.
func (l *learner) subtractNegative(ctx context.Context, gradient []float64) (chains [][]float64, logZ float64) {
	m := l.model
	if m.Enumerable() {
		moments, logZ := m.moments(m.given(nil))
		floats.Sub(gradient, moments)
		return nil, logZ
	}
	chains = make([][]float64, len(l.chains))
	work.Parallel(len(chains), func(chain int) {
		x, c := slices.Clone(l.chains[chain]), philox.Counter{Purpose: philox.Negative, Datum: uint32(chain), Step: uint32(l.step)}
		for sweep := 0; sweep < l.experiment.Training.Steps && ctx.Err() == nil; sweep++ {
			c.Sample = uint32(sweep)
			m.sweep(x, m.all(), 1, philox.Key(l.experiment.Seed), c)
		}
		chains[chain] = x
	})
	m.addProducts(gradient, -1/float64(len(chains)), chains)
	return chains, math.NaN()
}

// ascend moves the parameters along the gradient.
func (l *learner) ascend(gradient []float64, rate float64) {
	m := l.model
	for k, p := range m.pairs {
		m.flat[k] += rate * gradient[p[0]*m.units()+p[1]]
	}
	for i := range m.biases() {
		m.biases()[i] += rate * gradient[i*m.units()+i]
	}
	m.spread()
}

// measure is the mean over rows of the free energy, and of the pseudo-likelihood by some units,
// the first of each row drawn and the others at even distances from it: log p(v_i|v_−i) = log
// σ(F(v with unit i flipped) − F(v)).
func (l *learner) measure(ctx context.Context, states [][]float64, units int, c philox.Counter) runs.Measures {
	m, visible := l.model, l.model.shape.Units()
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
		first := int(uint64(philox.Key(l.experiment.Seed).Block(c)[0]) * uint64(visible) >> 32)
		for k := range units {
			i := (first + k*visible/units) % visible
			turn := 1 - 2*v[i]
			flipped := given{g.log + turn*(m.biases()[i]+floats.Dot(m.row(i)[:visible], v)), slices.Clone(g.inputs)}
			floats.AddScaled(flipped.inputs, turn, m.row(i)[visible:])
			pseudo[r] -= softplus(energies[r]-m.freeEnergy(flipped)) * float64(visible) / float64(units)
		}
	})
	return runs.Measures{freeEnergyMeasure.Key: estimateOf(energies).Value, pseudoMeasure.Key: estimateOf(pseudo).Value}
}

// Validate implements runs.Learner.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	states, err := l.model.states(rows)
	if err != nil {
		return nil, err
	}
	measured := l.measure(ctx, states, validationUnits, philox.Counter{Purpose: philox.Flip, Sample: 1}) // steps have sample 0
	if l.model.Enumerable() {
		logZ, err := l.model.LogZ()
		if err != nil {
			return nil, err
		}
		measured[runs.LogP.Key] = -measured[freeEnergyMeasure.Key] - logZ
	}
	return measured, ctx.Err()
}

// Norms implements runs.Learner.
func (l *learner) Norms() (runs.Norms, error) { return nil, nil }

// Observe implements runs.Learner.
func (l *learner) Observe(context.Context, int) (map[string]runs.Measures, error) { return nil, nil }

// Snapshot implements runs.Learner.
func (l *learner) Snapshot() (runs.Snapshot, error) { return l.snapshot() }

// Close implements runs.Learner.
func (l *learner) Close() error { return nil }

// estimateOf is the mean of values with its standard error.
func estimateOf(values []float64) (e runs.Estimate) {
	e.Value, e.SE = statistics.MeanAndError(len(values), func(i int) float64 { return values[i] })
	return e
}

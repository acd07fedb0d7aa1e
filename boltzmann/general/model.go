package general

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Model is a machine with its parameters, in double precision. Its methods do not change it, and
// those that draw random numbers draw the same ones each time.
type Model struct {
	shape   dataset.Shape
	hidden  int
	pairs   []Pair
	flat    []float64 // W_ij of each pair, then the biases
	weights []float64 // W, n×n: symmetric, 0 on the diagonal
	seed    uint64
}

// Model is the machine with parameters 0 for images of a shape.
func (s MachineSpec) Model(shape dataset.Shape) (*Model, error) {
	if err := s.check(shape.Units()); err != nil {
		return nil, err
	}
	pairs, n := s.connected(shape.Units()), shape.Units()+s.Hidden
	return &Model{shape: shape, hidden: s.Hidden, pairs: pairs, flat: make([]float64, len(pairs)+n), weights: make([]float64, n*n)}, nil
}

// Seed returns the same model with another seed for its draws.
func (m *Model) Seed(seed uint64) *Model {
	c := *m
	c.seed = seed
	return &c
}

// Enumerable says whether the states of all units, at most 20, are few enough for sums over them,
// by which log Z and gradients are exact.
func (m *Model) Enumerable() bool { return m.units() <= enumerable }

func (m *Model) units() int          { return m.shape.Units() + m.hidden }
func (m *Model) biases() []float64   { return m.flat[len(m.pairs):] }
func (m *Model) row(i int) []float64 { return m.weights[i*m.units() : (i+1)*m.units()] }

// spread takes over the weights of the pairs into W.
func (m *Model) spread() {
	for k, p := range m.pairs {
		m.row(p[0])[p[1]], m.row(p[1])[p[0]] = m.flat[k], m.flat[k]
	}
}

// Input is that of unit i given all others, of which x has the states, the visible ones first: it
// is on with the probability σ of it.
func (m *Model) Input(i int, x []float64) float64 { return m.biases()[i] + floats.Dot(m.row(i), x) }

// Connected are the pairs of connected units.
func (m *Model) Connected() []Pair { return slices.Clone(m.pairs) }

// Weight is W_ij = U_ij + U_ji, 0 of units that are not connected.
func (m *Model) Weight(i, j int) float64 { return m.row(i)[j] }

// each visits all states of the units free, which it changes in x, and calls visit with −E of
// each.
func (m *Model) each(x []float64, free []int, visit func(log float64)) {
	for _, i := range free {
		x[i] = 0
	}
	log := 0.0
	for i, on := range x {
		if on == 1 {
			log += m.biases()[i] + floats.Dot(m.row(i), x)/2
		}
	}
	visit(log)
	for k := 1; k < 1<<len(free); k++ {
		i := free[bits.TrailingZeros(uint(k))] // of a Gray code
		turn := 1 - 2*x[i]
		log += turn * m.Input(i, x)
		x[i] += turn
		visit(log)
	}
}

// latent are the hidden units, all all units.
func (m *Model) latent() []int { return sequence(m.shape.Units(), m.units()) }
func (m *Model) all() []int    { return sequence(0, m.units()) }

func sequence(first, end int) (s []int) {
	for i := first; i < end; i++ {
		s = append(s, i)
	}
	return s
}

// logSum is log Σ e^(−E) over the states of the units free, and the terms of the sum.
func (m *Model) logSum(x []float64, free []int) (sum float64, terms []float64) {
	terms = make([]float64, 0, 1<<len(free))
	m.each(x, free, func(log float64) { terms = append(terms, log) })
	return floats.LogSumExp(terms), terms
}

// addMoments adds a factor times the means of x_i x_j, i ≤ j, over the states of the units free
// to an n×n matrix, and returns log Σ e^(−E).
func (m *Model) addMoments(to []float64, factor float64, x []float64, free []int) float64 {
	sum, terms := m.logSum(x, free)
	k, n := 0, m.units()
	floats.AddConst(-sum, terms)
	m.each(x, free, func(float64) {
		addOuter(to, factor*math.Exp(terms[k]), x, n)
		k++
	})
	return sum
}

// addOuter adds a factor to the elements i ≤ j of an n×n matrix where x_i and x_j are 1.
func addOuter(to []float64, factor float64, x []float64, n int) {
	for i, one := range x {
		if one == 0 {
			continue
		}
		row := to[i*n : (i+1)*n]
		for j := i; j < n; j++ {
			row[j] += factor * x[j]
		}
	}
}

// states are rows of visible units with room for the hidden ones.
func (m *Model) states(rows dataset.Split) ([][]float64, error) {
	if rows.Shape.Units() != m.shape.Units() {
		return nil, fmt.Errorf("the model has %d visible units, the %s rows have %d: give rows of the data that it was trained on", m.shape.Units(), rows.Name, rows.Shape.Units())
	}
	if rows.Rows == 0 {
		return nil, fmt.Errorf("the %s split has no rows: choose another split", rows.Name)
	}
	states := make([][]float64, rows.Rows)
	for r := range states {
		states[r] = m.state(rows.Row(r))
	}
	return states, nil
}

// state is a row of visible units, rounded, with room for the hidden ones.
func (m *Model) state(row []uint8) []float64 {
	x := make([]float64, m.units())
	for i, value := range row {
		x[i] = float64(value / 128)
	}
	return x
}

// FreeEnergy is F(v) = −log Σ_h e^(−E(v,h)) of each of the rows, in nats.
func (m *Model) FreeEnergy(ctx context.Context, rows dataset.Split) ([]float64, error) {
	states, err := m.states(rows)
	if err != nil {
		return nil, err
	}
	energies := make([]float64, len(states))
	work.Parts(len(states), 8, func(first, last int) {
		for r := first; r < last && ctx.Err() == nil; r++ {
			log, _ := m.logSum(states[r], m.latent())
			energies[r] = -log
		}
	})
	return energies, ctx.Err()
}

// LogZ is log Σ e^(−E) over all states, in nats, of at most 20 units.
func (m *Model) LogZ() (float64, error) {
	if !m.Enumerable() {
		return 0, fmt.Errorf("log Z of %d units: too many to sum over their states; use at most %d, or estimate it by AIS", m.units(), enumerable)
	}
	log, _ := m.logSum(make([]float64, m.units()), m.all())
	return log, nil
}

// LogP is log p(v) of each of the rows, in nats, by LogZ.
func (m *Model) LogP(ctx context.Context, rows dataset.Split) ([]float64, error) {
	logZ, err := m.LogZ()
	if err != nil {
		return nil, err
	}
	logs, err := m.FreeEnergy(ctx, rows)
	for r, energy := range logs {
		logs[r] = -energy - logZ
	}
	return logs, err
}

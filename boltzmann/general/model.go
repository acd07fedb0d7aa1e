package general

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Model is a machine with its parameters, in double precision. Its exported methods do not change it. Methods
// that draw random numbers draw the same ones each time; methods that take a dataset.Split round its values.
type Model struct {
	shape   dataset.Shape
	hidden  int
	pairs   []Pair
	flat    []float64 // W_ij of each pair, then the biases
	weights []float64 // W, n×n: symmetric, 0 on the diagonal
	chains  []float64 // persistent chains of training: the states of all units of each chain; nil if the gradient is exact
	seed    uint64
}

// Model returns the machine with all parameters 0, for images of a shape.
func (s MachineSpec) Model(shape dataset.Shape) (*Model, error) {
	if err := s.check(shape.Units()); err != nil {
		return nil, err
	}
	pairs, n := s.connected(shape.Units()), shape.Units()+s.Hidden
	return &Model{shape: shape, hidden: s.Hidden, pairs: pairs, flat: make([]float64, len(pairs)+n), weights: make([]float64, n*n)}, nil
}

// WithSeed returns the same model with another seed for its draws.
func (m *Model) WithSeed(seed uint64) *Model {
	c := *m
	c.seed = seed
	return &c
}

func (m *Model) String() string {
	return fmt.Sprintf("a general Boltzmann machine of %d visible and %d hidden units, with %d pairs", m.shape.Units(), m.hidden, len(m.pairs))
}

// Enumerable reports whether there are at most 20 units: few enough to sum over their states, so that log Z and
// gradients are exact.
func (m *Model) Enumerable() bool { return m.units() <= enumerable }

func (m *Model) units() int          { return m.shape.Units() + m.hidden }
func (m *Model) biases() []float64   { return m.flat[len(m.pairs):] }
func (m *Model) row(i int) []float64 { return m.weights[i*m.units() : (i+1)*m.units()] }

// spread copies the weights of the pairs into W.
func (m *Model) spread() {
	for k, p := range m.pairs {
		m.row(p[0])[p[1]], m.row(p[1])[p[0]] = m.flat[k], m.flat[k]
	}
}

// Input returns the input a of unit i. x holds the states of all units, the visible units first. Given all
// other units, unit i is on with probability σ(a).
func (m *Model) Input(i int, x []float64) float64 { return m.biases()[i] + floats.Dot(m.row(i), x) }

// given describes a machine whose first units are clamped. log is −E with all other units off, and inputs
// holds the inputs of these other units.
type given struct {
	log    float64
	inputs []float64
}

// given returns the machine with its first units clamped to states.
func (m *Model) given(states []float64) given {
	g := given{inputs: slices.Clone(m.biases()[len(states):])}
	for i, on := range states {
		if on == 1 {
			g.log += m.biases()[i] + floats.Dot(m.row(i)[:len(states)], states)/2
			floats.Add(g.inputs, m.row(i)[len(states):])
		}
	}
	return g
}

// logTerms returns −E for each state of the units that are not clamped. Bit k of a state's index is the state
// of the k-th of these units.
func (m *Model) logTerms(g given) []float64 {
	terms, first := make([]float64, 1<<len(g.inputs)), m.units()-len(g.inputs)
	terms[0] = g.log
	for k, input := range g.inputs {
		off, on := terms[:1<<k], terms[1<<k:2<<k]
		weights := m.row(first + k)[first:]
		on[0] = input
		for s := 1; s < len(on); s++ {
			on[s] = on[s&(s-1)] + weights[bits.TrailingZeros(uint(s))]
		}
		floats.Add(on, off)
	}
	return terms
}

// freeEnergy returns −log Σ e^(−E) over the states of the units that are not clamped.
func (m *Model) freeEnergy(g given) float64 { return -floats.LogSumExp(m.logTerms(g)) }

// moments returns E[x_i x_j] of the units that are not clamped, as a square matrix with E[x_i] on its
// diagonal. It also returns log Σ e^(−E) over the states of these units.
func (m *Model) moments(g given) (moments []float64, log float64) {
	sums, n := m.logTerms(g), len(g.inputs)
	largest := floats.Max(sums)
	for s, log := range sums {
		sums[s] = math.Exp(log - largest)
	}
	// Make sums[s] the sum over all states in which at least the units of s are on, one unit after the other.
	for bit := 1; bit < len(sums); bit *= 2 {
		for s := 0; s < len(sums); s += 2 * bit {
			floats.Add(sums[s:s+bit], sums[s+bit:s+2*bit])
		}
	}
	moments = make([]float64, n*n)
	for i := range n {
		for j := range n {
			moments[i*n+j] = sums[1<<i|1<<j] / sums[0]
		}
	}
	return moments, largest + math.Log(sums[0])
}

// all returns the indices of all units.
func (m *Model) all() []int {
	return lists.N(m.units(), func(i int) int { return i })
}

// addProducts adds a factor times the sum of xxᵀ over the states x to sum, an n×n matrix.
func (m *Model) addProducts(sum []float64, factor float64, states [][]float64) {
	n := m.units()
	x := blas64.General{Rows: len(states), Cols: n, Stride: n, Data: slices.Concat(states...)}
	blas64.Gemm(blas.Trans, blas.NoTrans, factor, x, x, 1, blas64.General{Rows: n, Cols: n, Stride: n, Data: sum})
}

// states returns the states of all units for each row: see state.
func (m *Model) states(rows dataset.Split) ([][]float64, error) {
	if err := runs.CheckRows(m.shape.Units(), true, rows); err != nil {
		return nil, err
	}
	states := lists.N(rows.Rows, func(r int) []float64 { return m.state(rows.Row(r)) })
	return states, nil
}

// state returns the states of all units for a row: the rounded values of the row, then 0 for the hidden
// units.
func (m *Model) state(row []uint8) []float64 {
	x := make([]float64, m.units())
	for i, value := range row {
		x[i] = float64(value / 128)
	}
	return x
}

// FreeEnergy returns F(v) = −log Σ_h e^(−E(v,h)) of each row, in nats.
func (m *Model) FreeEnergy(ctx context.Context, rows dataset.Split) ([]float64, error) {
	states, err := m.states(rows)
	if err != nil {
		return nil, err
	}
	energies := make([]float64, len(states))
	work.Parts(len(states), 8, func(first, last int) {
		for r := first; r < last && ctx.Err() == nil; r++ {
			energies[r] = m.freeEnergy(m.given(states[r][:m.shape.Units()]))
		}
	})
	return energies, ctx.Err()
}

// LogZ returns log Σ e^(−E) over all states, in nats. It refuses more than 20 units.
func (m *Model) LogZ() (float64, error) {
	if !m.Enumerable() {
		return 0, fmt.Errorf("log Z of %d units: too many to sum over their states; use at most %d, or estimate it by AIS", m.units(), enumerable)
	}
	return -m.freeEnergy(m.given(nil)), nil
}

// LogP returns log p(v) of each row, in nats. Like LogZ, it refuses more than 20 units.
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

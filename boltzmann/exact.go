package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// enumerable is the largest number of units whose states are summed over. Those of 25
// take minutes.
const enumerable = 25

// ExactLogZ is log Z in nats, in double precision: the sum over all states of the side
// that has fewer units, at most 25, or of the hidden units where the visible ones are
// not Bernoulli.
func (m *Model) ExactLogZ(ctx context.Context) (float64, error) {
	if err := m.checkEnumerable(); err != nil {
		return 0, err
	}
	return m.parameters.logZ(ctx)
}

func (m *Model) checkEnumerable() error {
	if err := m.checkDistribution(); err != nil {
		return err
	}
	p := m.parameters
	if p.summed() > enumerable {
		return fmt.Errorf("log Z of %d visible units, %v, and %d hidden ones: too many to sum over the states of either side; use at most %d of one, or estimate log Z",
			p.Visible(), p.Kind(), p.Hidden(), enumerable)
	}
	return nil
}

// ExactLogP is log p of each of the rows, in nats, by ExactLogZ, of a deep machine with the
// hidden units summed out for each row, too. Of Gaussian units it is the
// logarithm of the density of the grey values, between 0 and 1.
func (m *Model) ExactLogP(ctx context.Context, rows dataset.Split) ([]float64, error) {
	if err := m.checkEnumerable(); err != nil {
		return nil, err
	}
	if m.below != nil {
		return nil, errors.New("log p of a belief network is not summed: it is estimated by Evaluate")
	}
	states, err := m.states(rows)
	if err != nil {
		return nil, err
	}
	return m.exactLogP(ctx, states)
}

// exactLogP is log p of states.
func (m *Model) exactLogP(ctx context.Context, states kernels.Matrix) ([]float64, error) {
	logZ, err := m.parameters.logZ(ctx)
	if err != nil {
		return nil, err
	}
	logP, err := m.parameters.exactFreeEnergies(ctx, states)
	for i := range logP {
		logP[i] = -logP[i] - logZ - m.encoding.logScale()
	}
	return logP, err
}

// statesAPart is the binary logarithm of the number of states that are summed together.
const statesAPart = 10

// logZ sums e^(−F) over all states of the smaller side.
func (p *Parameters) logZ(ctx context.Context) (float64, error) {
	parts, err := p.smallerSide().logParts(ctx)
	return floats.LogSumExp(parts), err
}

// side is one side of a machine, whose states are enumerated, and the other one, which is
// summed out. Bit j of a state is that of unit j.
type side struct {
	few, many []float32                      // biases of each
	weights   kernels.Matrix                 // a row for each of the few
	partition func(inputs []float64) float64 // sums the many out, given their inputs
	low       int                            // a part has the states that differ in so many lowest bits
}

func (p *Parameters) smallerSide() side {
	s := side{few: p.VisibleBiases, many: p.HiddenBiases, weights: p.Weights, partition: logPartition}
	if p.summed() == p.Hidden() {
		s.few, s.many, s.weights = p.HiddenBiases, p.VisibleBiases, transpose(p.Weights)
		switch p.Kind() {
		case Gaussian:
			s.partition = p.gaussianPartition
		case Categorical:
			s.partition = p.categoricalPartition
		}
	}
	s.low = min(statesAPart, len(s.few))
	return s
}

// logParts are the logarithms of the sums of e^(−F(s)) over the states of each part.
func (s side) logParts(ctx context.Context) ([]float64, error) {
	parts := make([]float64, 1<<(len(s.few)-s.low))
	work.Parallel(len(parts), func(part int) {
		if ctx.Err() == nil {
			parts[part] = floats.LogSumExp(s.logTerms(part))
		}
	})
	return parts, ctx.Err()
}

// logTerms are −F(s) of the states of a part in the order of a Gray code, in which
// neighbours differ in one unit: term k is that of state(part, k).
func (s side) logTerms(part int) []float64 {
	inputs, linear := make([]float64, len(s.many)), 0.0
	add(inputs, 1, s.many)
	flip := func(unit int, factor float64) {
		linear += factor * float64(s.few[unit])
		add(inputs, factor, kernels.Row(s.weights, unit))
	}
	for unit := range s.few {
		if s.state(part, 0)>>unit&1 == 1 {
			flip(unit, 1)
		}
	}
	terms := make([]float64, 1<<s.low)
	terms[0] = linear + s.partition(inputs)
	for k := 1; k < len(terms); k++ {
		unit := bits.TrailingZeros(uint(k))
		factor := 1.0
		if s.state(part, k)>>unit&1 == 0 {
			factor = -1
		}
		flip(unit, factor)
		terms[k] = linear + s.partition(inputs)
	}
	return terms
}

func (s side) state(part, k int) int { return part<<s.low | k ^ k>>1 }

func transpose(m kernels.Matrix) kernels.Matrix {
	t := kernels.NewMatrix(m.Cols, m.Rows)
	for i := range m.Rows {
		for j, value := range kernels.Row(m, i) {
			kernels.Row(t, j)[i] = value
		}
	}
	return t
}

// terms is the number of factors of which logZ sums products.
func (p *Parameters) terms() float64 {
	few := p.summed()
	return math.Ldexp(float64(p.Visible()+p.Hidden()-few), few)
}

// summed is the number of units over whose states logZ sums.
func (p *Parameters) summed() int {
	if p.Kind() != Bernoulli {
		return p.Hidden()
	}
	return min(p.Visible(), p.Hidden())
}

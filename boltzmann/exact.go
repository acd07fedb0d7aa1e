package boltzmann

import (
	"context"
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
	p := m.parameters
	if p.summed() > enumerable {
		return 0, fmt.Errorf("log Z of %d visible units, %v, and %d hidden ones: too many to sum over the states of either side; use at most %d of one, or estimate log Z",
			p.Visible(), p.Kind(), p.Hidden(), enumerable)
	}
	return p.logZ(ctx)
}

// ExactLogP is log p of each of the rows, in nats, by ExactLogZ. Of Gaussian units it is the
// logarithm of the density of the grey values, between 0 and 1.
func (m *Model) ExactLogP(ctx context.Context, rows dataset.Split) ([]float64, error) {
	logZ, err := m.ExactLogZ(ctx)
	if err != nil {
		return nil, err
	}
	logP, err := m.FreeEnergy(ctx, rows)
	for i := range logP {
		logP[i] = -logP[i] - logZ - m.encoding.logScale()
	}
	return logP, err
}

// statesAPart is the binary logarithm of the number of states that are summed together.
const statesAPart = 10

// logZ sums e^(−F) over all states of the smaller side.
func (p *Parameters) logZ(ctx context.Context) (float64, error) {
	few, many, weights, partition := p.VisibleBiases, p.HiddenBiases, p.Weights, logPartition
	if p.summed() == p.Hidden() {
		few, many, weights = many, few, transpose(weights)
		switch p.Kind() {
		case Gaussian:
			partition = p.gaussianPartition
		case Categorical:
			partition = p.categoricalPartition
		}
	}
	low := min(statesAPart, len(few))
	parts := make([]float64, 1<<(len(few)-low))
	work.Parallel(len(parts), func(part int) {
		if ctx.Err() == nil {
			parts[part] = logSum(few, many, weights, partition, part<<low, low)
		}
	})
	return floats.LogSumExp(parts), ctx.Err()
}

// logSum is the logarithm of the sum of e^(−F(s)) over the states s of few units,
// whose bits are those of state in all but the lowest low. weights has a row for each of
// the units, and partition sums the others out, given their inputs.
func logSum(few, many []float32, weights kernels.Matrix, partition func(inputs []float64) float64, state, low int) float64 {
	inputs, linear := make([]float64, len(many)), 0.0
	add(inputs, 1, many)
	flip := func(unit int, factor float64) {
		linear += factor * float64(few[unit])
		add(inputs, factor, kernels.Row(weights, unit))
	}
	for unit := range few {
		if state>>unit&1 == 1 {
			flip(unit, 1)
		}
	}
	terms := make([]float64, 1<<low)
	terms[0] = linear + partition(inputs)
	// In a Gray code neighbouring states differ in one unit.
	for k := 1; k < len(terms); k++ {
		unit := bits.TrailingZeros(uint(k))
		factor := 1.0
		if (k^k>>1)>>unit&1 == 0 {
			factor = -1
		}
		flip(unit, factor)
		terms[k] = linear + partition(inputs)
	}
	return floats.LogSumExp(terms)
}

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

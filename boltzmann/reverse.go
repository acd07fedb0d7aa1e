package boltzmann

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// ReverseAIS estimates log Z from above. Chains go from exact samples of the model to the base-rate model of
// the rows base. The mean of their weights is an unbiased estimate of 1/Z, so the estimate of log Z is too
// high in expectation. If the chains began at samples of other chains or at rows of data, the direction of
// the bias would be unknown. To draw exact samples, ReverseAIS enumerates the side with fewer states, which
// may have at most 2²⁵.
func (m *Model) ReverseAIS(ctx context.Context, base dataset.Split, a Annealing, progress func(float64)) (LogZ, error) {
	p, betas, progress, err := m.annealing(ctx, base, a, progress)
	if err != nil {
		return LogZ{}, err
	}
	states, err := m.exactStates(ctx, a.chains())
	if err != nil {
		return LogZ{}, err
	}
	weights, err := p.downwards(ctx, states, 1, betas, philox.Key(m.seed), progress)
	if err != nil {
		return LogZ{}, err
	}
	for i := range weights {
		weights[i] = p.logZ0 - weights[i]
	}
	return NewLogZ(weights, runs.ErrsHigh, a.Schedule, len(betas)-1), nil
}

// RAISE estimates log p(v) of rows, in nats. For each row, separate chains go from the row to the base-rate
// model of the rows base (Burda, Grosse and Salakhutdinov 2015; the weights with the correction of Upadhya
// and Sastry 2015, 10).
//
// More exactly, RAISE estimates p_ann(v), the distribution from which annealing with the same schedule draws.
// The more steps, the less p_ann(v) differs from p(v). In expectation, the estimate is at most log p_ann(v).
// Over samples of the model, the mean of log p_ann(v) is at most the mean of log p(v); for a single row, or
// for other rows, it can be larger. The bias of AIS has the opposite sign. So if RAISE and AIS agree, either
// both are right, or rows and chains miss the same modes.
//
// In a deep machine, chains begin at exact samples of the even hidden layers given the row, and F(v) is
// exact. Since p_ann(v) = E[p_ann(v,h)/p(h|v)] over these samples, RAISE still estimates p_ann(v). It refuses
// deep machines with too many hidden units to enumerate for each row.
func (m *Model) RAISE(ctx context.Context, base, rows dataset.Split, a Annealing, progress func(float64)) ([]float64, error) {
	logP, _, err := m.raise(ctx, base, rows, a, progress)
	return logP, err
}

// raise returns RAISE, and describes its chains.
func (m *Model) raise(ctx context.Context, base, rows dataset.Split, a Annealing, progress func(float64)) (logP []float64, size runs.SampleSize, err error) {
	if err := runs.First(func() error { return a.check(rows.Rows) }, func() error { return m.checkRAISE(base, rows) }); err != nil {
		return nil, size, err
	}
	p, err := m.newPath(ctx, base)
	if err != nil {
		return nil, size, err
	}
	states, err := m.states(ctx, rows)
	if err != nil {
		return nil, size, err
	}
	betas, progress, err := p.temperatures(ctx, a.Schedule, states.Rows*a.chains(), philox.Key(m.seed), progress)
	if err != nil {
		return nil, size, err
	}
	starts, each := states, a.chains()
	if p.Layers != nil {
		if starts, err = p.latentSamples(ctx, states, each, m.seed); err != nil {
			return nil, size, err
		}
		each = 1
	}
	weights, err := p.downwards(ctx, starts, each, betas, philox.Key(m.seed), progress)
	if err != nil {
		return nil, size, err
	}
	logP, err = p.exactFreeEnergies(ctx, states)
	ess, moved := make([]float64, len(logP)), make([]float64, len(logP))
	for d, energy := range logP {
		logP[d], ess[d], moved[d] = statistics.LogMean(weights[d*a.chains() : (d+1)*a.chains()])
		logP[d] -= energy + p.logZ0 + m.encoding.logScale()
	}
	return logP, runs.MeanSampleSize(rows.MeanWeights(), runs.ErrsLow, "chains a row", a.chains(), ess, moved), err
}

// checkRAISE refuses machines and rows that RAISE cannot evaluate. base has the rows of the base rates.
func (m *Model) checkRAISE(base, rows dataset.Split) error {
	switch {
	case base.Lacking()+rows.Lacking() > 0:
		return errors.New("RAISE of rows with missing values: it evaluates only complete rows, with base rates of complete training rows; leave it out")
	case m.below != nil:
		return errors.New("RAISE of a belief network: it evaluates only restricted and deep machines; leave it out")
	case !m.countable(rows):
		return fmt.Errorf("RAISE of %v: its chains begin at exact samples of the hidden layers given each of %d rows, which are too many to enumerate; use fewer rows, or leave it out", m, rows.Rows)
	}
	return nil
}

// latentSamples returns n copies of each row of states, each with an exact sample of the even hidden layers
// given v.
func (p *Parameters) latentSamples(ctx context.Context, states kernels.Matrix, n int, seed uint64) (kernels.Matrix, error) {
	all, observed := kernels.NewMatrix(n*states.Rows, states.Cols), p.observed()
	for d := range states.Rows {
		v := kernels.Row(states, d)[:observed]
		latent, err := p.posterior(v).exactStates(ctx, n, seed, uint32(d))
		if err != nil {
			return all, err
		}
		for k := range n {
			row := kernels.Row(all, d*n+k)
			copy(row, v)
			copy(row[observed:], kernels.Row(latent, k))
		}
	}
	return all, nil
}

// downwards moves a number of chains from each state to the base-rate model, and returns the logarithms of
// their weights. If there is a label, it is first drawn given the other units.
func (p *path) downwards(ctx context.Context, states kernels.Matrix, chains int, betas []float64, key philox.Key, progress func(float64)) ([]float64, error) {
	betas = slices.Clone(betas)
	slices.Reverse(betas)
	weights := make([]float64, states.Rows*chains)
	return weights, p.anneal(ctx, &walk{
		chains: len(weights), samples: chains, betas: betas, key: key, purpose: philox.Reverse, progress: progress,
		start: func(chain int, v []float32, c philox.Counter) {
			copy(v, kernels.Row(states, chain/chains))
			p.drawLabel(v, key, c)
		},
		add: func(chain, _ int, ratio float64) { weights[chain] += ratio },
	})
}

// exactStates draws n states of the visible units from p(v), by enumeration.
func (m *Model) exactStates(ctx context.Context, n int) (kernels.Matrix, error) {
	if err := m.checkEnumerable(); err != nil {
		return kernels.Matrix{}, err
	}
	if m.parameters.Spec.allGaussian() {
		return kernels.Matrix{}, errors.New("exact samples of Gaussian units on both sides: samples are drawn by enumeration of one side; use AIS, or other hidden units")
	}
	return m.parameters.exactStates(ctx, n, m.seed, 0)
}

// exactStates draws n states of the visible units, with separate random numbers for each value of row.
func (p *Parameters) exactStates(ctx context.Context, n int, seed uint64, row uint32) (kernels.Matrix, error) {
	s := p.smallerSide()
	parts, err := s.logParts(ctx)
	if err != nil {
		return kernels.Matrix{}, err
	}
	few := kernels.NewMatrix(n, len(s.few))
	random := rand.New(philox.NewStream(seed, philox.Exact, row))
	for r := range n {
		part := pick(parts, random.Float64())
		copy(kernels.Row(few, r), s.state(part, pick(s.logTerms(part), random.Float64())))
	}
	if !p.hiddenFew() {
		return few, nil
	}
	c := newChains(n, p)
	w := newProducts(p)
	w.downDrawn(c.visibleInputs, few)
	place{key: philox.Key(seed), purpose: philox.Exact, layer: 1, step: row}.draw(w.seen, c.visible, c.visibleInputs)
	return c.visible, nil
}

// pick returns an index i with probability proportional to e^(logs[i]). u is a uniform random number.
func pick(logs []float64, u float64) int {
	sum := floats.LogSumExp(logs)
	for i, l := range logs {
		if u -= math.Exp(l - sum); u < 0 {
			return i
		}
	}
	return len(logs) - 1 // rounding
}

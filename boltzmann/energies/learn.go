package energies

import (
	"context"
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

var acceptanceMeasure = runs.Measure{Key: "acceptance", Name: "acceptance", Label: "accepted steps of chains", Fraction: true, Rises: true}

// aboveMeasure is the log-pseudo-likelihood of the blocks that the second machine of a stack sees.
var aboveMeasure = runs.Measure{Key: "pseudo_log_likelihood_above", Name: "log PL above", Label: "log-pseudo-likelihood of blocks", Unit: "nats", Rises: true}

// validationProbes is the number of units (or directions, for real units) from which validation estimates the
// objective of a row.
const validationProbes = 4

// measuredRows is the number of rows of a minibatch for which each step measures the free energy and the objective.
const measuredRows = 16

// Decays of Adam's running means.
const decay1, decay2 = 0.9, 0.999

// begin sets the initial parameters, given training rows, and draws the chains from the base model.
func (m *Model) begin(rows [][]float64) error {
	if m.scaling != nil {
		if err := m.scale(rows); err != nil {
			return err
		}
		m.scaling.turn(rows)
	}
	m.energy.Begin(rows, m.stream(philox.Initialize, 0, 0))
	for chain, x := range rowsOf(m.chains, m.shape.Units()) {
		m.energy.Base(x, m.stream(philox.Start, chain, 0))
	}
	if m.above != nil {
		return m.above.begin(m.below(rows[:min(len(rows), startRows)], 0))
	}
	return m.restored()
}

// startRows is the number of training rows whose blocks initialise the second machine of a stack.
const startRows = 1000

// below draws the blocks of rows of m. They are the rows of the second machine of the stack.
func (m *Model) below(rows [][]float64, step int) [][]float64 {
	blocks := make([][]float64, len(rows))
	work.Parallel(len(rows), func(r int) {
		blocks[r] = m.energy.(*convolution).pools(rows[r], m.stream(philox.Posterior, r, step))
	})
	return blocks
}

func (m *Model) scale(rows [][]float64) error {
	if m.given {
		return m.scaling.standardize(rows, m.free)
	}
	return m.scaling.whiten(rows)
}

// step takes a step of Adam along the gradient of log p of a minibatch. If there is a second machine, it takes a
// step for the blocks of the minibatch.
func (m *Model) step(ctx context.Context, t Training, b runs.Minibatch, rate float64) (runs.Measures, error) {
	rows := m.read(b.Rows, b.Index...)
	if m.above == nil {
		return m.learn(ctx, t, rows, b.Step, rate)
	}
	above := m.below(rows, b.Step)
	measured, err := m.learn(ctx, t, rows, b.Step, rate)
	if err != nil {
		return nil, err
	}
	// The first machine has moved, so the second must move, too, even if the context has been cancelled
	// meanwhile.
	of, err := m.above.learn(context.WithoutCancel(ctx), t, above, b.Step, rate)
	if err == nil {
		measured[aboveMeasure.Key] = of[runs.PseudoLikelihood.Key]
	}
	return measured, err
}

// learn takes a step of Adam along the gradient of log p of rows.
func (m *Model) learn(ctx context.Context, t Training, rows [][]float64, step int, rate float64) (runs.Measures, error) {
	measured := m.measure(ctx, rows[:min(len(rows), measuredRows)], 1, step)
	own := m.chains
	if t.Chains == 0 {
		own = slices.Concat(rows...)
	}
	chains := slices.Clone(own)
	states := rowsOf(chains, m.shape.Units())
	accepted := make([]float64, len(states))
	p, data, gradient := m.energy.Products(), [][]float64(nil), [][]float64(nil)
	work.Parallel(2, func(part int) {
		if part == 0 {
			data = m.gradient(p, rows)
			return
		}
		work.Parts(len(states), partRows, func(first, last int) {
			streams := lists.N(last-first, func(chain int) *rand.Rand { return m.stream(philox.Negative, first+chain, step) })
			for range t.Steps {
				if ctx.Err() == nil {
					floats.AddScaled(accepted[first:last], 1/float64(t.Steps), p.Sweeps(states[first:last], streams, false))
				}
			}
		})
		gradient = m.gradient(p, states)
	})
	for i, g := range gradient {
		floats.SubTo(g, data[i], g)
	}
	if e, is := m.energy.(*convolution); is {
		e.restrain(gradient, data)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.descend(gradient, rate, step+1)
	if t.Chains > 0 {
		m.chains = chains
	}
	if e, is := m.energy.(*meanCovariance); is {
		mean := floats.Sum(accepted) / float64(len(accepted))
		measured[acceptanceMeasure.Key] = mean
		return measured, e.adapt(mean)
	}
	return measured, nil
}

// partRows is the number of rows whose gradients or chain steps are computed together. Parts do not depend on the
// number of processors, so neither do sums.
const partRows = 128

func parts(rows int) int { return (rows + partRows - 1) / partRows }

// gradient returns the mean of ∂F/∂θ over rows, one slice per parameter.
func (m *Model) gradient(p products, rows [][]float64) [][]float64 {
	sums := make([][][]float64, parts(len(rows)))
	work.Parallel(len(sums), func(part int) {
		sums[part] = m.zeros()
		p.Gradients(sums[part], 1/float64(len(rows)), rows[part*partRows:min(len(rows), (part+1)*partRows)])
	})
	for _, sum := range sums[1:] {
		for i, g := range sum {
			floats.Add(sums[0][i], g)
		}
	}
	return sums[0]
}

// zeros returns a slice of zeros for each parameter.
func (m *Model) zeros() [][]float64 {
	return lists.Map(m.energy.Parameters(), func(p parameter) []float64 { return make([]float64, p.Size()) })
}

// descend takes the given step of Adam, counted from 1, against a gradient.
func (m *Model) descend(gradient [][]float64, rate float64, step int) {
	rate *= math.Sqrt(1-math.Pow(decay2, float64(step))) / (1 - math.Pow(decay1, float64(step)))
	from := 0
	for i, p := range m.energy.Parameters() {
		if n := p.Size(); p.Rate > 0 {
			means, squares := m.first[from:from+n], m.second[from:from+n]
			work.Parts(n, valuesTogether, func(first, last int) {
				for j := first; j < last; j++ {
					g := gradient[i][j]
					means[j] = decay1*means[j] + (1-decay1)*g
					squares[j] = decay2*squares[j] + (1-decay2)*g*g
					p.Wide[j] -= p.Rate * rate * means[j] / (math.Sqrt(squares[j]) + 1e-8)
				}
			})
		}
		from += p.Size()
	}
}

// valuesTogether is the number of values of a parameter that one processor changes at a time.
const valuesTogether = 1 << 14

// measure returns the means over rows, multiplied by their shares if there are any, of the free energy and of the objective. It estimates the objective from a
// number of probes per row.
func (m *Model) measure(ctx context.Context, rows [][]float64, probes, step int, shares ...float64) runs.Measures {
	energies, objective := make([]float64, len(rows)), make([]float64, len(rows))
	work.Parallel(len(rows), func(r int) {
		if ctx.Err() == nil {
			energies[r] = m.energy.FreeEnergy(rows[r])
			objective[r] = m.objective(slices.Clone(rows[r]), energies[r], probes, r, step)
		}
	})
	if shares != nil {
		floats.Mul(energies, shares)
		floats.Mul(objective, shares)
	}
	key := runs.PseudoLikelihood.Key
	if m.scaling != nil {
		key = runs.Score.Key
	}
	return runs.Measures{runs.FreeEnergy.Key: mean(energies), key: mean(objective)}
}

func mean(values []float64) float64 { return floats.Sum(values) / float64(len(values)) }

// objective estimates the log-pseudo-likelihood Σ log p(x_i|x_−i) of binary units from some of the units. For real
// units it estimates the score Σ ½(∂F/∂x_i)² − ∂²F/∂x_i² (Hyvärinen 2005) from second derivatives along random
// directions, which are vectors of ±1.
func (m *Model) objective(x []float64, energy float64, probes, row, step int) (sum float64) {
	r, units := m.stream(philox.Flip, row, step), len(m.free)
	if m.scaling == nil {
		probes = min(probes, units)
		first := r.IntN(units)
		for k := range probes {
			i := m.free[(first+k*units/probes)%units]
			x[i] = 1 - x[i]
			sum -= statistics.Softplus(energy-m.energy.FreeEnergy(x)) * float64(units) / float64(probes)
			x[i] = 1 - x[i]
		}
		return sum
	}
	e, slope, other := m.energy.(sloped), make([]float64, len(x)), make([]float64, len(x))
	e.Slope(slope, x)
	sum = floats.Dot(slope, slope) / 2
	const δ = 1e-4
	direction := make([]float64, len(x))
	for range probes {
		for _, i := range m.free {
			direction[i] = float64(2*r.IntN(2) - 1)
		}
		floats.AddScaled(x, δ, direction)
		e.Slope(slope, x)
		floats.AddScaled(x, -2*δ, direction)
		e.Slope(other, x)
		floats.AddScaled(x, δ, direction)
		floats.Sub(slope, other)
		sum -= floats.Dot(direction, slope) / (2 * δ) / float64(probes)
	}
	return sum
}

// validationStep is the step in the counters of validation draws. It is the same in each epoch, and so are the
// probes.
const validationStep = math.MaxUint32

func (m *Model) validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	x := m.read(rows)
	measured := m.measure(ctx, x, validationProbes, validationStep, rows.Shares()...)
	if m.above != nil {
		measured[aboveMeasure.Key] = m.above.measure(ctx, m.below(x, validationStep), validationProbes, validationStep, rows.Shares()...)[runs.PseudoLikelihood.Key]
	}
	return measured, ctx.Err()
}

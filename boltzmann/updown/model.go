package updown

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Model is a belief network with its recognition weights. Its methods do not change it. Methods that draw
// random numbers draw the same ones each time; WithSeed returns a model that draws different ones. Methods
// that take a dataset.Split binarise its rows as in training, whatever the binarisation of their set.
type Model struct {
	network
	shape        dataset.Shape // of v
	prior        *boltzmann.Model
	binarization dataset.Binarization
	seed         uint64           // for draws
	learner      *boltzmann.Prior // for training: shares the memory of prior
	step         int              // steps done
}

func newModel(n network, shape dataset.Shape, prior *boltzmann.Prior, e Experiment) *Model {
	return &Model{network: n, shape: shape, prior: prior.Model(), binarization: e.Dataset.Binarization, seed: e.Seed, learner: prior}
}

// WithSeed returns the same model with another seed for its draws.
func (m *Model) WithSeed(seed uint64) *Model {
	c := *m
	c.seed, c.prior = seed, m.prior.WithSeed(seed)
	return &c
}

// String names the number of units of each layer, from v upwards, and the machine on top.
func (m *Model) String() string {
	return fmt.Sprintf("a belief network of %s units below %v", names.Layers(m.units()), m.prior)
}

// observe returns rows as states of v. Stochastic binarisation draws them from the model's seed.
func (m *Model) observe(rows dataset.Split) (kernels.Matrix, error) {
	visible := m.units()[0]
	if err := runs.CheckRows(visible, true, rows); err != nil {
		return kernels.Matrix{}, err
	}
	p := &pass{states: []kernels.Matrix{kernels.NewMatrix(rows.Rows, visible)}}
	at := place{key: philox.Key(m.seed), purpose: philox.Observe}
	for r := range rows.Rows {
		p.load(rows, m.binarization, r, r, at)
	}
	return p.states[0], nil
}

// unnormalized returns an estimate of log p(v) + log Z for each row v, in nats, from a number of importance
// samples of q(h|v). The mean of the importance weights is unbiased, so its logarithm is too low in
// expectation. weights are the MeanWeights of the rows.
func (m *Model) unnormalized(ctx context.Context, v kernels.Matrix, weights []float64, samples int) ([]float64, runs.SampleSize, error) {
	units := 0
	for _, n := range m.units() {
		units += n
	}
	if limit, whose := memory.Limit(); samples < 1 || 12*float64(samples)*float64(units) > float64(limit)/8 {
		return nil, runs.SampleSize{}, fmt.Errorf("%d importance samples per row: give at least 1, and no more than fit in the memory of %s, %.3g bytes", samples, whose, float64(limit))
	}
	estimates, ess, moved, errs := make([]float64, v.Rows), make([]float64, v.Rows), make([]float64, v.Rows), make([]error, v.Rows)
	work.Parts(v.Rows, 1, func(d, _ int) {
		if ctx.Err() != nil {
			return
		}
		p, logs := m.newPass(samples), make([]float64, samples)
		for r := range samples {
			copy(kernels.Row(p.states[0], r), kernels.Row(v, d))
		}
		// Each row of data gets a separate step, since datum counts the samples of a row.
		p.rise(place{key: philox.Key(m.seed), purpose: philox.Importance, step: uint32(d)}, logs, -1)
		p.generate(logs)
		energies, err := m.prior.FreeEnergy(context.WithoutCancel(ctx), p.tops())
		if err != nil {
			errs[d] = err
			return
		}
		floats.Sub(logs, energies)
		estimates[d], ess[d], moved[d] = statistics.LogMean(logs)
	})
	return estimates, runs.MeanSampleSize(weights, runs.ErrsLow, "samples a row", samples, ess, moved), cmp.Or(errors.Join(errs...), ctx.Err())
}

// freeEnergies returns an estimate of F(v) = −log p(v) − log Z of each row in nats, from a number of importance samples.
// It is too high in expectation.
func (m *Model) freeEnergies(ctx context.Context, rows dataset.Split, samples int) ([]float64, runs.SampleSize, error) {
	v, err := m.observe(rows)
	if err != nil {
		return nil, runs.SampleSize{}, err
	}
	energies, size, err := m.unnormalized(ctx, v, rows.MeanWeights(), samples)
	floats.Scale(-1, energies)
	return energies, size.Negative(), err
}

// baseRows is the largest number of rows that determine the base-rate model for AIS of the prior.
const baseRows = 2000

// LogZ returns log Z of the prior. It is exact if one side of the prior has at most 25 units. Otherwise AIS
// estimates it; the base-rate model then has the means of h^K, drawn from q given at most 2000 of the rows
// base.
func (m *Model) LogZ(ctx context.Context, base dataset.Split, a boltzmann.Annealing, progress func(float64)) (boltzmann.LogZ, error) {
	v, err := m.observe(base.Subset(baseRows, m.seed))
	if err != nil {
		return boltzmann.LogZ{}, err
	}
	p := m.newPass(v.Rows)
	p.states[0] = v
	p.rise(place{key: philox.Key(m.seed), purpose: philox.Posterior}, make([]float64, v.Rows), 1)
	return m.prior.LogZ(ctx, p.tops(), a, progress)
}

// Evaluate estimates log p(v) of rows of a set, usually test rows, in nats, from importance samples of q and
// log Z of the prior. The samples make log p too low in expectation. If log Z comes from AIS, it makes log p
// too high in expectation. So the result can be too low or too high. FreeEnergy is −log p(v) − log Z.
// Evaluate refuses a set whose grey values the model reads differently. progress, which may be nil, is called
// with the fraction of the work done.
func (m *Model) Evaluate(ctx context.Context, set *dataset.Set, rows dataset.Split, a boltzmann.Annealing, progress func(float64)) (boltzmann.Evaluation, error) {
	if err := set.CheckValues(dataset.Spec{Binarization: m.binarization}); err != nil {
		return boltzmann.Evaluation{}, err
	}
	e := boltzmann.Evaluation{Samples: cmp.Or(a.Samples, 100), Binarization: m.binarization, DrawSeed: m.seed}
	return e.Of(set, rows, func(rows dataset.Split) ([]float64, runs.SampleSize, error) {
		return m.freeEnergies(ctx, rows, e.Samples)
	}, func() (boltzmann.LogZ, error) { return m.LogZ(ctx, set.Train(), a, progress) })
}

// Estimate returns the mean of log p(v) over rows in nats, from a number of importance samples of each row.
// LogZ estimates log Z with the published schedule, from these rows. The standard error omits the error of
// log Z. Estimate refuses rows with another number of units than the model has.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	m = m.WithSeed(seed)
	energies, size, err := m.freeEnergies(ctx, rows, samples)
	if err != nil {
		return nil, err
	}
	z, err := m.LogZ(ctx, rows, boltzmann.Annealing{}, progress)
	f := runs.EstimateOver(rows, energies)
	return runs.Estimates{runs.LogP.Key: {Value: -f.Value - float64(z.Value), SE: f.SE, SampleSize: size.Plus(z.SampleSize()).Negative()}}, err
}

// Means runs n chains of the prior for a number of sweeps, draws the layers below downwards from the last
// states, and returns the means of v.
func (m *Model) Means(ctx context.Context, n, sweeps int) (dataset.Sheet, error) {
	tops, err := m.prior.Means(ctx, n, sweeps)
	if err != nil {
		return dataset.Sheet{}, err
	}
	p, sheet := m.newPass(n), dataset.Sheet{Shape: m.shape}
	for r, means := range tops.Values {
		random := philox.NewStream(m.seed, philox.Ancestral, uint32(r))
		for k, mean := range means {
			if float64(philox.Uniform(random.Uint32())) < mean {
				kernels.Row(p.top(), r)[k] = 1
			}
		}
	}
	p.descend(place{key: philox.Key(m.seed), purpose: philox.Descend})
	for r := range n {
		image := lists.Map(kernels.Row(p.generative[0], r), func(input float32) float64 { return float64(kernels.Sigmoid(input)) })
		sheet.Values = append(sheet.Values, image)
	}
	return sheet, nil
}

// Drawings returns one drawing: the means of v, drawn downwards from the states that chains of the prior
// reach from random starts.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(boltzmann.FromChains("means", func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error) {
		return m.WithSeed(seed).Means(ctx, n, sweeps)
	}))
}

// Evaluations describes how to evaluate the model: by Evaluate, with the annealing schedule, the number of
// chains and the number of importance samples in the options. It refuses annealing options if log Z is exact.
func (m *Model) Evaluations() runs.Evaluations {
	return runs.Evaluations{Uses: []string{"schedule", "chains", "samples"}, Named: true, Evaluate: func(ctx context.Context, o runs.EvaluationOptions) (runs.Evaluation, error) {
		a, err := m.prior.AnnealingOf(o)
		if err != nil {
			return nil, err
		}
		return m.WithSeed(o.Seed).Evaluate(ctx, o.Set, o.Rows, a, o.ProgressOf("annealing"))
	}}
}

// LogPOfRows returns an estimate of log p(v) of each row in nats, from the number of importance samples in o,
// 100 by default. It also returns a description in words. It estimates log Z like LogZ, from training rows, and refuses
// annealing options if log Z is exact.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	a, err := m.prior.AnnealingOf(o)
	if err != nil {
		return nil, "", err
	}
	m = m.WithSeed(o.Seed)
	energies, size, err := m.freeEnergies(ctx, o.Rows, cmp.Or(a.Samples, 100))
	if err != nil {
		return nil, "", err
	}
	z, err := m.LogZ(ctx, o.Set.Train(), a, o.ProgressOf("annealing"))
	logP, what := boltzmann.LogPBy(energies, size, z)
	return logP, what, err
}

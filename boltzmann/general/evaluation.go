package general

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// annealingSteps is the number of equal steps of AIS.
const annealingSteps = 1000

// AIS estimates log Z by annealed importance sampling (Neal 2001) with a number of chains, at least 2. Each chain takes
// 1000 equal steps from unconnected units, with the machine's own biases, to the machine. The estimate is too
// low in expectation, so log p(v) = −F(v) − log Z is too high. progress, which may be nil, is called with the
// fraction of the work done.
func (m *Model) AIS(ctx context.Context, chains int, progress func(float64)) (boltzmann.LogZ, error) {
	if chains < 2 || chains > math.MaxUint32 {
		return boltzmann.LogZ{}, fmt.Errorf("%s of annealing: give at least 2, and fewer than 2³²", names.Count(chains, "chain"))
	}
	if err := m.checkChains(float64(chains)); err != nil {
		return boltzmann.LogZ{}, err
	}
	logs, start := make([]float64, chains), 0.0
	for _, b := range m.biases() {
		start += statistics.Softplus(b)
	}
	done := work.Meter(progress, chains)
	work.Parallel(chains, func(chain int) {
		x, c := make([]float64, m.units()), philox.Counter{Word: philox.Word{Purpose: philox.Anneal}, Datum: uint32(chain)}
		logs[chain] = start
		for k := 0; k < annealingSteps && ctx.Err() == nil; k++ {
			c.Step = uint32(k)
			m.sweep(x, m.all(), float64(k)/annealingSteps, philox.Key(m.seed), c)
			for i, on := range x {
				logs[chain] += on * floats.Dot(m.row(i), x) / 2 / annealingSteps
			}
		}
		done(1)
	})
	return boltzmann.NewLogZ(logs, runs.ErrsLow, boltzmann.Even(annealingSteps), annealingSteps), ctx.Err()
}

// bestLogZ returns log Z. It is exact if the units are enumerable, and otherwise estimated by AIS with a
// number of chains.
func (m *Model) bestLogZ(ctx context.Context, chains int, progress func(float64)) (boltzmann.LogZ, error) {
	if !m.Enumerable() {
		return m.AIS(ctx, chains, progress)
	}
	logZ, err := m.LogZ()
	return boltzmann.KnownLogZ(logZ), err
}

// Evaluate measures the model on rows of a set, usually test rows. Free energies are exact, and so is log
// p(v) if the units are enumerable. Otherwise AIS estimates log Z with a number of chains. Then log p(v) is
// too high in expectation, and its standard error covers the rows alone. Evaluate refuses a set of grey
// values or real numbers, and stochastic binarisation. progress, which may be nil, is called with the
// fraction of the work done.
func (m *Model) Evaluate(ctx context.Context, set *dataset.Set, rows dataset.Split, chains int, progress func(float64)) (boltzmann.Evaluation, error) {
	if err := checkBinarization(set.Spec().Binarization); err != nil {
		return boltzmann.Evaluation{}, err
	}
	e := boltzmann.Evaluation{Binarization: set.Spec().Binarization, DrawSeed: m.seed}
	return e.Of(set, rows, func(rows dataset.Split) ([]float64, runs.SampleSize, error) {
		energies, err := m.FreeEnergy(ctx, rows)
		return energies, runs.SampleSize{}, err
	}, func() (boltzmann.LogZ, error) { return m.bestLogZ(ctx, chains, progress) })
}

// Estimate returns the mean of log p(v) over rows, log Z and the mean free energy, in nats and with standard
// errors. It computes them like Evaluate; samples is the number of chains. It refuses rows that FreeEnergy
// refuses.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	m = m.WithSeed(seed)
	energies, err := m.FreeEnergy(ctx, rows)
	if err != nil {
		return nil, err
	}
	z, err := m.bestLogZ(ctx, samples, progress)
	f, logZ := runs.EstimateOver(rows, energies), float64(z.Value)
	return runs.Estimates{
		runs.LogP.Key:       {Value: -f.Value - logZ, SE: f.SE, SampleSize: z.SampleSize().Negative()},
		runs.LogZ.Key:       {Value: logZ, SE: float64(z.SE), SampleSize: z.SampleSize()},
		runs.FreeEnergy.Key: f,
	}, err
}

// Drawings returns one drawing: the means of visible units that chains reach from random starts.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(boltzmann.FromChains("means", func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error) {
		return m.WithSeed(seed).Means(ctx, n, sweeps)
	}))
}

// Inpainting describes how to fill in masked units, with all draws from the given seed.
func (m *Model) Inpainting() runs.Inpainting {
	return runs.Inpainting{Uses: []string{"draws"}, Sweeps: 500, Fill: func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c runs.Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error) {
		return m.WithSeed(seed).inpaint(ctx, rows, mask, chains, c, progress)
	}}
}

// Evaluations describes how to evaluate the model: by Evaluate, with the number of chains in the options, 100
// by default. It refuses annealing options if log Z is exact.
func (m *Model) Evaluations() runs.Evaluations {
	return runs.Evaluations{Uses: []string{"chains"}, Named: true, Evaluate: func(ctx context.Context, o runs.EvaluationOptions) (runs.Evaluation, error) {
		if err := m.checkAnnealing(o); err != nil {
			return nil, err
		}
		return m.WithSeed(o.Seed).Evaluate(ctx, o.Set, o.Rows, cmp.Or(o.Chains, 100), o.ProgressOf("annealing"))
	}}
}

// checkAnnealing refuses annealing options if log Z is exact.
func (m *Model) checkAnnealing(o runs.EvaluationOptions) error {
	if !m.Enumerable() {
		return nil
	}
	return boltzmann.RefuseAnnealing(o)
}

// LogPOfRows returns log p(v) = −F(v) − log Z of each row in nats, and a description in words. If the units
// are enumerable, log Z is exact. Otherwise AIS estimates it with the number of chains in o, 100 by default.
// It refuses annealing options if log Z is exact, and rows that FreeEnergy refuses.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	if err := m.checkAnnealing(o); err != nil {
		return nil, "", err
	}
	m = m.WithSeed(o.Seed)
	energies, err := m.FreeEnergy(ctx, o.Rows)
	if err != nil {
		return nil, "", err
	}
	z, err := m.bestLogZ(ctx, cmp.Or(o.Chains, 100), o.ProgressOf("annealing"))
	logP, what := boltzmann.LogPBy(energies, runs.SampleSize{}, z)
	return logP, what, err
}

// Scores returns −F(v) of each row in nats, which is exact.
func (m *Model) Scores(ctx context.Context, rows dataset.Split) ([]float64, bool, error) {
	energies, err := m.FreeEnergy(ctx, rows)
	floats.Scale(-1, energies)
	return energies, true, err
}

package updown

import (
	"cmp"
	"context"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

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
		a, err := boltzmann.AnnealingOf(o)
		if err != nil {
			return nil, err
		}
		e, err := m.WithSeed(o.Seed).Evaluate(ctx, o.Set, o.Rows, a, o.ProgressOf("annealing"))
		if err == nil {
			err = e.CheckAnnealing(o)
		}
		return e, err
	}}
}

// LogPOfRows returns an estimate of log p(v) of each row in nats, from the number of importance samples in o,
// 100 by default. It also returns a description in words. It estimates log Z like LogZ, from training rows.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	a, err := boltzmann.AnnealingOf(o)
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

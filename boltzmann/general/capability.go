package general

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

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
		e, err := m.WithSeed(o.Seed).Evaluate(ctx, o.Set, o.Rows, cmp.Or(o.Chains, 100), o.ProgressOf("annealing"))
		if err == nil {
			err = e.CheckAnnealing(o)
		}
		return e, err
	}}
}

// LogPOfRows returns log p(v) = −F(v) − log Z of each row in nats, and a description in words. If the units
// are enumerable, log Z is exact. Otherwise AIS estimates it with the number of chains in o, 100 by default.
// It refuses rows that FreeEnergy refuses.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
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

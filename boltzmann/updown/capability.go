package updown

import (
	"context"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Drawings implements runs.Sampler.
func (m *Model) Drawings() []runs.Drawing {
	return []runs.Drawing{boltzmann.ChainsMeans(func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error) {
		return m.WithSeed(seed).Means(ctx, n, sweeps)
	})}
}

// Evaluations implements runs.Evaluator.
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

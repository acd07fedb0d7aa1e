package runs

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// The interfaces below are what a model of any family may be able to do. Programs ask the model that
// ModelOf returns, and do without what it lacks.

// An Estimator is a model whose measures are estimated on rows.
type Estimator interface {
	// Estimate estimates measures by their keys on rows, with a number of samples a row, or of
	// chains, drawn by seed. progress, which may be nil, is called with the fraction of the work
	// done.
	Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (Estimates, error)
}

package factors

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Fitter fits a model with the given number of factors to rows. FitPPCA is a Fitter.
type Fitter func(rows [][]float64, factors int) (*Model, error)

// Candidate holds the criteria for one number of factors. A larger log p is better, and so are a smaller AIC
// and BIC.
type Candidate struct {
	Factors  int
	LogP     runs.Estimate // of held-out rows, in nats per row
	AIC, BIC float64       // of a fit to all rows
}

// Choice is the outcome of Choose.
type Choice struct {
	Candidates []Candidate
	// Best is the number of factors with the largest held-out log p. Sparing is the smallest number whose
	// held-out log p is at most one standard error below the best.
	Best, Sparing int
}

// Choose compares numbers of factors by cross-validation: it divides rows into random folds, drawn from
// the seed, and evaluates each fold with a model fitted to the other folds. It refuses folds in which a model drops a
// variable that a fit to all rows keeps, because their log p would be of fewer variables.
func Choose(ctx context.Context, rows [][]float64, fit Fitter, factors []int, folds int, seed uint64) (c Choice, err error) {
	if folds < 2 || folds > len(rows) {
		return c, fmt.Errorf("%d folds of %d rows: give at least 2 folds, and no more folds than rows", folds, len(rows))
	}
	if len(factors) == 0 {
		return c, fmt.Errorf("no numbers of factors: give at least one")
	}
	if err := checkRows(rows); err != nil {
		return c, err
	}
	order := rand.New(rand.NewPCG(seed, 2)).Perm(len(rows))
	for _, q := range factors {
		var logs []float64
		var fits []*Model
		for fold := range folds {
			if err := ctx.Err(); err != nil {
				return c, err
			}
			var train, held [][]float64
			for place, row := range order {
				if place%folds == fold {
					held = append(held, rows[row])
				} else {
					train = append(train, rows[row])
				}
			}
			m, err := fit(train, q)
			if err != nil {
				return c, fmt.Errorf("fold %d of %d: %w", fold+1, folds, err)
			}
			logs, fits = append(logs, m.LogP(held)...), append(fits, m)
		}
		m, err := fit(rows, q)
		if err != nil {
			return c, err
		}
		for fold, of := range fits {
			for i, ψ := range m.noise {
				if ψ > 0 && of.noise[i] == 0 {
					return c, fmt.Errorf("fold %d of %d: variable %d varies only in the held-out rows, so the fit to the other rows drops it: leave it out, or use other folds", fold+1, folds, i+1)
				}
			}
		}
		deviance, n := -2*floats.Sum(m.LogP(rows)), float64(len(rows))
		free := float64(m.Free())
		c.Candidates = append(c.Candidates, Candidate{q, runs.EstimateOf(logs), deviance + 2*free, deviance + math.Log(n)*free})
	}
	best := slices.MaxFunc(c.Candidates, func(a, b Candidate) int { return cmp.Compare(a.LogP.Value, b.LogP.Value) })
	c.Best, c.Sparing = best.Factors, best.Factors
	for _, of := range c.Candidates {
		if of.Factors < c.Sparing && of.LogP.Value >= best.LogP.Value-best.LogP.SE {
			c.Sparing = of.Factors
		}
	}
	return c, nil
}

// Free returns the number of free parameters: b, W up to a rotation, and the distinct variances of
// noise.
func (m *Model) Free() int {
	d, q := 0, m.factors
	for _, ψ := range m.noise {
		if ψ > 0 {
			d++
		}
	}
	noise := d
	if m.shared {
		noise = 1
	}
	return d + d*q - q*(q-1)/2 + noise
}

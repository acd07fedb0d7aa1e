package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
)

// Imputation returns how a model of the run draws missing values. It returns an error if the model does not.
func (r *Run) Imputation(model any) (Inpainting, error) {
	if inpainter, is := model.(Inpainter); is {
		if how := inpainter.Inpainting(); slices.Contains(how.Uses, "draws") {
			return how, nil
		}
	}
	return Inpainting{}, r.Lacks("draws no missing values given the others")
}

// Imputed describes how draws of missing values came about.
type Imputed struct {
	Again             int     // repeated draws
	Effective, Fewest float64 // mean and smallest effective sample size of the rows that importance resampling draws, or 0
	Moved             float64 // share of the Markov chains whose last sweep changed a missing unit, or 0 without chains
}

// mostRounds is the number of times that draws without a category are repeated.
const mostRounds = 100

// Impute returns the rows with their missing values drawn given the others, a number of times. Linear Gaussian models draw
// exactly. Other models draw the last states of Markov chains, a chain for each row and draw: a Helmholtz machine from p*
// with retained states, and a Boltzmann machine from p. With 0 sweeps, the chains have the suggested number. Draws in which a
// categorical column has no value or several, as machines of independent units draw them, are repeated.
// The draws then have the distribution given that each column has one value. progress, which may be nil, is called with the fraction of
// the work done.
func (i Inpainting) Impute(ctx context.Context, of *dataset.Gaps, draws, sweeps int, seed uint64, progress func(float64)) (all []dataset.Sheet, how Imputed, err error) {
	rows := of.Rows
	if err := memory.Check(fmt.Sprintf("%d draws of %d rows", draws, rows.Rows), 24*float64(draws)*float64(rows.Rows)*float64(rows.Shape.Units()), "use fewer"); err != nil {
		return nil, how, err
	}
	for range draws {
		all = append(all, dataset.Sheet{Shape: rows.Shape, Values: rows.Floats()})
	}
	chain := Chain{Sweeps: cmp.Or(sweeps, i.Sweeps), Retain: slices.Contains(i.Uses, "retain"), Draws: true}
	done := make([]int, rows.Rows) // draws of each row
	var sizes []float64
	chains := 0
	for k, gap := range of.Gaps {
		var part func(float64)
		if progress != nil {
			part = func(share float64) { progress((float64(k) + share) / float64(len(of.Gaps))) }
		}
		left := gap.Rows
		for round := 0; len(left) > 0; round++ {
			if round == mostRounds {
				return nil, how, fmt.Errorf("row %d: after %d repetitions, its draws still have no value of a categorical column or several, since the model draws its units one by one: train a Helmholtz machine with the groups of the columns (--groups data)", left[0]+1, round)
			}
			filled, err := i.Fill(ctx, of.Pick(left), gap.Mask, draws, chain, seed, part)
			if err != nil {
				return nil, how, err
			}
			sizes = append(sizes, filled.Effective...)
			how.Moved += filled.Moved * float64(len(left))
			chains += len(left)
			seed += 1 << 32 // other random numbers for each gap and round
			var next []int
			for n, r := range left {
				for _, images := range filled.Images {
					switch values := images.Values[n]; {
					case done[r] == draws:
					case of.Fits(values):
						all[done[r]].Values[r] = values
						done[r]++
					default:
						how.Again++
					}
				}
				if done[r] < draws {
					next = append(next, r)
				}
			}
			left = next
		}
	}
	if how.Moved /= float64(max(1, chains)); sizes != nil {
		how.Effective, how.Fewest = stat.Mean(sizes, nil), slices.Min(sizes)
	}
	return all, how, nil
}

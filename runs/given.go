package runs

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Given draws s.N rows from a model of the run given conditions on the columns of set, which set.ParseGiven reads. It also
// returns the number of draws among which it found these rows. A row has the distribution of the model's draws, as Fields of the
// set writes them, given that they meet the conditions. Models whose Inpainting draws from p begin with draws given the values
// of columns: Boltzmann machines by s.Chain.Sweeps sweeps or, with 0, as many as Impute, and linear Gaussian models exactly, with
// exactly the given number. Other models draw whole rows. A row then stays if it meets the conditions, and for a label y with the probability
// p(y|x), so that the rows are independent if the draws are. Given returns an error if the model cannot draw rows or has no labels,
// and if too few draws meet the conditions, about one in 10,000 or, with chains or labels, one in 1,000.
func (r *Run) Given(ctx context.Context, model any, set *dataset.Set, given []dataset.Given, s Sampling, how dataset.Writing) (rows dataset.Sheet, drawn int, err error) {
	rows.Shape = set.Shape()
	label := slices.IndexFunc(given, func(g dataset.Given) bool { return g.Column.Kind == dataset.LabelColumn })
	labeler, _ := model.(Labeler)
	draw, batch, err := r.drawsGiven(ctx, model, set, given, s)
	if err != nil {
		return rows, 0, err
	}
	rarest := 10_000 // draws for a row that are too many
	if label >= 0 || batch < 10_000 {
		rarest, batch = 1000, min(batch, max(s.N, 100)) // p(y|x) and chains need more time
	}
	for round := 0; len(rows.Values) < s.N; round++ {
		if drawn >= rarest*(len(rows.Values)+10) {
			return rows, drawn, fmt.Errorf("only %d of %s meet the conditions: widen the intervals, or use fewer conditions", len(rows.Values), names.Count(drawn, "draw"))
		}
		seed := s.Seed + uint64(round)<<32
		drawings, err := draw(batch, seed)
		if err != nil {
			return rows, drawn, err
		}
		chosen, err := set.Choose(drawings, given, how)
		if err != nil {
			return rows, drawn, err
		}
		var logs [][]float64
		if label >= 0 && len(chosen) > 0 {
			candidates := dataset.Sheet{Shape: drawings.Shape}
			for _, k := range chosen {
				candidates.Values = append(candidates.Values, drawings.Values[k])
			}
			if labeler != nil {
				logs, err = labeler.LogLabels(ctx, EvaluationOptions{Set: set, Rows: set.Rows(candidates), Seed: seed})
			}
			switch {
			case err != nil:
				return rows, drawn, err
			case logs == nil:
				return rows, drawn, r.Lacks("has no labels to be given")
			case given[label].Label >= len(logs[0]):
				return rows, drawn, fmt.Errorf("given %s=%s: the model has %d classes: give one of these", given[label].Column.Name, given[label].Value, len(logs[0]))
			}
		}
		last := len(drawings.Values)
		for i, k := range chosen {
			if logs != nil && float64(philox.Uniform(philox.Key(seed).Block(philox.Counter{Word: philox.Word{Purpose: philox.Accept}, Datum: uint32(k)})[0])) >= math.Exp(logs[i][given[label].Label]) {
				continue
			}
			if rows.Values = append(rows.Values, drawings.Values[k]); len(rows.Values) == s.N {
				last = k + 1
				break
			}
		}
		drawn += last
		if s.Progress != nil {
			s.Progress(float64(len(rows.Values)) / float64(s.N))
		}
	}
	return rows, drawn, nil
}

// drawsGiven returns a function that draws n rows, given the values of conditions if the model draws them from p, and a number
// of rows to draw at a time.
func (r *Run) drawsGiven(ctx context.Context, model any, set *dataset.Set, given []dataset.Given, s Sampling) (draw func(n int, seed uint64) (dataset.Sheet, error), batch int, err error) {
	if by, err := r.Imputation(model); err == nil && !slices.Contains(by.Uses, "candidates") {
		batch := max(s.N, 100)
		if by.Sweeps == 0 {
			batch = max(10*s.N, 10_000)
		}
		return func(n int, seed uint64) (dataset.Sheet, error) {
			known, mask := set.Clamp(given, n)
			filled, err := by.Fill(ctx, known, mask, 1, Chain{Sweeps: cmp.Or(s.Chain.Sweeps, by.Sweeps), Draws: true}, seed, nil)
			if err != nil {
				return dataset.Sheet{}, err
			}
			return filled.Images[0], nil
		}, batch, nil
	}
	if sampler, is := model.(Sampler); is {
		all := sampler.Drawings()
		if i := slices.IndexFunc(all, func(d Drawing) bool { return d.Kind == "draws" }); i >= 0 {
			return func(n int, seed uint64) (dataset.Sheet, error) {
				sheets, err := all[i].Draw(ctx, Sampling{N: n, Chain: Chain{Sweeps: cmp.Or(s.Chain.Sweeps, all[i].Sweeps)}, Seed: seed})
				if err != nil {
					return dataset.Sheet{}, err
				}
				return sheets[0], nil
			}, max(10*s.N, 10_000), nil
		}
	}
	return nil, 0, r.Lacks("draws no rows")
}

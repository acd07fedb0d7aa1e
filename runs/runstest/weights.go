package runstest

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// weights checks that the objective of weighted rows is a weighted mean, over rows or over the steps of sequences: the
// objectives of the rows at even and at odd places have the objective of all rows as their mean.
func (f Case[E, M]) weights(t *testing.T) {
	learner := must[runs.Learner](t)(f.Experiment.Learner(f.Set, must[runs.Snapshot](t)(f.Experiment.Begin(f.Set))))
	defer learner.Close()
	must[[]runs.Measures](t)(learner.Steps(t.Context(), 1, func(k int) float64 { return f.Experiment.LearningRate(k, 3) }))
	rows, objective := f.Set.Validation(), f.Experiment.Measures()[0].Key
	all := must[runs.Measures](t)(learner.Validate(t.Context(), rows))[objective]
	sum, total, parts := 0.0, 0.0, [2]float64{}
	for parity := range parts {
		count := 0.0
		rows.Weights = make([]float64, rows.Rows)
		for r := range rows.Rows {
			if r%2 == parity {
				rows.Weights[r] = 3.5
				if count++; rows.Lengths != nil {
					count += float64(rows.Lengths[r] - 1)
				}
			}
		}
		parts[parity] = must[runs.Measures](t)(learner.Validate(t.Context(), rows))[objective]
		sum, total = sum+count*parts[parity], total+count
	}
	if mean := sum / total; !(math.Abs(mean-all) <= 1e-9*max(1, math.Abs(all))) || parts[0] == parts[1] {
		t.Errorf("the objectives of the rows at even and odd places are %v, with the mean %v, but all rows have %v", parts, mean, all)
	}
}

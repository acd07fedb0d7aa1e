package runs

import (
	"context"
	"encoding/json"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Estimate is an estimate with its standard error, NaN where one datum gives none.
type Estimate struct{ Value, SE float64 }

// MarshalJSON writes numbers or null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value *float64 `json:"value"`
		SE    *float64 `json:"se"`
	}{orNull(e.Value), orNull(e.SE)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	var read struct{ Value, SE *float64 }
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*e = Estimate{orNaN(read.Value), orNaN(read.SE)}
	return nil
}

// orNaN undoes orNull.
func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

// Estimates are estimates of measures by their keys.
type Estimates map[string]Estimate

// overSeeds is the spread of estimates, one of each measure a seed.
func overSeeds(seeds []Estimates) map[string]Spread {
	over := map[string]Spread{}
	for key := range seeds[0] {
		over[key] = SpreadOf(seeds, func(e Estimates) float64 {
			if of, ok := e[key]; ok {
				return of.Value
			}
			return math.NaN()
		})
	}
	return over
}

// An Evaluator is an Experiment whose models are evaluated by samples.
type Evaluator interface {
	Experiment
	// Evaluate estimates measures of the model of a snapshot on rows, with a number
	// of samples a row drawn by seed. progress, which may be nil, is called with the
	// fraction of the work done.
	Evaluate(ctx context.Context, model Snapshot, rows dataset.Split, samples int, seed uint64, progress func(float64)) (Estimates, error)
}

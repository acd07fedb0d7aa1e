package runs

import (
	"encoding/json"
	"math"
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

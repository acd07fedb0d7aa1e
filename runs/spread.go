package runs

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Spread is the mean of a value over seeds, and its standard deviation (n − 1),
// which is NaN for one seed. JSON writes NaN as null.
type Spread struct {
	Mean, SD float64
}

// MarshalJSON writes numbers or null.
func (s Spread) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mean Float `json:"mean"`
		SD   Float `json:"sd"`
	}{Float(s.Mean), Float(s.SD)})
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (s *Spread) UnmarshalJSON(text []byte) error {
	nan := Float(math.NaN())
	read := struct{ Mean, SD Float }{nan, nan}
	err := json.Unmarshal(text, &read)
	*s = Spread{float64(read.Mean), float64(read.SD)}
	return err
}

// Text writes mean ± standard deviation with a number of decimals; the mean
// alone where there is no deviation.
func (s Spread) Text(decimals int) string {
	mean := fmt.Sprintf("%.*f", decimals, s.Mean)
	if math.IsNaN(s.SD) {
		return mean
	}
	return fmt.Sprintf("%s ± %.*f", mean, decimals, s.SD)
}

// Line is a line of an evaluation: what it is called, Text with three decimals, and the
// unit. Lines below each other align.
func (s Spread) Line(name, unit string) string {
	text := fmt.Sprintf("%10.3f", s.Mean)
	if !math.IsNaN(s.SD) { // as that of one seed or of one datum is
		text += fmt.Sprintf(" ± %.3f", s.SD)
	}
	return fmt.Sprintf("%-22s %s %s\n", name, text, unit)
}

// SpreadOf is the spread of the values of some things, without those that are NaN.
func SpreadOf[T any](of []T, value func(T) float64) Spread {
	var values []float64
	for _, one := range of {
		if v := value(one); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return Spread{math.NaN(), math.NaN()}
	}
	mean, se := statistics.MeanAndError(len(values), func(i int) float64 { return values[i] })
	return Spread{mean, se * math.Sqrt(float64(len(values)))}
}

// Estimate is an estimate with its standard error, NaN where one datum gives none.
type Estimate struct{ Value, SE float64 }

// MarshalJSON writes numbers or null.
func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Value Float `json:"value"`
		SE    Float `json:"se"`
	}{Float(e.Value), Float(e.SE)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (e *Estimate) UnmarshalJSON(text []byte) error {
	nan := Float(math.NaN())
	read := struct{ Value, SE Float }{nan, nan}
	err := json.Unmarshal(text, &read)
	*e = Estimate{float64(read.Value), float64(read.SE)}
	return err
}

// text is the estimate with its standard error, where there is one.
func (e Estimate) text() string {
	if math.IsNaN(e.SE) {
		return fmt.Sprintf("%.3f", e.Value)
	}
	return fmt.Sprintf("%.3f (± %.3f)", e.Value, e.SE)
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

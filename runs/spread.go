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
		Mean *float64 `json:"mean"`
		SD   *float64 `json:"sd"`
	}{orNull(s.Mean), orNull(s.SD)})
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (s *Spread) UnmarshalJSON(text []byte) error {
	var read struct{ Mean, SD *float64 }
	if err := json.Unmarshal(text, &read); err != nil {
		return err
	}
	*s = Spread{orNaN(read.Mean), orNaN(read.SD)}
	return nil
}

// orNull is x where it is a number, and nil, which JSON writes as null, where not.
func orNull(x float64) *float64 {
	if !statistics.Finite(x) {
		return nil
	}
	return &x
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
func (s Spread) Line(name, unit string) string { return s.line(name, unit, 3) }

// line is Line with a number of decimals.
func (s Spread) line(name, unit string, decimals int) string {
	text := fmt.Sprintf("%10.*f", decimals, s.Mean)
	if !math.IsNaN(s.SD) { // as that of one seed or of one datum is
		text += fmt.Sprintf(" ± %.*f", decimals, s.SD)
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

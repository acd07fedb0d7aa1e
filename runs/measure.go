package runs

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Measure says what a number is that training or an evaluation measures.
type Measure struct {
	Key   string `json:"key"`            // in files: log_p; of letters, digits, _ and -, in parts with dots between
	Name  string `json:"name"`           // in tables and lines: log p
	Label string `json:"label"`          // on axes: log p(x)
	Unit  string `json:"unit,omitempty"` // nats, or none
	Rises bool   `json:"rises"`          // whether more is better
	// Fraction says that it is from 0 to 1, which displays write in percent.
	Fraction bool `json:"fraction,omitempty"`
}

// StandardErrorKey ends the key of the standard error of a measure.
const StandardErrorKey = "_se"

// column is the column of the measure, of a key, of which people are told more where there is more.
func (m Measure) column(key, more string) Column {
	label := cmp.Or(m.Name, m.Key)
	if more != "" {
		label += ", " + more
	}
	return Column{Key: key, Label: label, Unit: m.Unit, Kind: Number, Decimals: m.decimals(), Fraction: m.Fraction}
}

// standardError is the column of the standard error of what the column is of.
func (c Column) standardError() Column {
	c.Key, c.Label = c.Key+StandardErrorKey, "± se"
	return c
}

// measureColumn is the column, of a key, of the measure that the second key is that
// of, and of which people are told more.
func measureColumn(measures []Measure, key, of, more string) Column {
	of, isError := strings.CutSuffix(of, StandardErrorKey)
	m := Measure{Key: of}
	if i := slices.IndexFunc(measures, func(m Measure) bool { return m.Key == of }); i >= 0 {
		m = measures[i]
	}
	c := m.column(strings.TrimSuffix(key, StandardErrorKey), more)
	if isError {
		return c.standardError()
	}
	return c
}

// decimals are those with which people read the measure: fewer where it has no unit, and of
// a fraction, in percent.
func (m Measure) decimals() int {
	switch {
	case m.Fraction:
		return 1
	case m.Unit == "":
		return 2
	}
	return 3
}

// scaled is what people multiply values of the measure by, and the unit that they then have.
func (m Measure) scaled() (scale float64, unit string) {
	if m.Fraction {
		return 100, "%"
	}
	return 1, m.Unit
}

// Better says whether value is better than another.
func (m Measure) Better(value, than float64) bool {
	if m.Rises {
		return value > than
	}
	return value < than
}

// Measures are the values of measures by their keys.
type Measures map[string]float64

// Of is the value of a measure, NaN where there is none.
func (m Measures) Of(measure Measure) float64 {
	if value, ok := m[measure.Key]; ok {
		return value
	}
	return math.NaN()
}

// finite says whether all values are.
func (m Measures) finite() bool {
	for _, value := range m {
		if !statistics.Finite(value) {
			return false
		}
	}
	return true
}

// add adds the values of others, weighted.
func (m Measures) add(weight float64, others Measures) {
	for key, value := range others {
		m[key] += weight * value
	}
}

// over returns the values divided by n.
func (m Measures) over(n float64) Measures {
	mean := Measures{}
	for key, value := range m {
		mean[key] = value / n
	}
	return mean
}

// Float is a number that JSON writes as null where it is not finite, as the standard error
// of one datum is.
type Float float64

// MarshalJSON writes a number or null.
func (f Float) MarshalJSON() ([]byte, error) {
	if !statistics.Finite(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

// UnmarshalJSON reads what MarshalJSON writes, null as NaN.
func (f *Float) UnmarshalJSON(text []byte) error {
	read := math.NaN()
	err := json.Unmarshal(text, &read)
	*f = Float(read)
	return err
}

package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Measure describes a number that training or an evaluation measures.
type Measure struct {
	Key   string `json:"key"`            // in files, such as log_p: letters, digits, _ and -, with dots between parts
	Name  string `json:"name"`           // in tables and lines, such as log p
	Label string `json:"label"`          // on axes, such as log p(x)
	Unit  string `json:"unit,omitempty"` // such as nats, or empty
	Rises bool   `json:"rises"`          // whether larger is better
	// Fraction reports whether the value lies between 0 and 1 and is displayed in percent.
	Fraction bool `json:"fraction,omitempty"`
}

// StandardErrorKey is the suffix that turns a measure's key into the key of its standard error.
const StandardErrorKey = "_se"

// column returns a column for values of the measure. If more is not empty, the label ends with it.
func (m Measure) column(key, more string) Column {
	label := cmp.Or(m.Name, m.Key)
	if more != "" {
		label += ", " + more
	}
	return Column{Key: key, Label: label, Unit: m.Unit, Kind: Number, Decimals: m.decimals(), Fraction: m.Fraction}
}

func (c Column) standardError() Column {
	c.Key, c.Label = c.Key+StandardErrorKey, "± se"
	return c
}

// measureColumn returns a column with the given key for the measure whose key is of. If of ends in
// StandardErrorKey, the column is for the measure's standard error. Otherwise the label ends with more.
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

// decimals returns the number of decimals to display. It is smaller for a measure without a unit, and
// smallest for a fraction, which is displayed in percent.
func (m Measure) decimals() int {
	switch {
	case m.Fraction:
		return 1
	case m.Unit == "":
		return 2
	}
	return 3
}

// Better reports whether value is better than the other value, than.
func (m Measure) Better(value, than float64) bool {
	if m.Rises {
		return value > than
	}
	return value < than
}

// order compares two values for slices.SortFunc, which then puts the best value first and NaN last.
func (m Measure) order(x, y float64) int {
	switch {
	case m.Better(x, y), math.IsNaN(y) && !math.IsNaN(x):
		return -1
	case m.Better(y, x), math.IsNaN(x) && !math.IsNaN(y):
		return 1
	}
	return 0
}

// Measures holds values of measures by key.
type Measures map[string]float64

// Of returns the value of a measure, or NaN if there is none.
func (m Measures) Of(measure Measure) float64 {
	if value, ok := m[measure.Key]; ok {
		return value
	}
	return math.NaN()
}

func (m Measures) finite() bool {
	for _, value := range m {
		if !statistics.Finite(value) {
			return false
		}
	}
	return true
}

func (m Measures) add(weight float64, others Measures) {
	for key, value := range others {
		m[key] += weight * value
	}
}

func (m Measures) over(n float64) Measures {
	mean := Measures{}
	for key, value := range m {
		mean[key] = value / n
	}
	return mean
}

// Float is a number that JSON writes as null if it is not finite, like the standard error of a
// single row.
type Float float64

// Format formats a Float like a float64, except that %f gives numbers from ten million on, which only a diverged
// training reaches, four significant digits.
func (f Float) Format(s fmt.State, verb rune) {
	format := fmt.FormatString(s, verb)
	if before, _, found := strings.Cut(format, "."); found && verb == 'f' && math.Abs(float64(f)) >= 1e7 {
		format = before + ".4g"
	}
	fmt.Fprintf(s, format, float64(f))
}

func (f Float) MarshalJSON() ([]byte, error) {
	if !statistics.Finite(float64(f)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(f))
}

func (f *Float) UnmarshalJSON(text []byte) error {
	read := math.NaN()
	err := json.Unmarshal(text, &read)
	*f = Float(read)
	return err
}

// Spread is the mean of a value over seeds and its standard deviation (with n − 1), which is NaN
// for one seed. JSON writes NaN as null.
type Spread struct {
	Mean, SD float64
}

func (s Spread) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Mean Float `json:"mean"`
		SD   Float `json:"sd"`
	}{Float(s.Mean), Float(s.SD)})
}

func (s *Spread) UnmarshalJSON(text []byte) error {
	nan := Float(math.NaN())
	read := struct{ Mean, SD Float }{nan, nan}
	err := json.Unmarshal(text, &read)
	*s = Spread{float64(read.Mean), float64(read.SD)}
	return err
}

// Text returns mean ± standard deviation with the given number of decimals, or the mean alone if there is one seed or
// all seeds have the same value.
func (s Spread) Text(decimals int) string {
	return s.text(0, decimals)
}

func (s Spread) text(width, decimals int) string {
	text := fmt.Sprintf("%*.*f", width, decimals, Float(s.Mean))
	if !(s.SD > 0) { // NaN for one seed or one row
		return text
	}
	return text + fmt.Sprintf(" ± %.*f", decimals, Float(s.SD))
}

// line returns a line of an evaluation: a name, the spread with the given number of decimals, and the unit.
// Consecutive lines align.
func (s Spread) line(name, unit string, decimals int) string {
	return fmt.Sprintf("%-22s %s %s\n", name, s.text(10, decimals), unit)
}

// SpreadOf returns the spread of value(x) over all items x, ignoring NaN.
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
	if len(values) > 1 && slices.Min(values) == slices.Max(values) {
		return Spread{values[0], 0} // without rounding
	}
	mean, se := statistics.MeanAndErrorOf(values)
	return Spread{mean, se * math.Sqrt(float64(len(values)))}
}

// Estimate is an estimate with its standard error, which is NaN for a single row. SampleSize describes the samples or
// chains behind the estimate. If they are few, texts omit the standard error.
type Estimate struct {
	Value, SE  float64
	SampleSize SampleSize
}

type estimateJSON struct {
	Value      Float      `json:"value"`
	SE         Float      `json:"se"`
	SampleSize SampleSize `json:"sample_size,omitzero"`
}

func (e Estimate) MarshalJSON() ([]byte, error) {
	return json.Marshal(estimateJSON{Float(e.Value), Float(e.SE), e.SampleSize})
}

func (e *Estimate) UnmarshalJSON(text []byte) error {
	nan := Float(math.NaN())
	read := estimateJSON{Value: nan, SE: nan}
	err := json.Unmarshal(text, &read)
	*e = Estimate{float64(read.Value), float64(read.SE), read.SampleSize}
	return err
}

// EstimateOf returns the mean of values with its standard error.
func EstimateOf(values []float64) (e Estimate) {
	e.Value, e.SE = statistics.MeanAndErrorOf(values)
	return e
}

// EstimateOver is like EstimateOf for the values of rows, or of those at the given indices, which count by
// Split.MeanWeights.
func EstimateOver(rows dataset.Split, values []float64, those ...int) (e Estimate) {
	weights := rows.MeanWeights()
	if those != nil && weights != nil {
		all := weights
		weights = nil
		for _, r := range those {
			weights = append(weights, all[r])
		}
	}
	e.Value, e.SE = statistics.Weighted(weights, values)
	return e
}

// Text returns the value ± its standard error with the given number of decimals. It returns a bound in words if the
// samples are few, and the value alone if the standard error is NaN.
func (e Estimate) Text(decimals int) string {
	if e.SampleSize.Few() {
		return e.SampleSize.Errs.bound() + " " + fmt.Sprintf("%.*f", decimals, Float(e.Value))
	}
	return Spread{e.Value, e.SE}.Text(decimals)
}

// text returns Text with the standard error in parentheses, which distinguish it from a standard deviation.
func (e Estimate) text() string {
	value, se, is := strings.Cut(e.Text(3), " ± ")
	if is {
		value += " (± " + se + ")"
	}
	return value
}

// shown returns the standard error, or NaN if the samples are few.
func (e Estimate) shown() float64 {
	if e.SampleSize.Few() {
		return math.NaN()
	}
	return e.SE
}

// Estimates holds estimates of measures by key.
type Estimates map[string]Estimate

// Values returns the estimates without their errors.
func (e Estimates) Values() Measures {
	values := Measures{}
	for key, of := range e {
		values[key] = of.Value
	}
	return values
}

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

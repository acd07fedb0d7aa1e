package runs

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// Finding is one result of an evaluation. It fills one column of the table. An estimate of a measure fills
// a second column with its standard error. A finding can also be a line of the text, and be
// averaged over seeds.
type Finding struct {
	Measure Measure // for an estimate; its standard error has a separate column
	Column  Column  // for any other result; an estimate uses only Decimals, where 0 means 3, or 2 for a fraction
	Value   any     // a cell of the table; nil or a nil pointer if it is missing
	SE      any     // the standard error of an estimate

	Text   string // label of the line in texts; empty for no line
	Unit   string // unit of the line, if it differs from the unit in the table
	Remark string // written after the unit in the text of an evaluation
	Bare   bool   // omits the standard error from the line
	// SampleSize describes the samples or chains behind an estimate. If they are few, the line and the table have no
	// standard error, and the line says which bound the estimate is.
	SampleSize SampleSize
	// Seeds is the key of the average over seeds, or "" for none. Untold omits the average from the
	// text. If Value is nil, there is no average; if Value is a nil pointer, the average is NaN.
	Seeds  string
	Untold bool
}

// Findings are the results of an evaluation, in the order of its table.
type Findings []Finding

func (f Finding) column() Column {
	m := f.Measure
	if m.Key == "" {
		return f.Column
	}
	decimals := 3
	if m.Fraction {
		decimals = 2
	}
	return Column{Key: m.Key, Label: m.Name, Unit: m.Unit, Kind: Number, Decimals: cmp.Or(f.Column.Decimals, decimals), Fraction: m.Fraction}
}

// display returns the factor by which a line multiplies values, and their unit.
func (f Finding) display() (scale float64, unit string) {
	if c := f.column(); !c.Fraction {
		return 1, cmp.Or(f.Unit, c.Unit)
	}
	return 100, cmp.Or(f.Unit, "%")
}

// floating returns value, a number or a pointer to a number. If value is nil or a nil pointer, it returns
// NaN and false.
func floating(value any) (x float64, there bool) {
	of := reflect.Indirect(reflect.ValueOf(value))
	if !of.IsValid() {
		return math.NaN(), false
	}
	return of.Float(), true
}

// String returns one line per finding that has a Text and a value.
func (all Findings) String() string {
	var b strings.Builder
	for _, f := range all {
		if f.Text == "" {
			continue
		}
		value, there := floating(f.Value)
		se, _ := floating(f.SE)
		if f.Bare || f.SampleSize.Few() {
			se = math.NaN()
		}
		if scale, unit := f.display(); there {
			b.WriteString(Spread{scale * value, scale * se}.line(f.Text, unit+f.Remark+names.Clause(f.SampleSize.String()), max(3, f.Column.Decimals)))
		}
	}
	return b.String()
}

// Table returns a table with one row and a column for each finding. An estimate has a second column with its standard
// error. more has the findings of further rows, with the same keys.
func (all Findings) Table(more ...Findings) *Table {
	var t *Table
	for _, of := range slices.Concat([]Findings{all}, more) {
		var columns []Column
		var row []any
		for _, f := range of {
			c := f.column()
			if f.SampleSize.Few() {
				f.SE = nil
			}
			columns, row = append(columns, c), append(row, f.Value)
			if f.Measure.Key != "" {
				columns, row = append(columns, c.standardError()), append(row, f.SE)
			}
		}
		if t == nil {
			t = NewTable("evaluation", "", columns...)
		}
		t.Add(row...)
	}
	return t
}

// MarshalJSON writes an object with the row of the table. A missing or infinite value is null.
func (all Findings) MarshalJSON() ([]byte, error) {
	t, of := all.Table(), map[string]any{}
	for i, c := range t.columns {
		cell := t.rows[0][i]
		if x, is := cell.(float64); is {
			cell = Float(x)
		}
		of[c.Key] = cell
	}
	by := SampleSizes{}
	for _, f := range all {
		if f.SampleSize.Of != "" {
			of["sample_size"], by[f.column().Key] = by, f.SampleSize
		}
	}
	return json.Marshal(of)
}

// Estimates returns the estimates that are averaged over seeds, by Finding.Seeds.
func (all Findings) Estimates() Estimates {
	of := Estimates{}
	for _, f := range all {
		if f.Seeds == "" || f.Measure.Key == "" {
			continue
		}
		if value, there := floating(f.Value); there {
			se, _ := floating(f.SE)
			of[f.Seeds] = Estimate{value, se, f.SampleSize}
		}
	}
	return of
}

package runs

import (
	"cmp"
	"encoding/json"
	"math"
	"reflect"
	"strings"
)

// Finding is one thing that an evaluation says: a column of its table or two, and maybe a line of its
// text, an estimate of a measure, and a quantity over seeds.
type Finding struct {
	Measure Measure // of an estimate, whose standard error has a column of its own
	Column  Column  // of anything else; of an estimate its Decimals, if they are not the usual 3, or 2 of a fraction
	Value   any     // a cell, nil or a nil pointer if there is none
	SE      any     // the standard error of an estimate

	Text   string // what its line in texts is called; empty for none
	Unit   string // of the line, if it is another than the table has
	Remark string // is written behind the unit, in the text of an evaluation
	Bare   bool   // says that the line lacks the standard error
	// Seeds is the key of the quantity that has a mean over seeds, empty for none, and Untold says that
	// the text of these means leaves it out. Quantities without a Value are not there, or NaN if it is a
	// nil pointer.
	Seeds  string
	Untold bool
}

// Findings are what an evaluation says, in the order of its table.
type Findings []Finding

// column returns the column of the value.
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

// display returns what a line multiplies values by, and their unit.
func (f Finding) display() (scale float64, unit string) {
	if c := f.column(); !c.Fraction {
		return 1, cmp.Or(f.Unit, c.Unit)
	}
	return 100, cmp.Or(f.Unit, "%")
}

// floating returns a number or what a pointer points to, NaN if there is none.
func floating(value any) (x float64, there bool) {
	of := reflect.Indirect(reflect.ValueOf(value))
	if !of.IsValid() {
		return math.NaN(), false
	}
	return of.Float(), true
}

// String has a line for each finding with a Text and a value.
func (all Findings) String() string {
	var b strings.Builder
	for _, f := range all {
		if f.Text == "" {
			continue
		}
		value, there := floating(f.Value)
		se, _ := floating(f.SE)
		if f.Bare {
			se = math.NaN()
		}
		if scale, unit := f.display(); there {
			b.WriteString(Spread{scale * value, scale * se}.line(f.Text, unit+f.Remark, max(3, f.Column.Decimals)))
		}
	}
	return b.String()
}

// Table has one row.
func (all Findings) Table() *Table {
	var columns []Column
	var row []any
	for _, f := range all {
		c := f.column()
		columns, row = append(columns, c), append(row, f.Value)
		if f.Measure.Key != "" {
			c.Key, c.Label = c.Key+StandardErrorKey, "± se"
			columns, row = append(columns, c), append(row, f.SE)
		}
	}
	t := NewTable("evaluation", "", columns...)
	t.Add(row...)
	return t
}

// MarshalJSON writes the row of the table as an object.
func (all Findings) MarshalJSON() ([]byte, error) {
	t, of := all.Table(), map[string]any{}
	for i, c := range t.columns {
		of[c.Key] = t.rows[0][i]
	}
	return json.Marshal(of)
}

// Quantities lists what has a mean over seeds.
func (all Findings) Quantities() (over []Quantity) {
	for _, f := range all {
		if f.Seeds == "" || f.Value == nil {
			continue
		}
		q := Quantity{Key: f.Seeds}
		q.Value, _ = floating(f.Value)
		if !f.Untold {
			q.Name = f.Text
			q.Scale, q.Unit = f.display()
		}
		over = append(over, q)
	}
	return over
}

// Estimates returns the estimates that have a mean over seeds, by its keys.
func (all Findings) Estimates() Estimates {
	of := Estimates{}
	for _, f := range all {
		if f.Seeds == "" || f.Measure.Key == "" {
			continue
		}
		if value, there := floating(f.Value); there {
			se, _ := floating(f.SE)
			of[f.Seeds] = Estimate{value, se}
		}
	}
	return of
}

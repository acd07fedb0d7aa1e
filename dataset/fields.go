package dataset

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// Writing is how Fields writes numbers.
type Writing struct {
	Within bool // moves numbers into the range from the least to the greatest number of their column in the training file
	Exact  bool // keeps all digits of numbers, such as means, instead of the number of decimals in the training file
}

// WriteCSV writes rows of units, such as draws from a model, as a table with the columns of the set: see Fields. If no
// column has a name but its number, there is no header. Rows of a set without columns become lines of their numbers,
// without a header.
func (s *Set) WriteCSV(w io.Writer, rows Sheet) error {
	columns, fields, err := s.Fields(rows, Writing{})
	if err != nil {
		return err
	}
	return WriteCSV(w, columns, fields, ',')
}

// WriteCSV writes the fields of rows, between separators, with the names of their columns as a header, unless all names are
// only numbers.
func WriteCSV(w io.Writer, columns []Column, fields [][]string, separator rune) error {
	table := csv.NewWriter(w)
	table.Comma = separator
	if !areNumbered(columns) {
		var header []string
		for _, c := range columns {
			header = append(header, c.Name)
		}
		fields = append([][]string{header}, fields...)
	}
	return table.WriteAll(fields)
}

// Fields returns the columns of the set that have units, and the fields of rows of units, such as draws from a model.
// A field is the value of its column, or the most probable value if the units are probabilities. Categories without
// names are numbered from 1. In a column with Rest, a field is empty if it is most probable that all units of the column
// are 0. A number has as many decimals as the numbers of the training file, and a range is written as in Column.Values;
// ReadRows reads both again. Without columns, each unit is a field; grey levels are numbers from 0 to 1, unless Largest
// is given. Fields returns an error for sequences, for rows that do not fit the columns or hold NaN, and for draws of
// categorical columns with no category or several.
func (s *Set) Fields(rows Sheet, how Writing) (columns []Column, fields [][]string, err error) {
	if s.train.Lengths != nil {
		return nil, nil, fmt.Errorf("the rows of %s are sequences, not rows of a table: write a picture", s.Name())
	}
	if rows.Shape != s.Shape() {
		return nil, nil, fmt.Errorf("rows have shape %v, but the rows of %s have shape %v", rows.Shape, s.Name(), s.Shape())
	}
	if err := rows.Check(); err != nil {
		return nil, nil, err
	}
	largest := cmp.Or(s.spec.Largest, 1)
	bits := s.columns != nil && !s.train.AreReal() && (s.spec.Binarization == Fixed || s.spec.Binarization == Drawn || !s.train.AreGrey() && !s.scale.Gray)
	for _, c := range s.unitColumns() {
		switch {
		case c.Values != nil:
		case c.Kind == BinaryColumn && s.spec.Largest != 0 && !bits:
			c.Kind = RealColumn // divided by the largest number, although it is 0 or 1
		case c.Kind == BinaryColumn || c.Kind == RealColumn && bits: // 0 and 1, or spins
			c.Kind, c.Values = BinaryColumn, []string{"0", number(largest)}
			if s.spins {
				c.Values[0] = "-1"
			}
		}
		if err := c.checkDraws(rows.Values); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Name(), err)
		}
		columns = append(columns, c)
	}
	for _, row := range s.Original(rows).Values {
		line := make([]string, len(columns))
		for i, c := range columns {
			units := row[c.First : c.First+c.Units]
			if c.Kind != RealColumn || c.Values != nil {
				line[i] = c.field(units)
				continue
			}
			v := units[0] * largest
			if s.columns == nil && s.spins {
				v = 2*v - 1
			}
			if c.Numbers != nil && how.Within {
				v = min(max(v, c.Numbers.Least), c.Numbers.Greatest)
			}
			if line[i] = number(v); !c.Log {
				line[i] = s.numberOf(c.First, v)
			}
			if c.Numbers != nil && !how.Exact && decimalsOf(line[i]) > c.Numbers.Decimals {
				line[i] = rounded(v, c.Numbers.Decimals)
			}
		}
		fields = append(fields, line)
	}
	return columns, fields, nil
}

// UnitNames returns a name for each unit of a row: the name of its column, with the value for which the unit stands if the column has
// several units.
func (s *Set) UnitNames() (all []string) {
	for _, c := range s.unitColumns() {
		for k := range c.Units {
			name := c.Name
			if c.Units > 1 {
				units := make([]float64, c.Units)
				units[k] = 1
				name += "=" + c.field(units)
			}
			all = append(all, name)
		}
	}
	return all
}

// unitColumns returns the columns that have units, or a column of numbers for each unit if there are none.
func (s *Set) unitColumns() (columns []Column) {
	for _, c := range s.Columns() {
		if c.Units > 0 {
			columns = append(columns, c)
		}
	}
	if s.columns == nil {
		for _, c := range s.fields {
			if c.Units == 1 && s.spec.Shape == "" {
				columns = append(columns, c)
			}
		}
		for i := len(columns); i < s.Shape().Units(); i++ {
			columns = append(columns, Column{Name: strconv.Itoa(i + 1), Kind: RealColumn, First: i, Units: 1})
		}
	}
	return columns
}

// rounded writes a number with a number of decimals.
func rounded(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-")
	}
	return text
}

// areNumbered reports whether the columns have no names but their numbers, as in a file without a header.
func areNumbered(columns []Column) bool {
	for i, c := range columns {
		if c.Name != strconv.Itoa(i+1) {
			return false
		}
	}
	return len(columns) > 0
}

// checkDraws refuses rows whose units of a categorical column are 0 or 1, like draws, but which have no category or
// several: writing one of them would change the frequencies of the categories.
func (c Column) checkDraws(rows [][]float64) error {
	if c.Kind == BinaryColumn || c.Units < 2 {
		return nil
	}
	none, several := 0, 0
	for _, row := range rows {
		on, drawn := 0, true
		for _, v := range row[c.First : c.First+c.Units] {
			drawn = drawn && (v == 0 || v == 1)
			if v == 1 {
				on++
			}
		}
		switch {
		case !drawn:
		case on == 0 && !c.Rest:
			none++
		case on > 1:
			several++
		}
	}
	if none+several == 0 {
		return nil
	}
	return fmt.Errorf("of %d draws, %d have no value of the column %q and %d have several, since the model draws its units one by one: train a Helmholtz machine with the groups of the columns (--groups data), or write means and most probable values (--kind means)",
		len(rows), none, c.Name, several)
}

// numberOf writes a number of a unit: with the digits that a float32 needs or, if the set is standardised, to a
// millionth of the standard deviation.
func (s *Set) numberOf(unit int, x float64) string {
	if s.scalingOf(unit) == (scaling{0, 1}) {
		return number(x)
	}
	decimals := 6 - int(math.Floor(math.Log10(s.scalings[unit].SD)))
	step := math.Pow(10, float64(-decimals))
	if decimals > 20 || math.Abs(x) > 1<<53*step || math.Abs(x) >= 1e21 {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	text := strconv.FormatFloat(math.Round(x/step)*step+0, 'f', max(decimals, 0), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimSuffix(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// number writes a number with the digits that a float32 needs.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 32)
	if len(text) > 20 {
		text = strconv.FormatFloat(x, 'g', -1, 32)
	}
	return text
}

func (c Column) field(units []float64) string {
	name := func(k int) string {
		if k < len(c.Values) {
			return c.Values[k]
		}
		return strconv.Itoa(k + 1)
	}
	if c.Kind == BinaryColumn {
		if units[0] >= 0.5 {
			return name(1)
		}
		return name(0)
	}
	chosen, none := 0, 1.0
	for k, p := range units {
		if none -= p; p > units[chosen] {
			chosen = k
		}
	}
	if c.Rest && none > units[chosen] {
		return ""
	}
	return name(chosen)
}

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

// WriteCSV writes rows of units, such as draws from a model, as a table with the columns of the set.
// A field is the value of its column, or the most probable value if the units are probabilities.
// Categories without names are numbered from 1. In a column with Rest, a field is empty if it is
// most probable that all units of the column are 0. A range is written as in Column.Values, and
// ReadRows reads it again. If no column has a name but its number, there is no header. Rows of a set
// without columns become lines of their numbers, without a header; grey levels are numbers from 0 to 1, unless Largest is given. WriteCSV returns an error for sequences, for rows that do not fit the columns or hold NaN,
// and for draws of categorical columns with no category or several.
func (s *Set) WriteCSV(w io.Writer, rows Sheet) error {
	if s.train.Lengths != nil {
		return fmt.Errorf("the rows of %s are sequences, not rows of a table: write a picture", s.Name())
	}
	if rows.Shape != s.Shape() {
		return fmt.Errorf("rows have shape %v, but the rows of %s have shape %v", rows.Shape, s.Name(), s.Shape())
	}
	if err := rows.Check(); err != nil {
		return err
	}
	if s.columns == nil {
		return s.writeNumbers(csv.NewWriter(w), rows)
	}
	columns, largest := s.Columns(), cmp.Or(s.spec.Largest, 1)
	bits := s.train.Reals == nil && isBinary(s.train.Values)
	var header []string
	for i := range columns {
		c := &columns[i]
		if c.Units > 0 {
			header = append(header, c.Name)
		}
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
	}
	for _, c := range columns {
		if err := c.checkDraws(rows.Values); err != nil {
			return fmt.Errorf("%s: %w", s.Name(), err)
		}
	}
	table := csv.NewWriter(w)
	var err error
	if !areNumbered(columns) {
		err = table.Write(header)
	}
	for _, row := range s.Original(rows).Values {
		var fields []string
		for _, c := range columns {
			if c.Units > 0 {
				units := row[c.First : c.First+c.Units]
				if c.Kind == RealColumn && c.Values == nil {
					fields = append(fields, s.numberOf(c.First, units[0]*largest))
					continue
				}
				fields = append(fields, c.field(units))
			}
		}
		if err == nil {
			err = table.Write(fields)
		}
	}
	table.Flush()
	if err != nil {
		return err
	}
	return table.Error()
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

// writeNumbers writes a line for each row. Grey levels become numbers from 0 to 1, unless Largest is given.
func (s *Set) writeNumbers(table *csv.Writer, rows Sheet) error {
	for _, row := range s.Original(rows).Values {
		var fields []string
		for i, v := range row {
			if v *= cmp.Or(s.spec.Largest, 1); s.spins {
				v = 2*v - 1
			}
			fields = append(fields, s.numberOf(i, v))
		}
		if err := table.Write(fields); err != nil {
			return err
		}
	}
	table.Flush()
	return table.Error()
}

// numberOf writes a number of a unit: with the digits that a float32 needs or, if the set is standardised, to a
// millionth of the standard deviation.
func (s *Set) numberOf(unit int, x float64) string {
	if s.scalings == nil || s.scalings[unit] == (scaling{0, 1}) {
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

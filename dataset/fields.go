package dataset

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
)

// WriteCSV writes rows of units, such as draws from a model, as a table with the columns of the set.
// A field is the value of its column, or the most probable value if the units are probabilities.
// Categories without names are numbered from 1. In a column with Rest, a field is empty if it is
// most probable that all units of the column are 0. A range is written as in Column.Values, and
// ReadRows reads it again. WriteCSV returns an error for a set without columns, for rows that do not
// fit the columns or hold NaN, and for draws of categorical columns with no category or several.
func (s *Set) WriteCSV(w io.Writer, rows Sheet) error {
	if s.columns == nil && s.spec.Shape != "" {
		return fmt.Errorf("the rows of %s are images, and have no columns, because of shape = %q (--shape): write images, or open a table without shape", s.Name(), s.spec.Shape)
	}
	if s.columns == nil {
		return fmt.Errorf("%s is not a table, and has no columns: write images", s.Name())
	}
	if rows.Shape != s.Shape() {
		return fmt.Errorf("rows have shape %v, but the rows of %s have shape %v", rows.Shape, s.Name(), s.Shape())
	}
	if err := rows.Check(); err != nil {
		return err
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
	err := table.Write(header)
	for _, row := range s.Original(rows).Values {
		var fields []string
		for _, c := range columns {
			if c.Units > 0 {
				units := row[c.First : c.First+c.Units]
				if c.Kind == RealColumn && c.Values == nil {
					units = []float64{units[0] * largest}
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

// number writes a number with the digits that a float32 needs.
func number(x float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 32)
	if len(text) > 20 {
		text = strconv.FormatFloat(x, 'g', -1, 32)
	}
	return text
}

func (c Column) field(units []float64) string {
	if c.Kind == RealColumn && c.Values == nil {
		return number(units[0])
	}
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

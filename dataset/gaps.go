package dataset

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/work"
)

// Gaps holds the rows of a table in which fields may be missing.
type Gaps struct {
	Rows    Split    // the rows, with some value of the column in place of each missing one
	Gaps    []Gap    // the missing values
	Columns []Column // the columns of the file in its order, and then columns with units that it lacks
	Absent  []string // the names of the columns with units that the file lacks
	Missing int      // number of missing fields in columns with units
	Labels  int      // number of missing labels

	set     *Set
	table   *table
	order   []int      // the column of the set of each of Columns
	fields  [][]string // the fields of each row as they are in the file
	missing [][]bool   // for each row and each column of the set, whether the value is missing
	comma   bool       // whether numbers have a decimal comma
}

// Gap is a set of missing units, and the rows in which exactly these units are missing.
type Gap struct {
	Mask Mask
	Rows []int // indices into the rows of the file
}

// ReadGaps is like ReadRows, but fields may be missing: empty, NA, or another code that ReadRows refuses. A column that
// the header of the file lacks is missing in all rows. ReadGaps ignores labels. It returns an error for data that is not
// a table with columns.
func (s *Set) ReadGaps(path string) (*Gaps, error) {
	if s.fields == nil {
		return nil, fmt.Errorf("the rows of %s are not a table with columns, in whose fields values could be missing: train on a table, such as a CSV file with a header", s.Name())
	}
	return work.Interruptible(func() (g *Gaps, err error) {
		g = &Gaps{set: s}
		if g.Rows, err = s.readRows(path, g); err != nil {
			return nil, err
		}
		places := map[string]int{}
		for r, missing := range g.missing {
			key := fmt.Sprint(missing)
			if _, known := places[key]; !known && slices.Contains(missing, true) {
				mask := make(Mask, g.Rows.Shape.Units())
				for i, c := range s.fields {
					for k := range c.Units {
						mask[c.First+k] = missing[i]
					}
				}
				places[key], g.Gaps = len(g.Gaps), append(g.Gaps, Gap{Mask: mask})
			}
			if place, is := places[key]; is {
				g.Gaps[place].Rows = append(g.Gaps[place].Rows, r)
			}
		}
		return g, nil
	})
}

// begin makes t read rows with gaps, and the identifiers that formats of tables would skip.
func (g *Gaps) begin(t *table) {
	g.table, t.gaps = t, g
	maps.DeleteFunc(t.kinds, func(_ string, of given) bool { return of.kind == IdentifierColumn })
}

// end returns the columns by which the rows become units, after the file was read.
func (g *Gaps) end() (columns []Column) {
	t := g.table
	g.order = slices.Clone(t.order)
	for i, c := range t.like {
		if of := &t.columns[i]; of.absent && c.Units > 0 {
			g.Absent, of.absent, g.order = append(g.Absent, c.Name), false, append(g.order, i)
		} else if t.order == nil {
			g.order = append(g.order, i)
		}
		if c.Kind == LabelColumn {
			c.Kind, c.Values = SkippedColumn, nil
		}
		columns = append(columns, c)
	}
	for _, i := range g.order {
		g.Columns = append(g.Columns, t.like[i])
	}
	return columns
}

// add begins row r with the fields of the file.
func (g *Gaps) add(r int, record []string) {
	fields := make([]string, len(record))
	for i, field := range record {
		fields[i] = strings.Clone(field)
	}
	g.fields, g.missing = slices.Insert(g.fields, r, fields), slices.Insert(g.missing, r, make([]bool, len(g.table.like)))
}

// filled returns a field of column i in row r or, if it is missing, a value of the column.
func (g *Gaps) filled(i, r int, field string) string {
	t, c := g.table, g.table.like[i]
	v, is := t.numberIn(field)
	switch {
	case !t.isMissing(field, v, is) && indexOf(c.Missing, field) < 0:
		return field
	case c.Kind == LabelColumn:
		g.Labels++
		return field
	case c.Units > 0:
		g.missing[r][i] = true
		g.Missing++
	}
	switch {
	case c.Values != nil:
		return c.Values[0]
	case c.Numbers == nil:
		return "0"
	case c.Numbers.Least == math.Trunc(c.Numbers.Least):
		return strconv.FormatFloat(c.Numbers.Least, 'f', -1, 64)
	}
	// An exponent keeps a decimal comma from looking like a separator of thousands.
	return withPoint(strconv.FormatFloat(c.Numbers.Least, 'e', -1, 64), t.hasComma(t.point))
}

// hasComma reports whether fractions have a decimal comma if point is the decimal character of other numbers, or "".
func (t *table) hasComma(point string) bool {
	return t.decimal == "," || t.decimal == "" && t.commas && point == ","
}

// withPoint returns a number with a decimal comma instead of its point if comma is set.
func withPoint(number string, comma bool) string {
	if comma {
		return strings.Replace(number, ".", ",", 1)
	}
	return number
}

// Pick returns some of the rows, by their indices.
func (g *Gaps) Pick(indices []int) Split {
	return Split{Name: g.Rows.Name, Shape: g.Rows.Shape, Values: g.Rows.Select(indices)}
}

// Fits reports whether a drawn row has exactly one value in each categorical column.
func (g *Gaps) Fits(row []float64) bool {
	return !slices.ContainsFunc(g.set.fields, func(c Column) bool { return c.checkDraws([][]float64{row}) != nil })
}

// Complete returns the fields of Columns in the rows, with missing ones taken from images of all rows, as Set.Fields writes
// them. The other fields stay as they are in the file. If plain is set, all numbers have a decimal point and no separators
// of thousands, as formats other than CSV need them.
func (g *Gaps) Complete(images Sheet, how Writing, plain bool) (all [][]string, err error) {
	columns, filled, err := g.set.Fields(images, how)
	if err != nil {
		return nil, err
	}
	places := map[int]int{} // of the columns with units, by their first unit
	for i, c := range columns {
		places[c.First] = i
	}
	for r, fields := range g.fields {
		fields = append(slices.Clone(fields), g.Absent...) // in whose place values come
		for k, c := range g.Columns {
			numeric := c.Kind == RealColumn && c.Values == nil
			if g.missing[r][g.order[k]] {
				fields[k] = withPoint(filled[r][places[c.First]], numeric && g.comma && !plain)
			} else if fields[k] = strings.TrimSpace(fields[k]); plain && c.Kind == RealColumn && strings.Contains(fields[k], ",") {
				if v, is := g.table.numberIn(fields[k]); is {
					fields[k] = strconv.FormatFloat(v, 'f', -1, 64)
				}
			}
		}
		all = append(all, fields)
	}
	return all, nil
}

// Separator returns the separator of the file for CSV: a comma if spaces separate its fields.
func (g *Gaps) Separator() rune {
	if g.table.separator == ' ' {
		return ','
	}
	return g.table.separator
}

package dataset

import (
	"cmp"
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
	labels  bool // whether rows keep their labels
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
	return work.Interruptible(func() (*Gaps, error) { return s.readGaps(path, nil) })
}

// ParseGaps is like ReadGaps, for rows in memory. Several goroutines may call it at the same time.
func (s *Set) ParseGaps(in Input) (*Gaps, error) { return s.readGaps(in.Name, &in) }

func (s *Set) readGaps(path string, in *Input) (g *Gaps, err error) {
	if s.fields == nil {
		return nil, fmt.Errorf("the rows of %s are not a table with columns, in whose fields values could be missing: train on a table, such as a CSV file with a header", s.Name())
	}
	g = &Gaps{set: s}
	if g.Rows, err = s.readRows(path, in, g); err != nil {
		return nil, err
	}
	of := g.Rows
	of.Missing = g.mask()
	g.Gaps = slices.DeleteFunc(of.Gaps(), func(gap Gap) bool { return !slices.Contains(gap.Mask, true) })
	return g, nil
}

// Gaps returns the masks of the rows, and the rows of each. The mask of complete rows hides nothing.
func (s Split) Gaps() (all []Gap) {
	none, places := make(Mask, s.Shape.Units()), map[string]int{}
	for r := range s.Rows {
		mask := s.Mask(r)
		if mask == nil {
			mask = none
		}
		key := string(packMask(mask))
		place, known := places[key]
		if !known {
			place, places[key], all = len(all), len(all), append(all, Gap{Mask: mask})
		}
		all[place].Rows = append(all[place].Rows, r)
	}
	return all
}

// begin makes t read rows with gaps, and the identifiers that formats of tables would skip.
func (g *Gaps) begin(t *table) {
	g.table, t.gaps, t.open = t, g, g.labels
	maps.DeleteFunc(t.kinds, func(_ string, of Column) bool { return of.Kind == IdentifierColumn })
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
		if c.Kind == LabelColumn && !g.labels {
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

// Written returns a number as the file writes it, with a decimal comma if its numbers have one.
func (g *Gaps) Written(number string) string { return withPoint(number, g.comma) }

// mask returns the missing units of all rows, row-major, or nil if there are none.
func (g *Gaps) mask() (missing []bool) {
	if g.Missing == 0 {
		return nil
	}
	for _, fields := range g.missing {
		row := make([]bool, g.set.Shape().Units())
		for i, c := range g.set.fields {
			for k := range c.Units {
				row[c.First+k] = fields[i]
			}
		}
		missing = append(missing, row...)
	}
	return missing
}

// IsMissing reports whether the value at an index into the values of all rows is missing.
func (s Split) IsMissing(i int) bool { return s.Missing != nil && s.Missing[i] }

// Mask returns the mask of row r, or nil if the row is complete.
func (s Split) Mask(r int) Mask {
	n := s.Shape.Units()
	if s.Missing == nil || !slices.Contains(s.Missing[r*n:(r+1)*n], true) {
		return nil
	}
	return s.Missing[r*n : (r+1)*n]
}

// Hiding returns the rows that have all values which the mask does not hide, without the values that it hides.
func (s Split) Hiding(mask Mask) Split {
	var whole []int
	for r := range s.Rows {
		has := true
		for i, missing := range s.Mask(r) {
			has = has && (mask[i] || !missing)
		}
		if has {
			whole = append(whole, r)
		}
	}
	s = s.pick(whole)
	if s.Missing = nil; slices.Contains(mask, true) {
		s.Missing = slices.Repeat(mask, s.Rows)
	}
	return s
}

// Complete returns the rows without missing values.
func (s Split) Complete() Split {
	if !slices.Contains(s.Missing, true) {
		return s
	}
	var rows []int
	for r := range s.Rows {
		if !slices.Contains(s.Missing[r*s.Units:(r+1)*s.Units], true) {
			rows = append(rows, r)
		}
	}
	of := s.pick(rows)
	of.Missing = nil
	return of
}

// Lacking returns the number of missing values.
func (s Split) Lacking() (n int) {
	for _, missing := range s.Missing {
		if missing {
			n++
		}
	}
	return n
}

// HasGaps reports whether values of some rows are missing.
func (s *Set) HasGaps() bool { return s.train.Lacking()+s.validation.Lacking()+s.test.Lacking() > 0 }

// packMask packs a mask into bits, the first in the lowest bit of the first byte.
func packMask(missing []bool) []uint8 {
	values := make([]uint8, len(missing))
	for i, is := range missing {
		if is {
			values[i] = 1
		}
	}
	return packBits(nil, values)
}

// fillGaps puts a value of the column in the place of each missing one, so that the other fields alone suggest its kind.
// A column without values stays as it is.
func (t *table) fillGaps() {
	for i := range t.columns {
		c := &t.columns[i]
		if !slices.Contains(c.absences, true) {
			continue
		}
		first := slices.Index(c.absences[:cmp.Or(t.train, t.rows)], false)
		if first < 0 {
			continue
		}
		values, meanings, codes := c.values, c.meanings, slices.Clone(c.codes)
		if codes != nil {
			c.values, c.meanings, c.places, c.recent = nil, nil, map[string]uint8{}, &recent{}
		}
		for r, missing := range c.absences {
			from := r
			if missing {
				from = first
			}
			if c.numbers != nil {
				c.numbers[r] = c.numbers[from]
			}
			if codes == nil {
				continue
			}
			value := values[codes[from]]
			if _, known := c.places[value]; !known {
				c.values, c.meanings, c.places[value] = append(c.values, value), append(c.meanings, meanings[codes[from]]), uint8(len(c.values))
			}
			c.codes[r] = c.places[value]
		}
		c.missing = ""
	}
}

// observed returns the numbers of the first file that are not missing, or all of a column without any, which is refused later.
func (c fields) observed(train int) []float64 {
	if c.absences == nil || !slices.Contains(c.absences[:train], false) {
		return c.numbers[:train]
	}
	var all []float64
	for r, v := range c.numbers[:train] {
		if !c.absences[r] {
			all = append(all, v)
		}
	}
	return all
}

// fillGaps puts a value of the unit in the place of each missing one, or 0 if it has none.
func (r *rows) fillGaps() {
	units, n, values := r.Shape.Units(), len(r.Missing), r.Bytes()
	for first := range units {
		k := first
		for first < n && r.Missing[first] {
			first += units
		}
		for ; k < n; k += units {
			switch {
			case !r.Missing[k]:
			case r.numbers != nil && first < n:
				r.numbers[k] = r.numbers[first]
			case r.numbers != nil:
				r.numbers[k] = 0
			case first < n:
				values[k] = values[first]
			}
		}
	}
}

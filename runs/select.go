package runs

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// scalar returns a setting as a cell of a loose column: as a number or a bool if that has the same text.
func scalar(setting string) any {
	for _, cell := range []any{numberOf(setting), setting == "true"} {
		if plain(cell) == setting {
			return cell
		}
	}
	return validUTF8(setting)
}

// settled gives the loose columns their kinds, and returns the table.
func (t *Table) settled() *Table {
	for i, c := range t.columns {
		kinds := slices.DeleteFunc([]ColumnKind{Integer, Number, Boolean, Text}, func(k ColumnKind) bool {
			return slices.ContainsFunc(t.rows, func(row []any) bool {
				_, isInteger := row[i].(int64)
				_, isNumber := row[i].(float64)
				_, isBoolean := row[i].(bool)
				return row[i] != nil && k != Text && !(k == Boolean && isBoolean || k == Number && isNumber || k.toTheRight() && isInteger)
			})
		})
		if c.loose {
			t.columns[i].Kind = kinds[0]
		}
	}
	return t
}

// Select returns the table with a title, which may be empty, and the columns that have the keys, in this order, or all. The last
// part of a key is enough if only one key ends in it: learning_rate for settings.method.learning_rate. In a list of runs, a
// key denotes in each run the setting with this full name or, if the run has none, the only setting whose last part it is.
func (t *Table) Select(title string, keys ...string) (*Table, error) {
	s := &Table{t.name, validUTF8(title), t.columns, t.rows}
	if len(keys) > 0 {
		s.columns, s.rows = nil, make([][]any, len(t.rows))
	}
	for _, key := range keys {
		c, cells, err := t.named(key)
		if err != nil {
			return nil, err
		}
		if slices.Contains(s.columns, c) {
			continue
		}
		s.columns = append(s.columns, c)
		for r, cell := range cells {
			s.rows[r] = append(s.rows[r], cell)
		}
	}
	return s.settled(), nil
}

// named returns the column that a key denotes, and its cells.
func (t *Table) named(key string) (c Column, cells []any, err error) {
	var all, last []string
	for _, c := range t.columns {
		all, last = append(all, c.Key), append(last, c.Key[strings.LastIndexByte(c.Key, '.')+1:])
	}
	ends := names.Ending(all, key)
	switch len(ends) {
	case 0:
		return c, nil, fmt.Errorf("no column %q%s", key, cmp.Or(names.Meant(key, slices.Concat(all, last)...), ": use "+strings.Join(all, ", ")))
	case 1:
		c = t.columns[slices.Index(all, ends[0])]
	default:
		c = Column{Key: key, loose: true}
	}
	for _, row := range t.rows {
		var cell any
		for _, end := range ends {
			i := slices.Index(all, end)
			if cell != nil && row[i] != nil || len(ends) > 1 && !t.columns[i].loose {
				return c, nil, fmt.Errorf("%q is ambiguous: write %s", key, strings.Join(ends, " or "))
			}
			if row[i] != nil {
				cell = row[i]
			}
		}
		cells = append(cells, cell)
	}
	return c, cells, nil
}

// conditionForm matches a key, an operator and a value.
var conditionForm = regexp.MustCompile(`(?s)^([^!=<>~]+)(!=|<=|>=|==|[=<>~])(.*)$`)

// Filter returns the table with the rows that satisfy all conditions. A condition is KEY=VALUE, with a key as in Select.
// Instead of =, it can use == (the same), !=, <, >, <= or >=, or ~ for "contains". Numbers are compared as numbers. A row that
// lacks the value satisfies only !=.
func (t *Table) Filter(conditions ...string) (*Table, error) {
	empty := len(t.rows) == 0 // a list of no runs has no settings
	for _, text := range conditions {
		parts := conditionForm.FindStringSubmatch(text)
		switch {
		case parts == nil:
			return nil, fmt.Errorf("%q is not a condition: write NAME=VALUE, with =, !=, <, >, <=, >= or ~", text)
		case empty:
			continue
		}
		of, err := t.Select("", strings.TrimSpace(parts[1]))
		if err != nil {
			return nil, err
		}
		c, operator, value := of.columns[0], parts[2], strings.TrimSpace(parts[3])
		number, states := numberOf(value), strings.Fields(strings.Trim(fmt.Sprint(States), "[]"))
		switch {
		case operator == "~":
		case t.name == listName && c.Key == "state" && !slices.Contains(states, value):
			return nil, fmt.Errorf("no run is %q%s: use one of %s", value, names.Meant(value, states...), strings.Join(states, ", "))
		case number == nil && c.Kind.toTheRight():
			return nil, fmt.Errorf("%s is a number, but %q is not: compare it with a number", c.Key, value)
		}
		var kept [][]any
		for r, row := range of.rows {
			if holds(row[0], operator, value, number) {
				kept = append(kept, t.rows[r])
			}
		}
		t = t.with(kept)
	}
	return t, nil
}

// numberOf returns the int64 or the float64 that a text is, or nil.
func numberOf(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return nil
}

// holds reports whether a cell satisfies a condition. number is the number that value is, or nil.
func holds(cell any, operator, value string, number any) bool {
	if _, isText := cell.(string); isText || number == nil {
		number = value
	}
	switch order := compareCells(cell, number); {
	case cell == nil, operator == "!=":
		return operator == "!=" && (cell == nil || order != 0)
	case operator == "~":
		return strings.Contains(plain(cell), value)
	default:
		return strings.Contains(operator, [...]string{"<", "=", ">"}[order+1])
	}
}

// compareCells compares numbers by value and sorts other cells after them, alphabetically.
func compareCells(a, b any) int {
	m, isM := a.(int64) // float64 would round large seeds
	n, isN := b.(int64)
	x, isX := a.(float64)
	y, isY := b.(float64)
	switch {
	case isM && isN:
		return cmp.Compare(m, n)
	case (isM || isX) && (isN || isY):
		return cmp.Compare(x+float64(m), y+float64(n)) // one of the terms is 0
	case isM || isX:
		return -1
	case isN || isY:
		return 1
	}
	return strings.Compare(plain(a), plain(b))
}

// SortedBy returns the table with its rows sorted by a column, with a key as in Select, in descending order if by begins with
// a minus. Rows that lack the value come last.
func (t *Table) SortedBy(by string) (*Table, error) {
	key, down := strings.CutPrefix(by, "-")
	if len(t.rows) == 0 {
		return t, nil
	}
	_, cells, err := t.named(key)
	of := map[*any]any{} // the cell of each row
	for r, cell := range cells {
		of[&t.rows[r][0]] = cell
	}
	rows := slices.Clone(t.rows)
	slices.SortStableFunc(rows, func(a, b []any) int {
		x, y := of[&a[0]], of[&b[0]]
		switch {
		case x == nil || y == nil:
			return strings.Compare(plain(y), plain(x))
		case down:
			x, y = y, x
		}
		return compareCells(x, y)
	})
	return t.with(rows), err
}

// with returns the table with other rows, without a remark that none of them has.
func (t *Table) with(rows [][]any) *Table {
	s := &Table{t.name, t.title, slices.Clone(t.columns), rows}
	if last := len(s.columns) - 1; s.columns[last].Key == remarkKey && !slices.ContainsFunc(rows, func(row []any) bool { return row[last] != nil }) {
		s.columns = s.columns[:last]
	}
	return s.settled()
}

package runs

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/names"
)

// A Table holds results to be read by people and by programs: a history of
// training, evaluations, a comparison. It has named columns of one kind each,
// and rows whose cells may be missing. Write writes it in one of several formats.
type Table struct {
	name, title string
	columns     []Column
	rows        [][]any
}

// A Column says what the cells below it are.
type Column struct {
	Key   string // names it for programs: letters, digits, _ and -, with dots between, such as train.log_p
	Label string // names it for people, such as "log p, test"; the key where it is empty
	Unit  string // of the cells, such as "nats"; empty where there is none
	Kind  ColumnKind
	// Decimals are those of a Number where people read it; with 0 it has as
	// many digits as tell it from other numbers. Programs are given all digits.
	Decimals int
	// Fraction says that cells are Numbers from 0 to 1, which people read in percent.
	Fraction bool
}

// A ColumnKind is what cells of a column may be.
type ColumnKind int

const (
	Text    ColumnKind = iota // string
	Integer                   // int64
	Number                    // float64
	Boolean                   // bool
)

var columnKindNames = names.New("kind of column", "text", "integer", "number", "boolean")

func (k ColumnKind) String() string { return columnKindNames.Name(int(k)) }

var (
	tableName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	columnKey = regexp.MustCompile(`^[\pL\pN_-]+(\.[\pL\pN_-]+)*$`)
)

// NewTable returns a table without rows. Its name has letters of a to z, digits
// and _, a letter first, and may be that of a file; its title, above the table
// where people read it, may be empty. What is not UTF-8 in texts becomes U+FFFD.
// NewTable panics where the name or a key is not as described, where two columns
// have one key, where there is no column, where there are decimals below 0 or of a
// kind that has none, and where fractions are no Numbers.
func NewTable(name, title string, columns ...Column) *Table {
	if !tableName.MatchString(name) {
		panic(fmt.Sprintf("runs: %q is no name of a table: use letters of a to z, digits and _, a letter first", name))
	}
	if len(columns) == 0 {
		panic("runs: table " + name + " has no columns")
	}
	columns = slices.Clone(columns)
	keys := map[string]bool{}
	for i, c := range columns {
		switch {
		case !columnKey.MatchString(c.Key):
			panic(fmt.Sprintf("runs: %q is no key of a column of table %s: use letters, digits, _ and -, with dots between", c.Key, name))
		case keys[c.Key]:
			panic(fmt.Sprintf("runs: table %s has two columns %s", name, c.Key))
		case c.Decimals < 0 || c.Decimals > 0 && c.Kind != Number:
			panic(fmt.Sprintf("runs: %d decimals of the %v column %s of table %s", c.Decimals, c.Kind, c.Key, name))
		case c.Fraction && c.Kind != Number:
			panic(fmt.Sprintf("runs: fractions of the %v column %s of table %s", c.Kind, c.Key, name))
		}
		keys[c.Key] = true
		columns[i].Label, columns[i].Unit = validUTF8(c.Label), validUTF8(c.Unit)
	}
	return &Table{name: name, title: validUTF8(title), columns: columns}
}

// Add adds a row, with a cell for each column: a string of any type in a column
// of Text, an integer in one of Integer, a floating-point number in one of
// Number, a bool in one of Boolean, or a pointer to such a value.
//
// A cell is missing where it is nil or a nil pointer, NaN, or an empty text: no
// format has to tell these from each other. Infinities are numbers. What is not
// UTF-8 in a text becomes U+FFFD.
//
// Add panics where the number of cells is not that of columns, or a cell not of
// its column's kind: an integer is no Number, and a uint64 above the largest
// int64 no Integer.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.columns) {
		panic(fmt.Sprintf("runs: a row of %d cells for the %d columns of table %s", len(cells), len(t.columns), t.name))
	}
	row := make([]any, len(cells))
	for i, c := range t.columns {
		cell, ok := c.Kind.cell(reflect.ValueOf(cells[i]))
		if !ok {
			panic(fmt.Sprintf("runs: %T %v is no cell of the %v column %s of table %s", cells[i], cells[i], c.Kind, c.Key, t.name))
		}
		row[i] = cell
	}
	t.rows = append(t.rows, row)
}

// Field is a column of a table of values of a type, with what its cells have of them.
type Field[T any] struct {
	Column
	Cell func(T) any
}

// TableOf is a table with a row for each of the values, whose columns are the fields. It
// panics as NewTable and Add do.
func TableOf[T any](name, title string, fields []Field[T], values ...T) *Table {
	columns := make([]Column, len(fields))
	for i, f := range fields {
		columns[i] = f.Column
	}
	t := NewTable(name, title, columns...)
	for _, value := range values {
		row := make([]any, len(fields))
		for i, f := range fields {
			row[i] = f.Cell(value)
		}
		t.Add(row...)
	}
	return t
}

// WithoutMissing returns the table without the columns that have no cell in any row, of which
// the first always stays.
func (t *Table) WithoutMissing() *Table {
	c := &Table{name: t.name, title: t.title, rows: make([][]any, len(t.rows))}
	for i, column := range t.columns {
		if i > 0 && !slices.ContainsFunc(t.rows, func(row []any) bool { return row[i] != nil }) {
			continue
		}
		c.columns = append(c.columns, column)
		for j, row := range t.rows {
			c.rows[j] = append(c.rows[j], row[i])
		}
	}
	return c
}

// cell is what a table holds of a value, nil where that is missing, and whether
// the value is one of the kind.
func (k ColumnKind) cell(v reflect.Value) (cell any, ok bool) {
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	switch {
	case !v.IsValid():
		return nil, true
	case k == Text && v.Kind() == reflect.String:
		if v.Len() == 0 {
			return nil, true
		}
		return validUTF8(v.String()), true
	case k == Integer && v.CanInt():
		return v.Int(), true
	case k == Integer && v.CanUint() && v.Uint() <= math.MaxInt64:
		return int64(v.Uint()), true
	case k == Number && v.CanFloat():
		if math.IsNaN(v.Float()) {
			return nil, true
		}
		return v.Float(), true
	case k == Boolean && v.Kind() == reflect.Bool:
		return v.Bool(), true
	}
	return nil, false
}

func validUTF8(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// Name is the name of the table for programs.
func (t *Table) Name() string { return t.name }

// Title is the title of the table for people, empty where it has none.
func (t *Table) Title() string { return t.title }

// Columns are those of the table, in order.
func (t *Table) Columns() []Column { return slices.Clone(t.columns) }

// Rows are those of the table, in order, each with a cell for each column: a
// string, an int64, a float64 or a bool, as the column's kind says, or nil where
// it is missing. They are the table's own, and not to be changed.
func (t *Table) Rows() [][]any { return t.rows }

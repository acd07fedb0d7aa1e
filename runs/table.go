package runs

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// A Table holds results for people and programs: a training history, evaluations or a comparison.
// It has named columns, each of one kind, and rows whose cells may be missing. Write writes it in
// one of several formats.
type Table struct {
	name, title string
	columns     []Column
	rows        [][]any
}

// A Column describes the cells below it.
type Column struct {
	Key   string // name for programs: letters, digits, _ and -, separated by dots, such as train.log_p
	Label string // name for people, such as "log p, test"; empty means the key
	Unit  string // unit of the cells, such as "nats", or empty
	Kind  ColumnKind
	// Decimals is the number of decimals of a Number in output for people; 0 means the fewest digits
	// that identify the number. Programs get all digits.
	Decimals int
	// Fraction marks Numbers from 0 to 1, which are shown to people in percent.
	Fraction bool
	loose    bool // whether cells are scalars, and Kind is the narrowest that fits all of them
}

// A ColumnKind is the type of a column's cells.
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

// NewTable returns a table without rows. Its name starts with a letter and consists of the letters
// a to z, digits and _, so it can serve as a file name. Output for people shows the title, which may be
// empty, above the table. Invalid UTF-8 in texts becomes U+FFFD. NewTable panics if the name or a key is
// invalid, two columns have the same key, there is no column, decimals are negative, or a column with
// decimals or fractions is not of kind Number.
func NewTable(name, title string, columns ...Column) *Table {
	if !tableName.MatchString(name) {
		panic(fmt.Sprintf("runs: %q is not a valid name of a table: use the letters a to z, digits and _, with a letter first", name))
	}
	if len(columns) == 0 {
		panic("runs: table " + name + " has no columns")
	}
	columns = slices.Clone(columns)
	keys := map[string]bool{}
	for i, c := range columns {
		switch {
		case !columnKey.MatchString(c.Key):
			panic(fmt.Sprintf("runs: %q is not a valid key of a column of table %s: use letters, digits, _ and -, separated by dots", c.Key, name))
		case keys[c.Key]:
			panic(fmt.Sprintf("runs: table %s has two columns with the key %s", name, c.Key))
		case c.Decimals < 0 || c.Decimals > 0 && c.Kind != Number:
			panic(fmt.Sprintf("runs: %d decimals are invalid for the %v column %s of table %s", c.Decimals, c.Kind, c.Key, name))
		case c.Fraction && c.Kind != Number:
			panic(fmt.Sprintf("runs: fractions are invalid for the %v column %s of table %s", c.Kind, c.Key, name))
		}
		keys[c.Key] = true
		columns[i].Label, columns[i].Unit = validUTF8(c.Label), validUTF8(c.Unit)
	}
	return &Table{name: name, title: validUTF8(title), columns: columns}
}

// Add adds a row with one cell per column: a value of any string type for a Text column, an integer
// for Integer, a floating-point number for Number, a bool for Boolean, or a pointer to such a
// value.
//
// A cell is missing if it is nil, a nil pointer, NaN or an empty text: no format distinguishes
// these. Infinities are numbers. Invalid UTF-8 in a text becomes U+FFFD.
//
// Add panics if the number of cells differs from the number of columns, or if a cell does not have its
// column's kind: an integer is not a Number, and a uint64 above the largest int64 is not an
// Integer.
func (t *Table) Add(cells ...any) {
	if len(cells) != len(t.columns) {
		panic(fmt.Sprintf("runs: a row has %d cells, but there are %d columns in table %s", len(cells), len(t.columns), t.name))
	}
	row := make([]any, len(cells))
	for i, c := range t.columns {
		cell, ok := c.Kind.cell(reflect.ValueOf(cells[i]))
		if c.loose {
			cell = cells[i]
		} else if !ok {
			panic(fmt.Sprintf("runs: %T %v is not a valid cell of the %v column %s of table %s", cells[i], cells[i], c.Kind, c.Key, t.name))
		}
		row[i] = cell
	}
	t.rows = append(t.rows, row)
}

// field is a column of a table whose rows are values of type T. Cell returns the column's cell for a
// value.
type field[T any] struct {
	Column
	Cell func(T) any
}

// tableOf returns a table with one row per value and one column per field. It panics under the same
// conditions as NewTable and Add.
func tableOf[T any](name, title string, fields []field[T], values ...T) *Table {
	columns := lists.Map(fields, func(f field[T]) Column { return f.Column })
	t := NewTable(name, title, columns...)
	for _, value := range values {
		row := lists.Map(fields, func(f field[T]) any { return f.Cell(value) })
		t.Add(row...)
	}
	return t.settled()
}

// WithoutMissing returns the table without the columns whose cells are all missing. The first column
// always stays.
func (t *Table) WithoutMissing() *Table {
	c := &Table{name: t.name, title: t.title, rows: make([][]any, len(t.rows))}
	for i, column := range t.columns {
		if i == 0 || slices.ContainsFunc(t.rows, func(row []any) bool { return row[i] != nil }) {
			c.columns = append(c.columns, column)
			for r, row := range t.rows {
				c.rows[r] = append(c.rows[r], row[i])
			}
		}
	}
	return c
}

// cell returns the cell that a table stores for a value, or nil if the cell is missing. ok reports
// whether the value is valid for the kind.
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

// Name returns the name of the table for programs.
func (t *Table) Name() string { return t.name }

// Title returns the title of the table for people, or "".
func (t *Table) Title() string { return t.title }

// Columns returns the columns of the table, in order.
func (t *Table) Columns() []Column { return slices.Clone(t.columns) }

// Rows returns the rows of the table, in order, each with one cell per column: a string, an int64,
// a float64 or a bool, depending on the column's kind, or nil if the cell is missing. The rows belong to
// the table and must not be changed.
func (t *Table) Rows() [][]any {
	rows := make([][]any, len(t.rows))
	for r, row := range t.rows {
		rows[r] = slices.Clone(row[:len(t.columns)])
		for i, c := range t.columns {
			if n, is := row[i].(int64); is && c.Kind == Number {
				rows[r][i] = float64(n)
			} else if c.Kind == Text && row[i] != nil {
				rows[r][i] = plain(row[i])
			}
		}
	}
	return rows
}

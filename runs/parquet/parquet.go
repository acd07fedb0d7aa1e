// Package parquet writes tables as Apache Parquet files. Importing it adds parquet to the formats
// of package runs. It is a separate package because every cell of a notebook compiles its imports.
package parquet

import (
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/parquet-go/parquet-go"
)

func init() { runs.RegisterTableFormat("parquet", Write) }

// Write writes a table as a Parquet file with Snappy compression. Its columns have the keys of the
// table's columns and are optional UTF-8 strings, 64-bit integers, doubles or booleans. A missing
// cell is null; an infinity stays an infinity. The schema has the name of the table. The metadata of
// the file hold the title, if there is one, and KEY.label and KEY.unit for the columns that have a
// label or a unit.
func Write(t *runs.Table, w io.Writer) error {
	options := []parquet.WriterOption{schema(t), parquet.Compression(&parquet.Snappy)}
	describe := func(key, value string) {
		if value != "" {
			options = append(options, parquet.KeyValueMetadata(key, value))
		}
	}
	describe("title", t.Title())
	for _, c := range t.Columns() {
		describe(c.Key+".label", c.Label)
		describe(c.Key+".unit", c.Unit)
	}
	file := parquet.NewWriter(w, options...)
	if _, err := file.WriteRows(rows(t)); err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name(), err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing table %s: %w", t.Name(), err)
	}
	return nil
}

func rows(t *runs.Table) []parquet.Row {
	rows := make([]parquet.Row, len(t.Rows()))
	for i, cells := range t.Rows() {
		rows[i] = make(parquet.Row, len(cells))
		for column, cell := range cells {
			defined := 1
			if cell == nil {
				defined = 0
			}
			rows[i][column] = parquet.ValueOf(cell).Level(0, defined, column)
		}
	}
	return rows
}

func schema(t *runs.Table) *parquet.Schema {
	nodes := parquet.Group{}
	for _, c := range t.Columns() {
		nodes[c.Key] = parquet.Optional(leaf(c.Kind))
	}
	byKey := map[string]parquet.Field{}
	for _, field := range nodes.Fields() {
		byKey[field.Name()] = field
	}
	root := ordered{Group: nodes}
	for _, c := range t.Columns() {
		root.fields = append(root.fields, byKey[c.Key])
	}
	return parquet.NewSchema(t.Name(), root)
}

func leaf(k runs.ColumnKind) parquet.Node {
	switch k {
	case runs.Text:
		return parquet.String()
	case runs.Integer:
		return parquet.Int(64)
	case runs.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	}
	return parquet.Leaf(parquet.DoubleType)
}

// ordered is a group whose fields keep their order instead of being sorted by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

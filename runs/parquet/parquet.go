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
	var keys []string
	var kinds []runs.ColumnKind
	var options []parquet.WriterOption
	describe := func(key, value string) {
		if value != "" {
			options = append(options, parquet.KeyValueMetadata(key, value))
		}
	}
	describe("title", t.Title())
	for _, c := range t.Columns() {
		keys, kinds = append(keys, c.Key), append(kinds, c.Kind)
		describe(c.Key+".label", c.Label)
		describe(c.Key+".unit", c.Unit)
	}
	return WriteRows(w, t.Name(), keys, kinds, t.Rows(), options...)
}

// WriteRows writes rows of cells, as in a table, as a Parquet file whose columns have other names than the keys of a
// table. A cell is a string, an int64, a float64, a bool, or nil.
func WriteRows(w io.Writer, schema string, names []string, kinds []runs.ColumnKind, cells [][]any, options ...parquet.WriterOption) error {
	file := parquet.NewWriter(w, append(options, schemaOf(schema, names, kinds), parquet.Compression(&parquet.Snappy))...)
	_, err := file.WriteRows(rows(cells))
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return fmt.Errorf("writing table %s: %w", schema, err)
	}
	return nil
}

func rows(all [][]any) []parquet.Row {
	rows := make([]parquet.Row, len(all))
	for i, cells := range all {
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

func schemaOf(schema string, names []string, kinds []runs.ColumnKind) *parquet.Schema {
	nodes := parquet.Group{}
	for i, name := range names {
		nodes[name] = parquet.Optional(leaf(kinds[i]))
	}
	byKey := map[string]parquet.Field{}
	for _, field := range nodes.Fields() {
		byKey[field.Name()] = field
	}
	root := ordered{Group: nodes}
	for _, name := range names {
		root.fields = append(root.fields, byKey[name])
	}
	return parquet.NewSchema(schema, root)
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

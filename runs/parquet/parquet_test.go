package parquet_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/internal/tabletest"
	_ "github.com/helmholtz-go/helmholtz/runs/parquet"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// A Parquet file contains its table, to the last bit.
func TestParquetHoldsTheTable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := tabletest.Draw(t)
		file := open(t, table)
		if got := file.Schema().Name(); got != table.Name() {
			t.Fatalf("the schema is %q, want %q", got, table.Name())
		}
		columns := table.Columns()
		for i, path := range file.Schema().Columns() {
			if len(path) != 1 || path[0] != columns[i].Key {
				t.Fatalf("column %d is %v, want %s", i, path, columns[i].Key)
			}
			metadata(t, file, columns[i].Key+".label", columns[i].Label)
			metadata(t, file, columns[i].Key+".unit", columns[i].Unit)
		}
		metadata(t, file, "title", table.Title())
		rows := make([]parquet.Row, file.NumRows())
		if len(rows) != len(table.Rows()) {
			t.Fatalf("%d rows, want %d", len(rows), len(table.Rows()))
		}
		if len(rows) == 0 {
			return
		}
		reader := file.RowGroups()[0].Rows()
		defer reader.Close()
		if n, _ := reader.ReadRows(rows); n != len(rows) {
			t.Fatalf("%d rows can be read of %d", n, len(rows))
		}
		for i, row := range rows {
			for j, want := range table.Rows()[i] {
				if got := cell(columns[j].Kind, row[j]); !tabletest.Same(got, want) {
					t.Fatalf("row %d has %s %#v, want %#v", i, columns[j].Key, got, want)
				}
			}
		}
	})
}

func cell(kind runs.ColumnKind, value parquet.Value) any {
	switch {
	case value.IsNull():
		return nil
	case kind == runs.Text:
		return string(value.ByteArray())
	case kind == runs.Integer:
		return value.Int64()
	case kind == runs.Number:
		return value.Double()
	}
	return value.Boolean()
}

func metadata(t *rapid.T, file *parquet.File, key, want string) {
	if got, there := file.Lookup(key); got != want || there != (want != "") {
		t.Fatalf("the metadata have %s = %q, want %q", key, got, want)
	}
}

func open(t interface{ Fatal(...any) }, table *runs.Table) *parquet.File {
	var b bytes.Buffer
	if err := table.Write(&b, "parquet"); err != nil {
		t.Fatal(err)
	}
	file, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSchema(t *testing.T) {
	file := open(t, runs.NewTable("kinds", "", runs.Column{Key: "text"}, runs.Column{Key: "integer", Kind: runs.Integer},
		runs.Column{Key: "number", Kind: runs.Number}, runs.Column{Key: "boolean", Kind: runs.Boolean}))
	want := `message kinds {
	optional binary text (STRING);
	optional int64 integer (INT(64,true));
	optional double number;
	optional boolean boolean;
}`
	if got := file.Schema().String(); got != want {
		t.Errorf("the schema is\n%s\nwant\n%s", got, want)
	}
}

func TestParquetIsAmongTheFormats(t *testing.T) {
	err := runs.NewTable("epochs", "", runs.Column{Key: "epoch"}).Write(t.Output(), "xml")
	if want := "use one of csv, json, latex, markdown, parquet, text"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("the error is %v, want one that ends with %q", err, want)
	}
}

// full is a disk without free space.
type full struct{}

var errFull = errors.New("no space left")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	table := runs.NewTable("epochs", "", runs.Column{Key: "epoch", Kind: runs.Integer})
	table.Add(1)
	if err := table.Write(full{}, "parquet"); !errors.Is(err, errFull) {
		t.Errorf("the error is %v, want %v", err, errFull)
	}
}

package parquet_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	_ "github.com/helmholtz-go/helmholtz/runs/parquet"
	"github.com/parquet-go/parquet-go"
)

// A Parquet file contains its table, to the last bit.
func TestParquetHoldsTheTable(t *testing.T) {
	table := runs.NewTable("hard", "a title", runs.Column{Key: "text", Label: "a label"}, runs.Column{Key: "a.integer", Kind: runs.Integer},
		runs.Column{Key: "number", Unit: "nats", Kind: runs.Number}, runs.Column{Key: "boolean", Kind: runs.Boolean})
	table.Add("a\x00b\r\n\"η\"", math.MinInt64, math.Copysign(0, -1), true)
	table.Add(nil, nil, nil, nil)
	table.Add("null", 1<<53+1, math.Inf(-1), false)
	table.Add(" ", int64(math.MaxInt64), math.SmallestNonzeroFloat64, nil)
	file := open(t, table)
	for key, want := range map[string]string{"text.label": "a label", "text.unit": "", "number.unit": "nats", "number.label": "", "title": "a title"} {
		if got, there := file.Lookup(key); got != want || there != (want != "") {
			t.Errorf("the metadata have %s = %q, want %q", key, got, want)
		}
	}
	rows := make([]parquet.Row, file.NumRows())
	reader := file.RowGroups()[0].Rows()
	defer reader.Close()
	if n, _ := reader.ReadRows(rows); n != len(table.Rows()) {
		t.Fatalf("%d rows can be read of %d", n, len(table.Rows()))
	}
	for i, row := range rows {
		for j, want := range table.Rows()[i] {
			got := cell(table.Columns()[j].Kind, row[j])
			x, isNumber := got.(float64)
			y, _ := want.(float64)
			if got != want || isNumber && math.Float64bits(x) != math.Float64bits(y) {
				t.Errorf("row %d has %s %#v, want %#v", i, table.Columns()[j].Key, got, want)
			}
		}
	}
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

func open(t *testing.T, table *runs.Table) *parquet.File {
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

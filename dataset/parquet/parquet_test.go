package parquet_test

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/dataset/parquet"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
	pq "github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

const example = "../testdata/formats/36-pyarrow.parquet" // which make.py wrote

// A Parquet file is read as the CSV file of the same rows is.
func TestParquetIsReadAsCSV(t *testing.T) {
	var sets []*dataset.Set
	for _, path := range []string{example, "../testdata/formats/01-kaggle-digits.csv"} {
		set, err := dataset.Spec{Name: path, Binarization: dataset.Gray}.Open()
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	if sets[0].Fingerprint() != sets[1].Fingerprint() || sets[0].Classes() != 3 || !slices.Equal(sets[0].Train().Labels, sets[1].Train().Labels) {
		t.Errorf("%v, not %v", sets[0], sets[1])
	}
}

func FuzzRead(f *testing.F) {
	file, err := os.ReadFile(example)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, file []byte) {
		rows := 0
		fuzz.Bounded(t, 64*len(file), func() {
			_ = parquet.Read(bytes.NewReader(file), int64(len(file)), func([]string) error { rows++; return nil })
		})
	})
}

// Decimal and unsigned numbers have the text of their values, not of the integers and bytes that store them.
func TestNumbersThatIntegersAndBytesStore(t *testing.T) {
	schema := pq.NewSchema("table", pq.Group{
		"a": pq.Decimal(2, 9, pq.Int32Type), "b": pq.Decimal(2, 38, pq.FixedLenByteArrayType(16)),
		"c": pq.Uint(32), "d": pq.Uint(64), "e": pq.Optional(pq.Decimal(1, 9, pq.Int64Type)),
	})
	var file bytes.Buffer
	w := pq.NewGenericWriter[any](&file, schema)
	minus := slices.Repeat([]byte{0xff}, 16) // −100, so −1.00
	minus[15] = 156
	unsigned := uint32(4_000_000_000)
	row := pq.Row{
		pq.Int32Value(1234).Level(0, 0, 0), pq.FixedLenByteArrayValue(minus).Level(0, 0, 1),
		pq.Int32Value(int32(unsigned)).Level(0, 0, 2), pq.Int64Value(-1).Level(0, 0, 3), pq.Value{}.Level(0, 0, 4),
	}
	if _, err := w.WriteRows([]pq.Row{row}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	err := parquet.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), func(fields []string) error {
		got = append(got, slices.Clone(fields))
		return nil
	})
	want := []string{"12.34", "-1.00", "4000000000", "18446744073709551615", ""}
	if err != nil || len(got) != 2 || !slices.Equal(got[1], want) {
		t.Errorf("read %q, %v; want %q", got, err, want)
	}
	file.Reset()
	if err := pq.Write(&file, []struct{ ID [16]byte }{{}}); err != nil {
		t.Fatal(err)
	}
	got = nil
	err = parquet.Read(bytes.NewReader(file.Bytes()), int64(file.Len()), func(fields []string) error {
		got = append(got, slices.Clone(fields))
		return nil
	})
	if err != nil || got[1][0] != strings.Repeat("00", 16) {
		t.Errorf("bytes are read as %q, %v", got, err)
	}
}

// half is the type of numbers in half precision.
type half struct{ pq.Type }

func (half) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// Numbers in half precision are numbers, the index of a selection of rows is no column, and a file without rows is
// not damaged.
func TestTablesOfPandas(t *testing.T) {
	dir := t.TempDir()
	path, twin := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "test.parquet")
	write := func(rows ...pq.Row) {
		var file bytes.Buffer
		w := pq.NewGenericWriter[any](&file, pq.NewSchema("table", pq.Group{"__index_level_0__": pq.Int(64), "h": pq.Leaf(half{pq.FixedLenByteArrayType(2)})}))
		_, err := w.WriteRows(rows)
		if err := cmp.Or(err, w.Close(), os.WriteFile(path, file.Bytes(), 0o600), os.WriteFile(twin, file.Bytes(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	row := func(index int64, low, high byte) pq.Row {
		return pq.Row{pq.Int64Value(index).Level(0, 0, 0), pq.FixedLenByteArrayValue([]byte{low, high}).Level(0, 0, 1)}
	}
	write(row(3, 0, 0x3e), row(7, 0, 0xc0), row(2, 0, 0x34)) // 1.5, −2 and 0.25
	set, err := dataset.Spec{Name: path, Test: twin, Binarization: dataset.Real}.Open()
	if err != nil || !slices.Equal(set.Train().Reals, []float32{1.5, -2, 0.25}) {
		t.Errorf("read %v, %v", set, err)
	}
	write()
	if _, err := dataset.Open(path); err == nil || !strings.Contains(err.Error(), "no rows below its header") {
		t.Errorf("without rows: %v", err)
	}
}

// The error for a missing value gives a line that reads Parquet.
func TestMissingValuesOfParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.parquet")
	one := 1.0
	if err := pq.WriteFile(path, []struct{ A, B *float64 }{{&one, &one}, {&one, nil}}); err != nil {
		t.Fatal(err)
	}
	_, err := dataset.Open(path)
	if says := `column "B": a missing value (""): fill it in, or leave out its row, for example with pandas.read_parquet(FILE).dropna().to_csv("rows.csv", index=False)`; err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("the error is %v, which does not say %s", err, says)
	}
}

package parquet_test

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/dataset/parquet"
	"github.com/helmholtz-go/helmholtz/internal/fuzz"
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

package hm

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// A machine learns the same parameters, to the bit, from rows in memory and from the same rows on disk.
func TestRowsOnDiskTrainLikeRowsInMemory(t *testing.T) {
	t.Parallel()
	rows, shape := patterns(t).Train().Floats(), dataset.Shape{Height: 3, Width: 3}
	spec := dataset.Spec{Name: "mine", Validation: new(validationRows)}
	inMemory, err := spec.FromRows(shape, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	onDisk, err := spec.FromSeq(dataset.Schema{Shape: shape}, func(yield func([]float32, error) bool) {
		for _, numbers := range rows {
			row := make([]float32, len(numbers))
			for i, v := range numbers {
				row[i] = float32(v)
			}
			if !yield(row, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want, got := mustTrain(t, short(NRWS()), inMemory, t.TempDir()), mustTrain(t, short(NRWS()), onDisk, t.TempDir())
	if checksum(want.parameters) != checksum(got.parameters) {
		t.Errorf("rows on disk give the parameters %.8s, not %.8s", checksum(got.parameters), checksum(want.parameters))
	}
}

package hm

import (
	"os"
	"slices"
	"strconv"
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

// BenchmarkRowsOnDisk compares training on HELMHOLTZ_ROWS images on disk with training on 8,000 of them in memory, by medians
// of five rounds of 600 steps each.
func BenchmarkRowsOnDisk(b *testing.B) {
	n, err := strconv.Atoi(os.Getenv("HELMHOLTZ_ROWS"))
	if err != nil {
		b.Skip("HELMHOLTZ_ROWS is no number of rows")
	}
	images := func(rows int) *dataset.Set {
		set, err := dataset.Spec{Name: "mine", Validation: new(1000)}.FromSeq(dataset.Schema{Shape: dataset.Shape{Height: 28, Width: 28}}, func(yield func([]float32, error) bool) {
			row := make([]float32, 784)
			for r := range rows {
				for i := range row {
					row[i] = 0
					if i/40&7 == r&7 && (7*i+r)%5 != 0 {
						row[i] = 1
					}
				}
				if !yield(row, nil) {
					return
				}
			}
		})
		if err != nil {
			b.Fatal(err)
		}
		return set
	}
	sets := []*dataset.Set{images(8000), images(n)}
	machine, rws := New(sets[0].Shape()).Dense(300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10), RWS().LearningRate(0.01).Epochs(1)
	for b.Loop() {
		var rates [2][]float64
		for range 5 {
			for i, set := range sets {
				timing, err := rws.Experiment(machine, set).Benchmark(b.Context(), set, 600, nil)
				if err != nil {
					b.Fatal(err)
				}
				rates[i] = append(rates[i], float64(rws.Experiment(machine, set).stepsPerEpoch(set))/timing.EpochS)
			}
		}
		for i := range rates {
			slices.Sort(rates[i])
		}
		b.ReportMetric(rates[0][2], "steps/s-memory")
		b.ReportMetric(rates[1][2], "steps/s-disk")
		b.ReportMetric(rates[1][2]/rates[0][2], "×memory")
	}
}

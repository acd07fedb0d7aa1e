package runs

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// epochRows returns the minibatches of one epoch of n rows.
func epochRows(minibatch func(step int) []int, n, batch, epoch int) (minibatches [][]int) {
	perEpoch := (n + batch - 1) / batch
	for step := range perEpoch {
		minibatches = append(minibatches, slices.Clone(minibatch(epoch*perEpoch+step)))
	}
	return minibatches
}

func TestEachEpochVisitsEachRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(1, 60).Draw(t, "rows")
		batch := rapid.IntRange(1, rows).Draw(t, "batch")
		o := Minibatches(rapid.Uint64().Draw(t, "seed"), dataset.Split{Values: dataset.Values{Rows: rows}}, batch)
		for range 3 {
			epoch := rapid.IntRange(0, 1000).Draw(t, "epoch") // in any order
			minibatches := epochRows(o, rows, batch, epoch)
			for i, m := range minibatches {
				want := batch
				if i == len(minibatches)-1 {
					want = rows - batch*(len(minibatches)-1)
				}
				if len(m) != want || want < 1 {
					t.Fatalf("minibatch %d of %d rows has %d, want %d", i, rows, len(m), want)
				}
			}
			all := slices.Concat(minibatches...)
			slices.Sort(all)
			for i, row := range all {
				if row != i {
					t.Fatalf("an epoch of %d rows visits %v", rows, all)
				}
			}
		}
	})
}

func TestOrderDependsOnSeedAndEpoch(t *testing.T) {
	const rows = 100
	order := func(seed uint64, epoch int) []int {
		return slices.Concat(epochRows(Minibatches(seed, dataset.Split{Values: dataset.Values{Rows: rows}}, 16), rows, 16, epoch)...)
	}
	if !slices.Equal(order(1, 2), order(1, 2)) {
		t.Error("the same epoch of the same seed has two orders")
	}
	for what, other := range map[string][]int{"next epoch": order(1, 3), "next seed": order(2, 2)} {
		same := 0
		for i, row := range order(1, 2) {
			if other[i] == row {
				same++
			}
		}
		if same > 8 { // of 100; the number of fixed points is Poisson of mean 1
			t.Errorf("the %s has %d of %d rows in the same places", what, same, rows)
		}
	}
}

// TestMinibatchIsAFunctionOfTheStep asks for steps in another order than training does, like the
// refresh of a resumed run.
func TestMinibatchIsAFunctionOfTheStep(t *testing.T) {
	forward := Minibatches(1, dataset.Split{Values: dataset.Values{Rows: 50}}, 8)
	var want [][]int
	for step := range 21 {
		want = append(want, slices.Clone(forward(step)))
	}
	backward := Minibatches(1, dataset.Split{Values: dataset.Values{Rows: 50}}, 8)
	for step := 20; step >= 0; step-- {
		if !slices.Equal(backward(step), want[step]) {
			t.Errorf("step %d has another minibatch when it is asked for first", step)
		}
	}
}

// An epoch of N rows visits a row with the part w of all weight ⌊N·w⌋ or ⌈N·w⌉ times, and N·w times on average.
func TestWeightedRowsAreVisitedInProportion(t *testing.T) {
	weights := []float64{0.5, 0, 3, 1, 1, 0.25, 7, 0.1, 2.2, 0}
	sum, n := 0.0, len(weights)
	for _, w := range weights {
		sum += w
	}
	const epochs = 4000
	visits := make([]int, n)
	o := Minibatches(3, dataset.Split{Values: dataset.Values{Rows: n}, Weights: weights}, 4)
	for epoch := range epochs {
		of := make([]int, n)
		for _, row := range slices.Concat(epochRows(o, n, 4, epoch)...) {
			of[row]++
			visits[row]++
		}
		for row, count := range of {
			if want := float64(n) * weights[row] / sum; math.Abs(float64(count)-want) >= 1 {
				t.Fatalf("epoch %d visits row %d %d times, want %v", epoch, row, count, want)
			}
		}
	}
	for row, count := range visits {
		// The times of an epoch are one of two neighbouring numbers, whose variance is at most 1/4.
		if want := float64(n) * weights[row] / sum; math.Abs(float64(count)/epochs-want) > 5*0.5/math.Sqrt(epochs) {
			t.Errorf("row %d is visited %v times an epoch, want %v", row, float64(count)/epochs, want)
		}
	}
}

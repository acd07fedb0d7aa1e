package rivals

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Rivals refuse sequences, whose padding is no data.
func TestRivalsRefuseSequences(t *testing.T) {
	set, err := dataset.Open("voices")
	if err != nil {
		t.Fatal(err)
	}
	if all, err := Fit(set, set.Test()); err == nil || !strings.Contains(err.Error(), "not sequences") {
		t.Error(all, err)
	}
}

// Rivals learn from complete rows alone, and refuse to score others, in whose place other values stand.
func TestRivalsNeedCompleteRows(t *testing.T) {
	fit := func(train ...[]float64) ([]Rival, error) {
		set, err := dataset.Spec{Name: "open", Gaps: true, Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 2}, train, [][]float64{{1, 2}, {3, 4}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Fit(set, set.Train()); set.HasGaps() && err == nil {
			t.Error("rivals score rows with missing values")
		}
		return Fit(set, set.Test())
	}
	whole := [][]float64{{1, 2}, {2, 5}, {4, 4}, {0, 1}, {3, 3}, {5, 7}}
	want, err := fit(whole...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := fit(slices.Concat(whole[:2], [][]float64{{math.NaN(), 90}, {70, math.NaN()}}, whole[2:])...)
	if err != nil {
		t.Fatal(err)
	}
	for i, rival := range got {
		if rival.Values == nil || !slices.Equal(rival.Values, want[i].Values) {
			t.Errorf("%s learns %v from rows with gaps, but %v from the complete ones", rival.Name, rival.Values, want[i].Values)
		}
	}
	if _, err := fit([]float64{math.NaN(), 3}, []float64{1, math.NaN()}); err == nil || !strings.Contains(err.Error(), "no training row is complete") {
		t.Error(err)
	}
}

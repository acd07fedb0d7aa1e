package rivals

import (
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Rivals refuse rows with missing values, in whose place other values stand.
func TestRivalsNeedCompleteRows(t *testing.T) {
	set, err := dataset.Spec{Name: "open", Gaps: true, Binarization: dataset.Real, Validation: new(0)}.FromRows(dataset.Shape{Height: 1, Width: 2}, [][]float64{{1, 2}, {math.NaN(), 3}, {2, 5}}, [][]float64{{1, 2}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Fit(set, set.Test()); err == nil || !strings.Contains(err.Error(), "the train rows have missing values, and rivals need complete rows: omit --rivals") {
		t.Error(err)
	}
}

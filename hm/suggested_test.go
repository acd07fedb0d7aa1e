package hm

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// With what is suggested a machine explains rows that it has not seen better than independent units do, by
// more than three standard errors: a few bits, and real numbers.
func TestSuggestedLearns(t *testing.T) {
	t.Parallel()
	real := make([][]float64, 800)
	for r := range real { // two variables that are nearly equal
		x := math.Sin(float64(7 * r))
		real[r] = []float64{x, x + 0.05*math.Cos(float64(11*r)), x*x - 0.5}
	}
	bits, err := dataset.Spec{Name: "miniglyphs", Subset: 200, Validation: new(100)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	numbers, err := dataset.Spec{Name: "numbers", Binarization: dataset.Real, Validation: new(40)}.FromRows(dataset.Shape{Height: 1, Width: 3}, real, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range []*dataset.Set{bits, numbers} {
		machine, method := Suggested(set)
		run, err := method.Train(t.Context(), machine, set, t.TempDir(), runs.Quiet)
		if err != nil {
			t.Fatal(err)
		}
		e, err := run.Model.Evaluate(t.Context(), set.Validation(), 50, nil)
		if err != nil {
			t.Fatal(err)
		}
		base := run.History().Baseline.Factorized
		if gain := float64(e.LogP) - base.Value; !(gain > 3*math.Hypot(float64(e.LogPSE), base.SE)) {
			t.Errorf("on %v log p is %v ± %v, of independent units %v ± %v", set, e.LogP, e.LogPSE, base.Value, base.SE)
		}
	}
}

// There must be suggestions even for a set without training rows.
func TestSuggestedForNoRows(t *testing.T) {
	for _, b := range []dataset.Binarization{dataset.Stochastic, dataset.Real} {
		if _, method := SuggestedFor(shape(2, 3), 0, b); method.Spec().BatchSize != 1 {
			t.Errorf("%v: the batch size is %d", b, method.Spec().BatchSize)
		}
	}
}

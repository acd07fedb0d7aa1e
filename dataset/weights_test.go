package dataset

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// weighted opens 12 rows with weights, by some rules, and holds none of them out.
func weighted(t *testing.T, rules Rules, weights string) (*Set, error) {
	rows := written(t, "rows.csv", strings.Repeat("1.5,2\n0.5,1\n-2.5,7\n", 4))
	spec := Spec{Name: rows, Test: twin(t, rows), WeightFile: written(t, "weights.txt", weights), Binarization: Real, Validation: new(0), Rules: rules}
	return spec.Open()
}

// Rows count in means as their weights say, except in files that the first rules read. Tiny weights keep their ratios.
func TestWeightsCountInMeans(t *testing.T) {
	for _, unit := range []float64{1, 1e-200, 1e-310} {
		set, err := weighted(t, 0, strings.Repeat(fmt.Sprintf("%g\n%g\n0\n", unit, 2*unit), 4))
		if err != nil {
			t.Fatal(err)
		}
		for r, share := range set.Train().Shares() {
			if want := []float64{1, 2, 0}[r%3]; math.Abs(share-want) > 1e-9 {
				t.Fatalf("with the unit %g, row %d has the share %v, want %v", unit, r+1, share, want)
			}
		}
		if by := set.train.moments(set.train.MeanWeights())[0]; math.Abs(by.Mean-2.5/3) > 1e-9 || math.Abs(by.SD-math.Sqrt(2)/3) > 1e-9 {
			t.Errorf("with the unit %g, the moments are %v", unit, by)
		}
	}
	two, err := weighted(t, 0, strings.Repeat("1\n2\n1\n", 4))
	if err != nil || !slices.Equal(two.Train().Counts()[:3], []float64{1, 2, 1}) {
		t.Errorf("the rows count as %v (%v), want 1, 2, 1", two.Train().Counts(), err)
	}
	first, err := weighted(t, FirstRules, strings.Repeat("0.25\n0.5\n0\n", 4))
	if train := first.Train(); err != nil || train.Weights[1] != 0.5 || train.MeanWeights() != nil || train.Subset(3, 1).MeanWeights() != nil {
		t.Errorf("by the first rules, the weights are %v, and %v in means (%v)", train.Weights, train.MeanWeights(), err)
	}
}

// Validation and test rows drawn from the weighted file keep their weights, and a subset of the rows does.
func TestWeightsOfHeldOutRows(t *testing.T) {
	var rows, weights strings.Builder
	for r := range 40 {
		fmt.Fprintf(&rows, "%d.5,%d\n", r, r%3)
		fmt.Fprintf(&weights, "%d.5\n", r)
	}
	set := opened(t, Spec{Name: written(t, "rows.csv", rows.String()), WeightFile: written(t, "weights.txt", weights.String()), Binarization: Real, Validation: new(9)})
	for _, of := range []Split{set.Train(), set.Train().Subset(5, 2), set.Validation(), set.Test()} {
		for r, w := range of.MeanWeights() {
			if of.Floats(r)[0][0] != w {
				t.Errorf("%v: row %v has the weight %v", of, of.Floats(r), w)
			}
		}
		if len(of.MeanWeights()) != of.Rows {
			t.Errorf("%v have %d weights", of, len(of.MeanWeights()))
		}
	}
}

func TestWrongWeights(t *testing.T) {
	for wrong, says := range map[string]string{"-1": "the weight of row 2 is -1", "nan": "a missing value", "inf": "not finite", "1e39": "1e+39"} {
		_, err := weighted(t, 0, "1\n"+wrong+"\n"+strings.Repeat("1\n", 10))
		wantError(t, err, "weight_file", says)
	}
	_, err := weighted(t, 0, strings.Repeat("0\n", 12))
	wantError(t, err, "all training rows have the weight 0")
}

package boltzmann

import (
	"math"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Gaussian units see the same states of real numbers on any scale, and log p differs by the logarithm of the
// scale. A column that is constant is only shifted.
func TestRealNumbersAreStandardised(t *testing.T) {
	reals := func(a, b float64) dataset.Split {
		var all []float32
		for _, x := range []float64{1, -2, 5, 0.5, 7, 5, 4, 3, 5} {
			all = append(all, float32(a*x+b))
		}
		return dataset.Split{Name: "train", Shape: dataset.Shape{Height: 1, Width: 3}, Values: dataset.Reals(3, all)}
	}
	plain := encoding{binarization: dataset.Real, standard: standardOf(reals(1, 0))}
	for _, c := range [][2]float64{{1. / 1024, 0}, {256, 1 << 14}} {
		rows := reals(c[0], c[1])
		scaled := encoding{binarization: dataset.Real, standard: standardOf(rows)}
		for r := range rows.Rows {
			want, got := make([]float32, 3), make([]float32, 3)
			plain.load(want, reals(1, 0), r, place{}, r)
			scaled.load(got, rows, r, place{}, r)
			for i := range want {
				if math.Abs(float64(got[i]-want[i])) > 1e-5 {
					t.Errorf("times %v, unit %d of row %d: %v, want %v", c[0], i, r, got[i], want[i])
				}
			}
		}
		if shift := 2 * math.Log(c[0]); math.Abs(scaled.logScale()-plain.logScale()-shift) > 1e-6 {
			t.Errorf("times %v: a log scale of %v, want %v more than %v", c[0], scaled.logScale(), shift, plain.logScale())
		}
	}
}

func TestSetsStandardizedOtherwiseAreRefused(t *testing.T) {
	rows := [][]float64{{1, 30}, {2, -10}, {4, 20}, {3, 0}}
	spec := dataset.Spec{Name: "own", Binarization: dataset.Real, Validation: new(0)}
	raw, err := spec.FromRows(dataset.Shape{Height: 1, Width: 2}, rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	spec.Standardize = true
	set, err := spec.FromRows(raw.Shape(), rows, rows)
	if err != nil {
		t.Fatal(err)
	}
	run, err := CD().BatchSize(2).Epochs(1).Train(t.Context(), New(set.Shape()).Visible(Gaussian).Hidden(2), set, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), set, set.Test(), Annealing{}, nil); err != nil {
		t.Error(err)
	}
	_, err = run.Evaluate(t.Context(), raw, raw.Test(), Annealing{}, nil)
	if err == nil || !strings.Contains(err.Error(), "standardize = false, but the model was trained with true") {
		t.Errorf("an evaluation of other numbers: error %v", err)
	}
}

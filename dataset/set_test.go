package dataset

import (
	"math"
	"slices"
	"testing"
)

func TestFingerprintTellsSetsApart(t *testing.T) {
	ones := [][]float64{{1, 1, 1, 1}, {1, 1, 1, 0}}
	seen := map[string]string{}
	for name, make := range map[string]func() (*Set, error){
		"a set":           func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones, ones[:1]) },
		"another shape":   func() (*Set, error) { return FromRows("own", Shape{1, 4}, ones, ones[:1]) },
		"other values":    func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones[:1], ones[:1]) },
		"other test rows": func() (*Set, error) { return FromRows("own", Shape{2, 2}, ones, ones[1:]) },
		"another division": func() (*Set, error) {
			return Spec{Name: "own", Validation: new(1)}.FromRows(Shape{2, 2}, ones, ones[:1])
		},
	} {
		s, err := make()
		if err != nil {
			t.Fatal(err)
		}
		print := s.Fingerprint()
		if len(print) != 64 || print != s.Fingerprint() {
			t.Errorf("fingerprint %q of %s", print, name)
		}
		if other, taken := seen[print]; taken {
			t.Errorf("%s and %s have the same fingerprint", name, other)
		}
		seen[print] = name
	}
}

func TestFromRows(t *testing.T) {
	train := [][]float64{{0, 0.49, 0.5, 1}, {0.2, 0.4, 0.6, 0.8}}
	s, err := FromRows("own", Shape{2, 2}, train, train[:1])
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Train().Values; !slices.Equal(got, []uint8{0, 0, 255, 255, 0, 0, 255, 255}) {
		t.Errorf("rounded to %v", got)
	}
	if s.Name() != "own" || s.Shape() != (Shape{2, 2}) || s.Test().Rows != 1 || s.Test().Name != "test" {
		t.Errorf("set %q of shape %v with %d %s rows", s.Name(), s.Shape(), s.Test().Rows, s.Test().Name)
	}
	kept, err := Spec{Name: "own", Binarization: Stochastic}.FromRows(Shape{2, 2}, train, train[:1])
	if err != nil {
		t.Fatal(err)
	}
	if got := kept.Train().Row(1); !slices.Equal(got, []uint8{51, 102, 153, 204}) {
		t.Errorf("kept grey as %v", got)
	}
}

func TestFromRowsRefusesWhatIsNoProbability(t *testing.T) {
	good := []float64{0, 1}
	for _, v := range []float64{math.NaN(), -0.1, 1.1, math.Inf(1)} {
		_, err := FromRows("own", Shape{1, 2}, [][]float64{good, {0, v}}, nil)
		wantError(t, err, "own", "training row 2, column 2")
		_, err = FromRows("own", Shape{1, 2}, [][]float64{good}, [][]float64{{v, 0}})
		wantError(t, err, "own", "test row 1, column 1")
	}
	_, err := FromRows("own", Shape{1, 2}, [][]float64{good, {1}}, nil)
	wantError(t, err, "training row 2 has 1 values", "1×2 has 2")
	_, err = FromRows("own", Shape{0, 2}, [][]float64{good}, nil)
	wantError(t, err, "shape 0×2")
	_, err = FromRows("own", Shape{1, 2}, nil, nil)
	wantError(t, err, "no rows")
	_, err = FromRows("mnist", Shape{1, 2}, [][]float64{good, good}, nil)
	wantError(t, err, "mnist", "choose another")
	_, err = Spec{Name: "own", Test: "t.npy"}.FromRows(Shape{1, 2}, [][]float64{good, good}, nil)
	wantError(t, err, `"t.npy"`)
}

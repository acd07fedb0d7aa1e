package statistics

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// No factorisation receives a number that is not finite: the error names the matrix and the entry.
func TestFactorisationsTakeFiniteMatricesAlone(t *testing.T) {
	of := map[string]func(what string, a *mat.SymDense) error{
		"Eigen":    func(what string, a *mat.SymDense) error { _, err := Eigen(what, a); return err },
		"SVD":      func(what string, a *mat.SymDense) error { _, err := SVD(what, a); return err },
		"Cholesky": func(what string, a *mat.SymDense) error { _, err := Cholesky(what, a); return err },
		"Inverse":  func(what string, a *mat.SymDense) error { _, err := Inverse(what, a); return err },
	}
	for name, of := range of {
		a := mat.NewSymDense(3, []float64{2, 1, 0, 1, 2, 0, 0, 0, 1})
		if err := of("a", a); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			a.SetSym(1, 2, v)
			if err, want := of("the covariance", a), fmt.Sprintf("the covariance is %v in row 2 and column 3", v); err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %q", name, err, want)
			}
			if logDet := LogDet(a); !math.IsNaN(logDet) {
				t.Errorf("the log determinant is %v with an entry %v", logDet, v)
			}
		}
	}
	singular := mat.NewSymDense(2, nil)
	for name, says := range map[string]string{"Cholesky": "a is not positive definite", "Inverse": "a has no inverse"} {
		if err := of[name]("a", singular); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s of a singular matrix: error %v, want %q", name, err, says)
		}
	}
	if got := LogDet(mat.NewDense(2, 2, []float64{0, 2, 3, 1})); math.Abs(got-math.Log(6)) > 1e-15 {
		t.Errorf("the log determinant is %v, want log 6", got)
	}
}

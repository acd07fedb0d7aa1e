package enginetest

import (
	"math"
	"reflect"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"gonum.org/v1/gonum/floats"
)

// maxDeviation is the number of standard errors within which a mean over samples must lie. A suite
// makes some 10⁴ comparisons; by chance, one of them exceeds 4.5 for one in 15 choices of the
// seeds.
const maxDeviation = 4.5

func wantGradient(t *testing.T, what string, got *engine.Parameters, want []float64, tolerance float64) {
	t.Helper()
	flat, size := kernels.Doubles(got.Flat), got.Architecture.GenerativeSize()
	for part, of := range map[string][2][]float64{"θ": {flat[:size], want[:size]}, "φ": {flat[size:], want[size:]}} {
		e := floats.Distance(of[0], of[1], 2)
		if e > 0 {
			e /= floats.Norm(of[1], 2)
		}
		t.Logf("%s, %s: relative error %.1e", what, part, e)
		if !(e <= tolerance) {
			t.Errorf("%s: the %s part differs from the oracle's by a relative %.2g, tolerated %.2g", what, part, e, tolerance)
		}
	}
}

// wantMean compares means over samples with expectations, given the variances of the means. It
// allows for the error of single precision, which matters if a mean has no variance.
func wantMean(t *testing.T, what string, got, want, variance []float64) {
	t.Helper()
	const rounding = 1e-6
	worst, at := 0.0, 0
	for k := range want {
		z := math.Abs(got[k]-want[k]) / (math.Sqrt(variance[k]) + rounding)
		if !(z <= worst) {
			worst, at = z, k
		}
	}
	t.Logf("%s: worst of %d deviations %.2f standard errors", what, len(want), worst)
	if !(worst <= maxDeviation) {
		t.Errorf("%s: mean %d is %v, want %v ± %.2g: %.2f standard errors off", what, at, got[at], want[at], math.Sqrt(variance[at]), worst)
	}
}

// wantSameState compares everything that a checkpoint holds, bit for bit.
func wantSameState(t *testing.T, got, want *engine.State) {
	t.Helper()
	if reflect.DeepEqual(got, want) {
		return
	}
	k, flat := 0, want.Parameters.Flat
	for k < len(flat)-1 && got.Parameters.Flat[k] == flat[k] {
		k++
	}
	t.Errorf("the state after step %d, with a refresh at %d, differs from the one after step %d, with a refresh at %d: parameter %d is %v and %v",
		got.Step, got.RefreshStep, want.Step, want.RefreshStep, k, got.Parameters.Flat[k], flat[k])
}

package thesis

import (
	"math"
	"testing"
)

// The relevant rows stand first, third and fourth.
func TestAveragePrecision(t *testing.T) {
	got := averagePrecision([]float64{0.2, 0.9, 0.5, 0.4, 0.1}, []bool{true, true, false, true, false})
	if want := (1 + 2./3 + 3./4) / 3; math.Abs(got-want) > 1e-15 {
		t.Errorf("the average precision is %v, want %v", got, want)
	}
}

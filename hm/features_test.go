package hm

import (
	"math"
	"testing"
)

// The features of a row are the means of the hidden units under q(h|x): exact in the first hidden layer, and within four standard errors
// above it.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const samples = 4000
	m, exact := tiny(t, PlusMinusOne, 3, 2, 2)
	rows := everyRow(3)
	of := m.Encodings()[0]
	features, err := of.Encode(t.Context(), rows, samples, 5)
	if err != nil || len(of.Columns) != 4 || of.Columns[3] != "h2_2" {
		t.Fatal(of.Columns, err)
	}
	for r, got := range features {
		x := make([]float64, 3)
		for j := range x {
			x[j] = 2*rows.At(r*3+j) - 1
		}
		want := make([]float64, 4)
		for state := range 1 << 4 {
			h := make([]float64, 4)
			for k := range h {
				h[k] = float64(2*(state>>k&1) - 1)
			}
			q := math.Exp(exact.LogRecognitionOf([][]float64{x, h[:2], h[2:]}))
			for k := range want {
				want[k] += q * (h[k] + 1) / 2
			}
		}
		for k, v := range got {
			tolerance := 1e-5
			if k >= 2 {
				tolerance = 4 * 0.5 / math.Sqrt(samples)
			}
			wantNear(t, of.Columns[k], v, want[k], tolerance)
		}
	}
}

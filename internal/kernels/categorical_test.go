package kernels

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Of many draws, each class takes the share that the softmax of its logit says,
// within 4 standard errors, and exactly one unit is on.
func TestCategoricalDrawsHaveTheirProbabilities(t *testing.T) {
	const draws = 40_000
	logits := []float32{0.3, -1.2, 1.1, -30, 0}
	count := make([]float64, len(logits))
	states := []float32{1, 1, 1, 1, 1}
	for n := range draws {
		DrawCategorical(states, logits, 7, philox.Counter{Datum: uint32(n)})
		ones := 0
		for j, s := range states {
			if s == 1 {
				ones++
				count[j]++
			} else if s != 0 {
				t.Fatalf("unit %d is %v", j, s)
			}
		}
		if ones != 1 {
			t.Fatalf("%d units of draw %d are on", ones, n)
		}
	}
	total := LogSumExp(logits)
	for j, a := range logits {
		p := math.Exp(float64(a) - total)
		if got, se := count[j]/draws, math.Sqrt(p*(1-p)/draws); !(math.Abs(got-p) <= 4*se+1e-9) {
			t.Errorf("class %d is drawn with frequency %v, its probability is %v ± %v", j, got, p, se)
		}
	}
}

// The residuals are the derivatives of the log-probability, by finite
// differences, also of logits that overflow a float32 exponential.
func TestCategoricalResidualsAreDerivatives(t *testing.T) {
	const h = 1.0 / 64
	for _, logits := range [][]float32{{0.5, -1, 2}, {200, 201, 0}, {-300, -300.5, -302}} {
		for on := range logits {
			states := make([]float32, len(logits))
			states[on] = 1
			at := func(j int, by float32) float64 {
				moved := append([]float32(nil), logits...)
				moved[j] += by
				return ResidualCategorical(moved, states)
			}
			residual := append([]float32(nil), logits...)
			ResidualCategorical(residual, states)
			for j := range logits {
				want := (at(j, h) - at(j, -h)) / (2 * h)
				if !(math.Abs(float64(residual[j])-want) <= 1e-4) {
					t.Errorf("logits %v, class %d on: derivative %d is %v, by differences %v", logits, on, j, residual[j], want)
				}
			}
		}
	}
}

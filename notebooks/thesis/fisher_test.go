package thesis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The Fisher matrix of a normal variable in its mean and log-deviation is diagonal, 1/σ² and
// 2; of the mean beside itself it is not, which is noticed.
func TestOutsideOfFisherBlocks(t *testing.T) {
	const σ, samples = 0.5, 100_000
	random, normal, twice := rand.New(rand.NewPCG(1, 2)), newFisher([]int{0, 1}), newFisher([]int{0, 1})
	for range samples {
		ε := random.NormFloat64()
		normal.add([]float64{ε / σ, ε*ε - 1}, 1.0/samples)
		twice.add([]float64{ε, ε}, 1.0/samples)
	}
	if errors, within := normal.outside(normal.errors); errors > 4 || math.Abs(within-1/(σ*σ)) > 0.1 {
		t.Errorf("%.2f standard errors outside the blocks, %.3f within, want less than 4, and 4", errors, within)
	}
	if errors, _ := twice.outside(twice.errors); errors < 50 {
		t.Errorf("an entry of 1 outside the blocks is %.2f standard errors from 0", errors)
	}
}

package thesis

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The Fisher matrix of a normal variable in its mean and log-deviation is diagonal, 1/σ² and
// 2; of the mean beside itself it is not, which is noticed.
func TestOutsideOfFisherBlocks(t *testing.T) {
	const σ = 0.5
	normal := func(r *rand.Rand) []float64 {
		ε := r.NormFloat64()
		return []float64{ε / σ, ε*ε - 1}
	}
	f := estimateFisher([]int{0, 1}, normal, 100_000)
	if errors, within := f.outside(f.errors); errors > 4 || math.Abs(within-1/(σ*σ)) > 0.1 {
		t.Errorf("%.2f standard errors outside the blocks, %.3f within, want less than 4, and 4", errors, within)
	}
	twice := func(r *rand.Rand) []float64 {
		ε := r.NormFloat64()
		return []float64{ε, ε}
	}
	f = estimateFisher([]int{0, 1}, twice, 10_000)
	if errors, _ := f.outside(f.errors); errors < 50 {
		t.Errorf("an entry of 1 outside the blocks is %.2f standard errors from 0", errors)
	}
}

// Scores have mean 0, within four standard errors.
func TestScoresHaveMeanZero(t *testing.T) {
	for name, network := range map[string]func() ([]int, scores){"gaussian": gaussianNetwork, "convolution": convolutionOfThree} {
		of, draw := network()
		random := rand.New(rand.NewPCG(7, 8))
		const samples = 20_000
		sum, squares := make([]float64, len(of)), make([]float64, len(of))
		for range samples {
			s := draw(random)
			if len(s) != len(of) {
				t.Fatalf("%s: %d scores of %d parameters", name, len(s), len(of))
			}
			for i, x := range s {
				sum[i] += x
				squares[i] += x * x
			}
		}
		for i := range sum {
			if mean, se := sum[i]/samples, math.Sqrt(squares[i])/samples; math.Abs(mean) > 4*se {
				t.Errorf("%s: score %d has mean %.4f ± %.4f", name, i, mean, se)
			}
		}
	}
}

package factors_test

import (
	"context"
	"fmt"
	"log"

	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/factors"
)

// Two factors explain six tests of ability of 112 people. The test of fit
// does not reject them, and the uniquenesses agree with factanal of R.
func ExampleFactorAnalysisOf() {
	covariance := mat.NewSymDense(6, []float64{
		24.641, 5.991, 33.520, 6.023, 20.755, 29.701,
		5.991, 6.700, 18.137, 1.782, 4.936, 7.204,
		33.520, 18.137, 149.831, 19.424, 31.430, 50.753,
		6.023, 1.782, 19.424, 12.711, 4.757, 9.075,
		20.755, 4.936, 31.430, 4.757, 52.604, 66.762,
		29.701, 7.204, 50.753, 9.075, 66.762, 135.292,
	})
	m, err := factors.FactorAnalysisOf(context.Background(), covariance, 2, factors.FactorAnalysisOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fit, err := m.Test(covariance, 112)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("χ² = %.2f with %d degrees of freedom, p = %.3f\n", fit.ChiSquared, fit.Freedom, fit.P)
	for i, ψ := range m.Noise() {
		fmt.Printf("%.3f ", ψ/covariance.At(i, i))
	}
	// Output:
	// χ² = 6.11 with 4 degrees of freedom, p = 0.191
	// 0.455 0.589 0.218 0.769 0.052 0.334
}

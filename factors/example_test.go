package factors_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"slices"

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

// planes are rows of five numbers that lie near a plane.
func planes(n int) (rows [][]float64) {
	random := rand.New(rand.NewPCG(1, 2))
	for range n {
		a, b := random.NormFloat64(), random.NormFloat64()
		row := []float64{2 * a, a + b, a - b, 2 * b, 1}
		for i := range row {
			row[i] += 0.1 * random.NormFloat64()
		}
		rows = append(rows, row)
	}
	return rows
}

// Probabilistic PCA finds the plane, and the noise around it. Its log p is exact.
func ExampleFitPPCA() {
	train, test := planes(500), planes(20)
	m, err := factors.FitPPCA(train, 2)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("standard deviation of the noise: %.2f\n", math.Sqrt(m.Noise()[0]))
	_, distances := m.Project(test)
	fmt.Println("log p of", len(m.LogP(test)), "rows; distances from the plane are small:", slices.Max(distances) < 0.5)
	// Output:
	// standard deviation of the noise: 0.10
	// log p of 20 rows; distances from the plane are small: true
}

// Choose finds the number of factors by rows that were held out.
func ExampleChoose() {
	choice, err := factors.Choose(context.Background(), planes(300), factors.FitPPCA, []int{1, 2, 3}, 5, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range choice.Candidates {
		fmt.Printf("%d: %.1f nats\n", c.Factors, c.LogP.Value)
	}
	fmt.Println("the fewest within a standard error of the best:", choice.Sparing)
	// Output:
	// 1: -8.5 nats
	// 2: -1.9 nats
	// 3: -1.9 nats
	// the fewest within a standard error of the best: 2
}

// Independent components separate two sources that were mixed. The index of Amari is 0 if they are found, whatever
// their order and scale.
func ExampleFitIndependent() {
	random := rand.New(rand.NewPCG(1, 2))
	mixing := mat.NewDense(2, 2, []float64{1, 0.5, 0.4, 1})
	var rows [][]float64
	for range 2000 {
		s, t := random.Float64(), random.Float64() // flat sources
		rows = append(rows, []float64{s + 0.5*t, 0.4*s + t})
	}
	m, err := factors.FitIndependent(context.Background(), rows, 2, factors.Extended, 1)
	if err != nil {
		log.Fatal(err)
	}
	var product mat.Dense
	product.Mul(m.Unmixing(), mixing)
	fmt.Println("the sources are found:", factors.Amari(&product) < 0.05)
	// Output: the sources are found: true
}

// The slowest of three mixed signals is found without knowing it.
func ExampleFitSlow() {
	var rows [][]float64
	slow := func(t int) float64 { return math.Sin(float64(t) / 50) }
	for t := range 1000 {
		x, y, z := slow(t), math.Sin(float64(t)/3), math.Sin(float64(t)/2)
		rows = append(rows, []float64{x + y, y - z, x + 2*z})
	}
	s, err := factors.FitSlow([][][]float64{rows}, 1, factors.SlowOptions{})
	if err != nil {
		log.Fatal(err)
	}
	product, squares := 0.0, 0.0
	for t, feature := range s.Features(rows) {
		product += feature[0] * slow(t)
		squares += slow(t) * slow(t)
	}
	fmt.Printf("correlation with the slow signal: %.2f\n", math.Abs(product)/math.Sqrt(squares*float64(len(rows))))
	// Output: correlation with the slow signal: 1.00
}

// The loadings of a factor analysis are determined up to a rotation. Varimax chooses one that is easy to name: each
// variable with one factor, as far as possible.
func ExampleVarimax() {
	sin, cos := math.Sincos(0.5)
	loadings := mat.NewDense(4, 2, []float64{cos, sin, cos, sin, -sin, cos, -sin, cos})
	rotated, _ := factors.Varimax(loadings, false)
	for i := range 4 {
		fmt.Printf("%.1f %.1f\n", math.Abs(rotated.At(i, 0)), math.Abs(rotated.At(i, 1)))
	}
	// Output:
	// 1.0 0.0
	// 1.0 0.0
	// 0.0 1.0
	// 0.0 1.0
}

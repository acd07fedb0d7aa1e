package fisher_test

import (
	"fmt"
	"log"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/helmholtz-go/helmholtz/fisher"
)

// Two units of one layer have the same two parents, coded ±1, whose states differ in all four
// samples. The first unit is undecided, the second nearly certain. The same gradient becomes a
// longer step for the second unit, because the step hardly moves its probability.
func Example() {
	const (
		undecided = 0.5 * 0.5   // σ'(a) = σ(a)(1 − σ(a))
		certain   = 0.99 * 0.01 // for a unit that is on in 99 of 100 samples
		weight    = 1.0 / 4     // per sample
	)
	estimate := fisher.Estimate{
		Parents: blas32.General{Rows: 4, Cols: 3, Stride: 3, Data: []float32{
			1, 1, 1, // one sample: 1 for the bias, and the parents
			1, 1, -1,
			1, -1, 1,
			1, -1, -1,
		}},
		Weights: blas32.General{Rows: 4, Cols: 2, Stride: 2, Data: []float32{
			weight * undecided, weight * certain,
			weight * undecided, weight * certain,
			weight * undecided, weight * certain,
			weight * undecided, weight * certain,
		}},
	}
	inverse, err := fisher.NewInverse(estimate, fisher.Settings{Damping: 0.25, Steps: 100}, nil)
	if err != nil {
		log.Fatal(err)
	}

	gradients := blas32.General{Rows: 2, Cols: 3, Stride: 3, Data: []float32{
		0.1, 0.2, -0.1, // one unit: its bias, and the weights of its parents
		0.1, 0.2, -0.1,
	}}
	inverse.Apply(gradients, 0)
	fmt.Printf("undecided %.3f\n", gradients.Data[:3])
	fmt.Printf("certain   %.3f\n", gradients.Data[3:])
	// Output:
	// undecided [0.250 0.500 -0.250]
	// certain   [0.481 0.962 -0.481]
}

// Blocks reduced to their diagonals are inverted element by element.
func ExampleNewDiagonal() {
	diagonals := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{0.25, 0.15, 0.05}}
	inverse, err := fisher.NewDiagonal(diagonals, 0.1)
	if err != nil {
		log.Fatal(err)
	}
	gradient := blas32.General{Rows: 1, Cols: 3, Stride: 3, Data: []float32{1, 1, 1}}
	inverse.Apply(gradient, 0)
	fmt.Printf("%.2f\n", gradient.Data)
	// Output: [3.14 4.40 7.33]
}

package kernels

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Covariances of all instruction sets are sums of products, of numbers of rows and variables that do
// and do not fill chunks and tiles.
func TestCovariance(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, shape := range [][2]int{{1, 1}, {5, 3}, {128, 24}, {300, 53}} {
		rows, b := make([][]float64, shape[0]), make([]float64, shape[1])
		for r := range rows {
			for i := range b {
				rows[r] = append(rows[r], random.NormFloat64())
				b[i] += rows[r][i] / float64(len(rows))
			}
		}
		eachSet(t, func(t *testing.T) {
			got := Covariance(rows, b)
			for i := range b {
				for j := i; j < len(b); j++ {
					want := 0.0
					for _, x := range rows {
						want += (x[i] - b[i]) * (x[j] - b[j]) / float64(len(rows))
					}
					if math.Abs(got[i*len(b)+j]-want) > 1e-13 {
						t.Fatalf("%v: the covariance of %d and %d is %v, want %v", shape, i, j, got[i*len(b)+j], want)
					}
				}
			}
		})
	}
}

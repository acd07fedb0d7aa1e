package energies

import (
	"math/rand/v2"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
)

// BenchmarkStep takes 100 rows through what a step of training does with them, at the sizes of the articles: their
// gradient, a step of their chains, and the gradient there. Beside it stand the products of matrices of the step, in single
// precision, from packed memory of their own: each product is m×k·k×n, so often.
func BenchmarkStep(b *testing.B) {
	const rows = 100
	conv, err := newConvolution(Convolution{Filters: 40, Window: 12, Pool: 2}, dataset.Shape{Height: 27, Width: 27}, 1)
	if err != nil {
		b.Fatal(err)
	}
	pair := make(dataset.Mask, 338)
	for i := range 169 {
		pair[169+i] = true
	}
	half, err := dataset.ParseMask("left", dataset.Shape{Height: 28, Width: 28}, 1)
	if err != nil {
		b.Fatal(err)
	}
	type product struct{ m, k, n, times int }
	for _, c := range []struct {
		name     string
		e        energy
		units    int
		products []product
	}{
		{"convolutional", conv, 729, []product{{25600, 144, 40, 3}, {25600, 40, 144, 1}, {144, 25600, 40, 2}}},
		{"spike-and-slab", newSpikeAndSlab(256, 192), 192, []product{{rows, 192, 256, 6}, {rows, 256, 192, 2}, {256, rows, 192, 4}}},
		{"mean-covariance", newMeanCovariance(MeanCovariance{256, 256}, 192, false), 192, []product{{rows, 192, 512, 23}, {rows, 512, 192, 21}, {512, rows, 192, 2}}},
		{"student-t", newMeanCovariance(MeanCovariance{256, 256}, 192, true), 192, []product{{rows, 192, 512, 23}, {rows, 512, 192, 21}, {512, rows, 192, 2}}},
		{"conditional", newConditional(1000, half, false), 784, []product{{rows, 784, 1000, 3}, {rows, 392, 392, 1}, {rows, 1000, 392, 1}, {1000, rows, 784, 2}, {392, rows, 392, 2}}},
		{"gated", newGated(Gated{Hidden: 100, Factors: 200}, pair), 338, []product{{rows, 169, 200, 7}, {rows, 200, 100, 6}, {169, rows, 200, 4}, {200, rows, 100, 2}}},
	} {
		random(c.e, 0.05, 1)
		var states [][]float64
		var draws []*rand.Rand
		for r := range rows {
			draws = append(draws, rand.New(rand.NewPCG(1, uint64(r))))
			x := make([]float64, c.units)
			c.e.Base(x, draws[r])
			states = append(states, x)
		}
		b.Run(c.name+"/step", func(b *testing.B) {
			for b.Loop() {
				var to [][]float64
				for _, p := range c.e.Parameters() {
					to = append(to, make([]float64, p.Size()))
				}
				c.e.Gradients(to, 1, states)
				c.e.Sweeps(states, draws, false)
				c.e.Gradients(to, -1, states)
			}
		})
		b.Run(c.name+"/products", func(b *testing.B) {
			for b.Loop() {
				for _, p := range c.products {
					a, w, to := kernels.NewMatrix(p.m, p.k), kernels.NewMatrix(p.n, p.k), kernels.NewMatrix(p.m, p.n)
					for range p.times {
						kernels.MulNT(to, a, w)
					}
				}
			}
		})
	}
}

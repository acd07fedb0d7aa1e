package energies

import (
	"math/rand/v2"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// BenchmarkRow takes a row through what a step of training does with it: a gradient, a step of its chain, and the
// gradient there.
func BenchmarkRow(b *testing.B) {
	conv, err := newConvolution(Convolution{Filters: 24, Window: 5, Pool: 2}, dataset.Shape{Height: 14, Width: 14}, 1)
	if err != nil {
		b.Fatal(err)
	}
	half, err := dataset.ParseMask("left", dataset.Shape{Height: 14, Width: 14}, 1)
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		e     Energy
		units int
	}{
		{"convolutional", conv, 196},
		{"spike-and-slab", newSpikeAndSlab(64, 64), 64},
		{"mean-covariance", newMeanCovariance(MeanCovariance{64, 128}, 64, false), 64},
		{"student-t", newMeanCovariance(MeanCovariance{64, 128}, 64, true), 64},
		{"conditional", newConditional(100, half, false), 196},
		{"gated", newGated(Gated{Hidden: 50, Factors: 100}, half), 196},
	} {
		b.Run(c.name, func(b *testing.B) {
			random(c.e, 0.1, 1)
			r := rand.New(rand.NewPCG(1, 1))
			x := make([]float64, c.units)
			c.e.Base(x, r)
			var to [][]float64
			for _, p := range c.e.Parameters() {
				to = append(to, make([]float64, p.Size()))
			}
			for b.Loop() {
				c.e.Gradient(to, 1, x)
				c.e.Sweep(x, r)
				c.e.Gradient(to, -1, x)
			}
		})
	}
}

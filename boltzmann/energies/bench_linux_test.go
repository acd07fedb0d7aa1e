package energies

import (
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// BenchmarkStepOverItsProducts computes what a step of training computes for 100 rows, at the sizes of the articles and
// with initial parameters: the gradient at the rows, a step of their chains, with draws from the streams of training, and
// the gradient at the chains. After each step it computes the step's matrix products alone, in single precision; a product
// of m×k and k×n matrices takes place the given number of times. It reports the median ratio of their times, which are
// processor times, because other programs may run.
func BenchmarkStepOverItsProducts(b *testing.B) {
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
		b.Run(c.name, func(b *testing.B) {
			var states [][]float64
			var draws []*rand.Rand
			for r := range rows {
				draws = append(draws, rand.New(kernels.NewStream(1, philox.Counter{Datum: uint32(r)})))
				x := make([]float64, c.units)
				c.e.Base(x, draws[r])
				states = append(states, x)
			}
			c.e.Begin(states, draws[0])
			var operands [][3]kernels.Matrix
			for _, p := range c.products {
				of := [3]kernels.Matrix{kernels.NewMatrix(p.m, p.k), kernels.NewMatrix(p.n, p.k), kernels.NewMatrix(p.m, p.n)}
				for _, m := range of[:2] {
					for i := range m.Data {
						m.Data[i] = float32(draws[0].NormFloat64())
					}
				}
				operands = append(operands, of)
			}
			var steps, alone, ratios []float64
			for b.Loop() {
				start := processorMilliseconds(b)
				var to [][]float64
				for _, p := range c.e.Parameters() {
					to = append(to, make([]float64, p.Size()))
				}
				products := c.e.Products()
				products.Gradients(to, 1, states)
				products.Sweeps(states, draws, false)
				products.Gradients(to, -1, states)
				between := processorMilliseconds(b)
				for i, p := range c.products {
					for range p.times {
						kernels.MulNT(operands[i][2], operands[i][0], operands[i][1])
					}
				}
				steps, alone = append(steps, between-start), append(alone, processorMilliseconds(b)-between)
				ratios = append(ratios, steps[len(steps)-1]/alone[len(alone)-1])
			}
			median := func(x []float64) float64 {
				slices.Sort(x)
				return x[len(x)/2]
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(median(ratios), "×products")
			b.ReportMetric(median(steps), "ms/step")
			b.ReportMetric(median(alone), "ms/products")
		})
	}
}

// processorMilliseconds returns the processor time of this process until now.
func processorMilliseconds(b *testing.B) float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return 1e3 * (time.Duration(usage.Utime.Nano()) + time.Duration(usage.Stime.Nano())).Seconds()
}

package boltzmann

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// The machine and the minibatch of the usual comparison.
const benchVisible, benchHidden, benchRows = 784, 500, 100

// benchModel is of that machine.
func benchModel(b *testing.B) *Model {
	m, err := New(dataset.Shape{Height: 28, Width: 28}).Hidden(benchHidden).Model(1)
	if err != nil {
		b.Fatal(err)
	}
	return m
}

// benchTrainer trains it by a method.
func benchTrainer(b *testing.B, method MethodSpec) *trainer {
	m := benchModel(b)
	return trainerOf(m, method)
}

// trainerOf trains a machine of images of 28×28 by a method.
func trainerOf(m *Model, method MethodSpec) *trainer {
	p := m.parameters
	s := state{parameters: p, visibleOffsets: make([]float32, p.Visible()), hiddenOffsets: make([]float32, p.Hidden())}
	for range method.Optimizer.slots() {
		s.moments = append(s.moments, p.zeros())
	}
	s.persistent = kernels.NewMatrix(method.replicas(0), p.Hidden())
	rows := dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, benchRows*benchVisible))}
	for i := range rows.Bytes() {
		rows.Bytes()[i] = uint8(i % 7 / 6 * 255)
	}
	order := make([]int, benchRows)
	return newTrainer(s, method, 1, rows, dataset.Fixed, func(int) []int { return order })
}

func BenchmarkStep(b *testing.B) {
	for _, method := range []Method{CD(), PCD(), PCD().Momentum(0.9), PCD().Optimizer(Adam), PCD().Natural(Joint, 0.1), PCD().Natural(Marginal, 0.1)} {
		b.Run(fmt.Sprint(method.spec), func(b *testing.B) {
			t := benchTrainer(b, method.spec)
			for b.Loop() {
				if _, err := t.take(b.Context(), 0.01); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// A step of a deep machine of layers of 784, 500 and 1,000 units.
func BenchmarkDeepStep(b *testing.B) {
	m, err := New(dataset.Shape{Height: 28, Width: 28}).Hidden(benchHidden, 2*benchHidden).Model(1)
	if err != nil {
		b.Fatal(err)
	}
	t := trainerOf(m, PCD().spec)
	for b.Loop() {
		if _, err := t.take(b.Context(), 0.01); err != nil {
			b.Fatal(err)
		}
	}
}

// productsOfAStep returns what computes the products of a step of PCD-1, by themselves: what it
// cannot be faster than. They are of a packed matrix, and in parts as training has them.
func productsOfAStep(b *testing.B) func() {
	m := benchModel(b)
	w, c, data := newProducts(m.parameters), newChains(benchRows, m.parameters), newChains(benchRows, m.parameters)
	packed, gradient := kernels.NewPacked(benchVisible, benchHidden), m.parameters.zeros()
	return func() {
		inParts(benchRows, func(first, last int) {
			data, _ := data.part(first, last, place{})
			w.up(data.hiddenInputs, data.visible)
		})
		inParts(benchRows, func(first, last int) {
			c, _ := c.part(first, last, place{})
			kernels.MulPacked(c.visibleInputs, c.hidden, packed)
			w.up(c.hiddenInputs, c.visible)
		})
		work.Parts(benchVisible, visibleAPart, func(first, last int) {
			tile := kernels.Rows(gradient.Weights, first, last)
			kernels.MulTN(tile, 0, kernels.Cols(data.visible, first, last), data.hidden)
			kernels.MulTN(tile, 1, kernels.Cols(c.visible, first, last), c.hidden)
		})
	}
}

// BenchmarkStepOverItsProducts alternates steps of PCD-1, which are not centred, like those of other programs, with their
// products alone, so that the load of the machine is alike for both. It reports the median of the ratios of their times,
// the median times, and the rate of the products.
func BenchmarkStepOverItsProducts(b *testing.B) {
	const together = 10
	t, products := benchTrainer(b, PCD().Centered(false).spec), productsOfAStep(b)
	milliseconds := func(task func()) float64 {
		start := time.Now()
		for range together {
			task()
		}
		return time.Since(start).Seconds() * 1e3 / together
	}
	var steps, alone, ratios []float64
	for b.Loop() {
		steps = append(steps, milliseconds(func() {
			if _, err := t.take(b.Context(), 0.01); err != nil {
				b.Fatal(err)
			}
		}))
		alone = append(alone, milliseconds(products))
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
	b.ReportMetric(5*2*benchVisible*benchHidden*benchRows/median(alone)/1e6, "GFlop/s")
}

// A step of 100 chains of AIS beside its two products by themselves, of the same chains in
// the same parts.
func BenchmarkAnnealing(b *testing.B) {
	m := benchModel(b)
	base := dataset.Split{Shape: m.shape, Values: dataset.Bytes(m.shape.Units(), make([]uint8, benchVisible))}
	const steps = 200
	perStep := func(b *testing.B) { b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*steps), "ms/step") }
	b.Run("steps", func(b *testing.B) {
		for b.Loop() {
			if _, err := m.AIS(b.Context(), base, Annealing{Schedule: Even(steps), Chains: benchRows}, nil); err != nil {
				b.Fatal(err)
			}
		}
		perStep(b)
	})
	b.Run("products", func(b *testing.B) {
		w, c, packed := newProducts(m.parameters), newChains(benchRows, m.parameters), kernels.NewPacked(benchVisible, benchHidden)
		for b.Loop() {
			inParts(benchRows, func(first, last int) {
				c, _ := c.part(first, last, place{})
				for range steps {
					w.up(c.hiddenInputs, c.visible)
					kernels.MulPacked(c.visibleInputs, c.hidden, packed)
				}
			})
		}
		perStep(b)
	})
}

//go:build cuda

package gpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// No operation may read what another operation of the same phase writes: reversing the operations
// of each phase must not change a bit of the steps.
func TestOperationsOfAPhaseAreIndependent(t *testing.T) {
	e := opened(t)
	data, p := stripes(40, 40), oracle.Random(engine.Architecture{Units: []int{40, 35, 9, 3}}, 3)
	for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
		for _, phases := range []int{1, 2} {
			a := nrws
			a.Metric, a.RefreshEvery, a.SleepSteps = metric, 100, phases
			a.Optimizer, a.Momentum, a.Entropy, a.L1 = engine.Nesterov, 0.9, 0.1, 0.01
			t.Run(fmt.Sprintf("%v, %d sleep phases", metric, phases), func(t *testing.T) {
				var parameters [2][]float32
				for k := range parameters {
					made, err := e.NewTrainer(minibatches(a, data), engine.NewState(a, p))
					if err != nil {
						t.Fatal(err)
					}
					defer made.Close()
					if _, err := made.Steps(context.Background(), []float64{0.01}); err != nil { // which computes the Fisher blocks
						t.Fatal(err)
					}
					trainer := made.(*trainer)
					programs := trainer.stepPrograms(trainer.shape(trainer.moment(0, 0.01)))
					whole := programs.get(trainer, &programs.whole)
					if k == 1 {
						for _, groups := range whole.phases {
							slices.Reverse(groups)
						}
						programs.whole = programs.memory.load(whole.program, trainer.job.Seed)
					}
					for range 3 {
						if _, err := made.Steps(context.Background(), []float64{0.01}); err != nil {
							t.Fatal(err)
						}
					}
					s, err := made.State()
					if err != nil {
						t.Fatal(err)
					}
					parameters[k] = s.Parameters.Flat
				}
				if slices.Equal(parameters[0], p.Flat) {
					t.Error("nothing was learnt")
				}
				if !slices.Equal(parameters[0], parameters[1]) {
					t.Error("another order of the operations gives other parameters")
				}
			})
		}
	}
}

// Products with packed matrices must equal products with the whole ones, for the smallest matrix
// and for the largest, whose sums leave room for fewer warps. Memory after the last row must never
// be read.
func TestPackedProducts(t *testing.T) {
	m, err := opened(t).device.newMemory()
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 31, 32, 33, 301, mostPacked} {
		matrix, vector := make([]float32, packed(n)), make([]float32, n)
		want, got := make([]float32, n), make([]float32, n)
		for k := range vector {
			vector[k] = random.Float32() - 0.5
		}
		sums := make([]float64, n)
		for i := range tiles(n, tileSize) * tileSize {
			for j := range (i/tileSize + 1) * tileSize {
				tile := (i/tileSize)*(i/tileSize+1)/2 + j/tileSize
				at := tile*tileSize*tileSize + i%tileSize*tileSize + j%tileSize
				switch {
				case i >= n:
					matrix[at] = float32(math.NaN())
				case j < i:
					matrix[at] = random.Float32() - 0.5
					if i/tileSize == j/tileSize {
						matrix[tile*tileSize*tileSize+j%tileSize*tileSize+i%tileSize] = matrix[at]
					}
					sums[i] += float64(matrix[at]) * float64(vector[j])
					sums[j] += float64(matrix[at]) * float64(vector[i])
				case j == i:
					matrix[at] = random.Float32()
					sums[i] += float64(matrix[at]) * float64(vector[i])
				}
			}
		}
		for k := range want {
			want[k] = float32(2 * sums[k])
		}
		p, products := &program{}, m.floats(n)
		add(p, 0, multiplyBlocks, 1, multiplyBlocksOf{
			blocks: hold(m, matrix), vectors: hold(m, vector), products: products,
			size: uint32(n), units: 1, productsStep: 1, scale: 2,
		})
		if err := m.load(p, 0).run("a product", moment{}); err != nil {
			t.Fatal(err)
		}
		download(m, got, products)
		if m.err != nil {
			t.Fatal(m.err)
		}
		wantClose(t, fmt.Sprintf("product of %d × %d numbers", n, n), got, want, 1e-5)
	}
}

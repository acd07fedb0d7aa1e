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
	test := func(t *testing.T, a engine.Algorithm, data engine.Data, arch engine.Architecture) {
		p := oracle.Random(arch, 3)
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
	}
	var algorithms []engine.Algorithm
	for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
		a := nrws
		a.Metric, a.RefreshEvery = metric, 100
		a.Optimizer, a.Momentum, a.L1 = engine.Nesterov, 0.9, 0.01
		for _, phases := range []int{1, 2} {
			a.SleepSteps, a.Entropy = phases, 0.1
			algorithms = append(algorithms, a)
		}
		a.SleepSteps, a.Entropy, a.Baseline, a.Rule = 1, 0, false, engine.JointStochastic
		algorithms = append(algorithms, a)
		a.Rule = engine.Reinforce
		for _, a.ReinforceBaseline = range []engine.ReinforceBaseline{engine.OptimalBaseline, engine.LearnedBaseline} {
			algorithms = append(algorithms, a)
		}
	}
	for _, a := range algorithms {
		t.Run(fmt.Sprintf("%v, %d sleep phases, chains %v, REINFORCE %v, %v", a.Metric, a.SleepSteps, a.Chains, a.Reinforce, a.ReinforceBaseline), func(t *testing.T) {
			test(t, a, stripes(40, 40), engine.Architecture{Units: []int{40, 35, 9, 3}})
		})
	}
	for _, arch := range labelled() {
		t.Run(fmt.Sprint("labels ", arch.Units), func(t *testing.T) {
			a, data := bidirectional(arch)
			test(t, a, data, arch)
		})
	}
	for _, arch := range grouped() {
		t.Run(fmt.Sprint("groups ", arch.Units), func(t *testing.T) { test(t, nrws, categories(40, arch), arch) })
	}
}

// The diagonal of many rows must come before other operations, and the diagonal of few rows after them.
func TestCostlyTilesComeFirst(t *testing.T) {
	p := &program{}
	add(p, 0, diagonal, 1, diagonalOf{rows: 10})
	add(p, 0, outputs, 1, outputsOf{width: 100})
	add(p, 0, diagonal, 1, diagonalOf{rows: 1000})
	p.balance()
	var kinds []kind
	for _, g := range p.phases[0] {
		kinds = append(kinds, g.operations[0].kind)
	}
	if !slices.Equal(kinds, []kind{diagonal, outputs, diagonal}) {
		t.Errorf("the operations come in the order %v", kinds)
	}
}

// Products with packed and halved matrices must equal products with the whole ones, for the smallest
// matrix and for the largest, whose sums leave room for fewer warps. Memory after the last row must
// never be read.
func TestPackedProducts(t *testing.T) {
	m := memoryOn(t, opened(t).device)
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 31, 32, 33, 301, mostPacked} {
		whole, below, vector := make([]float32, packed(n)), make([]uint16, packed(n)), make([]float32, n)
		for k := range vector {
			vector[k] = random.Float32() - 0.5
		}
		side, sums := tiles(n, tileSize), make([]float64, n)
		var diagonal []float32
		for row := range side {
			for column := range row + 1 {
				at := (row*(row+1)/2 + column) * tileSize * tileSize
				tile := whole[at:][:tileSize*tileSize]
				for e := range tile {
					i, j := row*tileSize+e/tileSize, column*tileSize+e%tileSize
					switch {
					case i >= n:
						tile[e] = float32(math.NaN())
					case j <= i:
						tile[e] = float32(random.IntN(64)-32) / 64
						sums[i] += float64(tile[e]) * float64(vector[j])
						if j < i {
							sums[j] += float64(tile[e]) * float64(vector[i])
						}
					}
					if i < n && j > i { // its transpose comes later
						continue
					}
					if mirrored := e%tileSize*tileSize + e/tileSize; row == column && i < n {
						tile[mirrored] = tile[e]
					}
					if column < row {
						below[row*(row-1)/2*tileSize*tileSize+column*tileSize*tileSize+e] = half(tile[e])
					}
				}
				if row == column {
					diagonal = append(diagonal, tile...)
				}
			}
		}
		want, got := make([]float32, n), make([]float32, n)
		for k := range want {
			want[k] = float32(2 * sums[k])
		}
		both := m.allocate(4 * halved(n))
		upload(m, both, diagonal)
		upload(m, both.floats(len(diagonal)), below[:2*(halved(n)-len(diagonal))])
		for form, blocks := range []address{hold(m, whole), both} {
			p, products := &program{}, m.floats(n)
			add(p, 0, multiplyBlocks, 1, multiplyBlocksOf{
				blocks: blocks, vectors: hold(m, vector), products: products,
				size: uint32(n), units: 1, halved: uint32(form), vectorsStep: 1, productsStep: 1, scale: 2,
			})
			if err := m.load(p, 0).run("a product", moment{}); err != nil {
				t.Fatal(err)
			}
			download(m, got, products)
			if m.err != nil {
				t.Fatal(m.err)
			}
			wantClose(t, fmt.Sprintf("product of %d × %d numbers, form %d", n, n, form), got, want, 1e-5)
		}
	}
}

// half converts a multiple of 1/64 up to 1/2, or NaN, to half precision.
func half(x float32) uint16 {
	bits := math.Float32bits(x)
	switch {
	case x == 0:
		return 0
	case x != x:
		return 0x7e00
	}
	return uint16(bits>>16&0x8000 | (bits>>23&0xff-112)<<10 | bits>>13&0x3ff)
}

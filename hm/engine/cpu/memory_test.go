package cpu

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
	"pgregory.net/rapid"
)

// taken returns the heap memory of a trainer after its first step.
func taken(t *testing.T, a engine.Architecture, algorithm engine.Algorithm) float64 {
	t.Helper()
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // empties the pools
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	n := algorithm.BatchSize
	data := engine.Data{Values: numbers.Bytes(a.Units[0], make([]uint8, n*a.Units[0]))}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	before := heap()
	state := engine.NewState(algorithm, engine.NewParameters(a))
	trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return rows }}, state)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := trainer.Steps(context.Background(), []float64{0.01}); err != nil {
		t.Fatal(err)
	}
	after := heap()
	runtime.KeepAlive(trainer)
	runtime.KeepAlive(data)
	return after - before
}

// A trainer's memory after a step must be what Memory announces, minus what a step takes and
// releases, within a fifth: from one sample to thousands, for small and large machines, with all
// algorithms.
func TestMemory(t *testing.T) {
	for _, units := range [][]int{{9, 6, 3}, {200, 150, 100}} {
		for _, size := range [][2]int{{1, 1}, {16, 50}, {1000, 2}} {
			for _, algorithm := range []engine.Algorithm{
				{Rule: engine.WakeSleep},
				{Rule: engine.ReweightedWakeSleep, Optimizer: engine.Momentum},
				{Rule: engine.Bidirectional, Optimizer: engine.Adam},
				{Rule: engine.Bidirectional, Optimizer: engine.Nesterov},
				{Rule: engine.WakeSleep, LaterSamples: 100},
				{Rule: engine.WakeSleep, SleepSteps: 3},
				{Rule: engine.Bidirectional, Entropy: 1},
				{Rule: engine.Reinforce, ReinforceBaseline: engine.NoBaseline},
				{Rule: engine.Reinforce, ReinforceBaseline: engine.LearnedBaseline},
				{Rule: engine.ReweightedWakeSleep, Metric: engine.Block},
				{Rule: engine.ReweightedWakeSleep, Metric: engine.Block, FisherPrecision: engine.SixteenBits},
				{Rule: engine.ReweightedWakeSleep, Arithmetic: engine.FixedPoint},
				{Rule: engine.WakeSleep, SleepSteps: 3, Arithmetic: engine.FixedPoint},
				{Rule: engine.ReweightedWakeSleep, Metric: engine.Diagonal},
				{Rule: engine.ReweightedWakeSleep, Metric: engine.Kronecker},
			} {
				algorithm.BatchSize, algorithm.Samples, algorithm.Damping, algorithm.RefreshEvery = size[0], size[1], 1e-9, 100
				if algorithm.Metric == engine.Block || algorithm.Metric == engine.Kronecker {
					if algorithm.Damping = 0.1; size[0]*size[1] > 1000 {
						continue // too slow
					}
				}
				a := engine.Architecture{Units: units}
				got := taken(t, a, algorithm)
				held := float64(cpu{}.Memory(a, algorithm)) - max(inversionBytes(a, algorithm), reinforceBytes(a, algorithm))
				const noise = 10 << 10 // of other goroutines
				if got < held*5/6-noise || got > held*6/5+noise {
					t.Errorf("%v, B = %d, S = %d, %v, %v, %v: %v bytes are held, announced were %v (%.2f)",
						units, size[0], size[1], algorithm.Rule, algorithm.Optimizer, algorithm.Metric, got, held, got/held)
				}
			}
		}
	}
}

// A refresh must free large old blocks before it allocates new ones, even if the collector would not run.
func TestRefreshFreesOldBlocks(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	a := engine.Architecture{Units: []int{800, 200, 10}}
	algorithm := engine.Algorithm{
		Rule: engine.ReweightedWakeSleep, Metric: engine.Block, FisherSource: engine.FromSleep, Damping: 0.1,
		RefreshEvery: 1, BatchSize: 8, Samples: 30, SleepSteps: 1,
	}
	data := engine.Data{Values: numbers.Bytes(800, make([]uint8, 8*800))}
	trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return []int{0, 1, 2, 3, 4, 5, 6, 7} }},
		engine.NewState(algorithm, engine.NewParameters(a)))
	if err != nil {
		t.Fatal(err)
	}
	var first, second runtime.MemStats
	for _, after := range []*runtime.MemStats{&first, &second} {
		if _, err := trainer.Steps(t.Context(), []float64{0.01}); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(after)
	}
	blocks := trainer.MetricBytes()
	if blocks < largeBlocks {
		t.Fatalf("the blocks take only %d bytes", blocks)
	}
	if more := int64(second.HeapAlloc) - int64(first.HeapAlloc); more > blocks/2 {
		t.Errorf("%d bytes more are held after a second refresh; its blocks take %d", more, blocks)
	}
}

// No arguments may overflow, or take memory or time, and larger arguments must never take less
// memory.
func TestMemoryOfAnyNumbers(t *testing.T) {
	number := rapid.OneOf(rapid.IntRange(1, 100), rapid.IntRange(1, math.MaxInt), rapid.Just(math.MaxInt), rapid.Just(math.MaxInt32+1))
	rapid.Check(t, func(t *rapid.T) {
		a := engine.Architecture{Units: rapid.SliceOfN(rapid.IntRange(1, 1<<18), 2, 5).Draw(t, "units")}
		algorithm := engine.Algorithm{
			Rule: rapid.SampledFrom([]engine.Rule{
				engine.WakeSleep, engine.ReweightedWakeSleep, engine.Bidirectional, engine.Reinforce,
			}).Draw(t, "rule"),
			Metric:       engine.Metric(rapid.IntRange(0, 3).Draw(t, "metric")),
			Optimizer:    engine.Optimizer(rapid.IntRange(0, 3).Draw(t, "optimizer")),
			SleepSteps:   number.Draw(t, "sleep"),
			BatchSize:    number.Draw(t, "batch"),
			Samples:      number.Draw(t, "samples"),
			LaterSamples: number.Draw(t, "later"),
			RefreshEvery: number.Draw(t, "steps"),
		}
		bytes := cpu{}.Memory(a, algorithm)
		more := algorithm
		more.Samples = max(algorithm.Samples, min(algorithm.Samples, math.MaxInt/2)*2)
		if other := (cpu{}).Memory(a, more); bytes <= 0 || other < bytes && algorithm.Metric != engine.Block {
			t.Errorf("%d bytes, %d with more samples", bytes, other)
		}
	})
	took := testing.AllocsPerRun(10, func() {
		cpu{}.Memory(engine.Architecture{Units: []int{784, 200, 10}}, engine.Algorithm{
			Rule: engine.ReweightedWakeSleep, Metric: engine.Block, BatchSize: math.MaxInt, Samples: math.MaxInt, RefreshEvery: math.MaxInt})
	})
	if took > 50 {
		t.Errorf("an estimate makes %v allocations", took)
	}
}

// A step takes and releases the scores of the samples for the optimal baseline, in one piece of the
// units.
func TestReinforceTakesTheScoresOfItsSamples(t *testing.T) {
	a := engine.Architecture{Units: []int{20, 40, 30}}
	algorithm := engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.OptimalBaseline, BatchSize: 3, Samples: 300}
	data := engine.Data{Values: numbers.Bytes(20, make([]uint8, 60))}
	made, err := cpu{}.NewTrainer(engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return []int{0, 1, 2} }},
		engine.NewState(algorithm, engine.NewParameters(a)))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := made.Steps(context.Background(), []float64{0.01}); err != nil {
		t.Fatal(err)
	}
	trainer := made.(*trainer)
	for _, tile := range trainer.tiles {
		if tile.network != recognition || tile.layer != 2 {
			continue
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		trainer.objective.accumulate(tile, tile.of(trainer.gradient))
		runtime.ReadMemStats(&after)
		got, want := float64(after.TotalAlloc-before.TotalAlloc), reinforceBytes(a, algorithm)
		if got < want*5/6 || got > want*6/5 {
			t.Errorf("%v bytes are taken, announced were %v", got, want)
		}
		return
	}
	t.Error(fmt.Sprint("no tile of layer 2 in ", trainer.tiles))
}

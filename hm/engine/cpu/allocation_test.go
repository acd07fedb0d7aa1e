//go:build !race

package cpu

import (
	"context"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// The memory that a step allocates must not grow with the minibatch or its samples. The race
// detector makes pools drop some of their contents, so the test excludes it.
func TestStepsAllocateNothingThatGrows(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // more goroutines would mean more pieces
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, arithmetic := range []engine.Arithmetic{engine.FloatingPoint, engine.FixedPoint} {
		few, many := allocated(t, arithmetic, 4, 5), allocated(t, arithmetic, 32, 50)
		if many > few+few/10 {
			t.Errorf("%v: a step of 20 samples allocates %d bytes, one of 1,600 %d", arithmetic, few, many)
		}
	}
}

// allocated returns how many bytes a step allocates.
func allocated(t *testing.T, arithmetic engine.Arithmetic, batch, samples int) uint64 {
	a := engine.Algorithm{
		Rule: engine.ReweightedWakeSleep, BatchSize: batch, Samples: samples, SleepSteps: 1, Arithmetic: arithmetic,
	}
	p := engine.NewParameters(engine.Architecture{Units: []int{30, 20, 10}})
	rows := make([]int, batch)
	data := engine.Data{Values: numbers.Bytes(30, make([]uint8, 30))}
	trainer, err := cpu{}.NewTrainer(engine.Job{Algorithm: a, Data: data, Rows: func(int) []int { return rows }}, engine.NewState(a, p))
	if err != nil {
		t.Fatal(err)
	}
	steps := func(n int) uint64 {
		for range n {
			if _, err := trainer.Steps(context.Background(), []float64{0.01}); err != nil {
				t.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := steps(3) // fills the pools
	return (steps(20) - before) / 20
}

package cpu

import (
	"context"
	"runtime"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// Ten thousand steps, with a hundred refreshes of the Fisher blocks, must take no more memory than
// the first thousand.
func TestMemoryStaysConstant(t *testing.T) {
	const rows = 8
	data := engine.Data{Values: numbers.Bytes(20, make([]uint8, rows*20))}
	for k := range data.Bytes() {
		data.Bytes()[k] = uint8(37 * k)
	}
	batch := make([]int, rows)
	for i := range batch {
		batch[i] = i
	}
	state := &engine.State{Parameters: engine.NewParameters(engine.Architecture{Units: []int{20, 16, 8}})}
	trainer, err := cpu{}.NewTrainer(engine.Job{
		Algorithm: engine.Algorithm{
			Rule: engine.ReweightedWakeSleep, Metric: engine.Block, FisherPrecision: engine.SixteenBits,
			Damping: 0.1, RefreshEvery: 100, BatchSize: rows, Samples: 4, Baseline: true, SleepSteps: 1,
		},
		Data: data,
		Rows: func(int) []int { return batch },
	}, state)
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	after := func(steps int) uint64 {
		for range steps {
			if _, err := trainer.Steps(context.Background(), []float64{0.01}); err != nil {
				t.Fatal(err)
			}
		}
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // the first only moves the contents of pools
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	first, last := after(1000), after(9000)
	t.Logf("%d bytes after 1,000 steps, %d after 10,000", first, last)
	if last > first+first/10 {
		t.Errorf("%d bytes after 1,000 steps became %d after 10,000", first, last)
	}
}

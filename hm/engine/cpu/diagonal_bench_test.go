package cpu

import (
	"context"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// BenchmarkDiagonalRefresh measures refreshes of the diagonal metric as a fraction of a plain step,
// for the machine of the thesis. Steps with and without the metric alternate, so that other work on
// the machine slows both.
func BenchmarkDiagonalRefresh(b *testing.B) {
	const rows, visible = 32, 784
	data := engine.Data{Values: numbers.Bytes(visible, make([]uint8, rows*visible))}
	for k := range data.Bytes() {
		data.Bytes()[k] = uint8(k * k % 251)
	}
	batch := make([]int, rows)
	for i := range batch {
		batch[i] = i
	}
	architecture := engine.Architecture{Units: []int{visible, 300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}, Coding: engine.PlusMinusOne}
	train := func(metric engine.Metric) engine.Trainer {
		algorithm := engine.Algorithm{
			Rule: engine.ReweightedWakeSleep, Metric: metric, Damping: 0.2, RefreshEvery: 1,
			BatchSize: rows, Samples: 10, Baseline: true, SleepSteps: 1,
		}
		trainer, err := cpu{}.NewTrainer(
			engine.Job{Algorithm: algorithm, Data: data, Rows: func(int) []int { return batch }},
			engine.NewState(algorithm, engine.NewParameters(architecture)))
		if err != nil {
			b.Fatal(err)
		}
		return trainer
	}
	step := func(t engine.Trainer) (taken, refresh time.Duration) {
		start := time.Now()
		report, err := t.Steps(context.Background(), []float64{0.001})
		if err != nil {
			b.Fatal(err)
		}
		return time.Since(start), report[0].Refresh
	}
	with, without := train(engine.Diagonal), train(engine.Euclidean)
	var plain, measured, refreshes time.Duration
	for b.Loop() {
		taken, _ := step(without)
		plain += taken
		taken, refresh := step(with)
		measured += taken
		refreshes += refresh
	}
	b.ReportMetric(float64(refreshes)/float64(plain), "refresh/step")
	b.ReportMetric(float64(measured)/float64(plain), "diagonal/step")
}

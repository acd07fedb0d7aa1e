//go:build cuda

package gpu

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// BenchmarkBarriers times the barriers of the whole grid. A step has one for each phase that
// BenchmarkStep reports.
func BenchmarkBarriers(b *testing.B) {
	const barriers = 50
	e := opened(b)
	m, err := e.device.newMemory()
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := m.close(); err != nil {
			b.Error(err)
		}
	}()
	l := m.load(&program{phases: make([][]operation, barriers)}, 0)
	moments := make([]moment, mostPasses)
	for b.Loop() {
		if err := l.run("barriers", moments...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/barriers/mostPasses, "ns/barrier")
}

// BenchmarkStep times steps of the machine of Várady 2025, ch. 7, with images of MNIST's shape.
func BenchmarkStep(b *testing.B) {
	e := opened(b)
	for name, metric := range map[string]engine.Metric{"rws": engine.Euclidean, "nrws": engine.Block} {
		b.Run(name, func(b *testing.B) {
			a := nrws
			a.Metric, a.Damping, a.RefreshEvery, a.BatchSize, a.Samples = metric, 0.2, 1000, 32, 10
			arch := engine.Architecture{Units: []int{784, 300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}, Coding: engine.PlusMinusOne}
			made, err := e.NewTrainer(minibatches(a, stripes(60_000, 784)), engine.NewState(a, oracle.Random(arch, 3)))
			if err != nil {
				b.Fatal(err)
			}
			t, rates := made.(*trainer), make([]float64, mostPasses)
			for b.Loop() {
				if _, err := t.Steps(b.Context(), rates); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/mostPasses, "µs/step")
			programs := t.stepPrograms(t.shape(t.moment(0, 0)))
			b.ReportMetric(float64(len(programs.get(t, &programs.whole).phases)), "phases/step")
			if err := made.Close(); err != nil {
				b.Error(err)
			}
		})
	}
}

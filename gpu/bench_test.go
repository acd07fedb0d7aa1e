//go:build cuda

package gpu

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"golang.org/x/sync/errgroup"
)

// BenchmarkBarriers times the barriers of the whole grid. A step has one for each phase that
// BenchmarkStep reports.
func BenchmarkBarriers(b *testing.B) {
	const barriers = 50
	e := opened(b)
	m := memoryOn(b, e.device)
	l := m.load(&program{phases: make([][]group, barriers)}, 0)
	moments := make([]moment, mostPasses)
	for b.Loop() {
		if err := l.run("barriers", moments...); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/barriers/mostPasses, "ns/barrier")
}

// twelve is the machine of Várady 2025, ch. 7.
var twelve = engine.Architecture{Units: []int{784, 300, 200, 100, 75, 50, 35, 30, 25, 20, 15, 10, 10}, Coding: engine.PlusMinusOne}

// twelveTrainer returns a trainer of that machine with images of MNIST's shape, after its first step.
func twelveTrainer(b *testing.B, e *cuda, metric engine.Metric) *trainer {
	a := nrws
	a.Metric, a.Damping, a.RefreshEvery, a.BatchSize, a.Samples = metric, 0.2, 1000, 32, 10
	made, err := e.NewTrainer(minibatches(a, stripes(60_000, 784)), engine.NewState(a, oracle.Random(twelve, 3)))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := made.Close(); err != nil {
			b.Error(err)
		}
	})
	if _, err := made.Steps(b.Context(), []float64{0}); err != nil {
		b.Fatal(err)
	}
	return made.(*trainer)
}

var metrics = map[string]engine.Metric{"rws": engine.Euclidean, "nrws": engine.Block}

// BenchmarkStep times steps.
func BenchmarkStep(b *testing.B) {
	e := opened(b)
	for name, metric := range metrics {
		b.Run(name, func(b *testing.B) {
			t, rates := twelveTrainer(b, e, metric), make([]float64, mostPasses)
			for b.Loop() {
				if _, err := t.Steps(b.Context(), rates); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/mostPasses, "µs/step")
			programs := t.stepPrograms(t.shape(t.moment(0, 0)))
			b.ReportMetric(float64(len(programs.get(t, &programs.whole).phases)), "phases/step")
		})
	}
}

// BenchmarkTrainersAtOnce times a step of each of several trainers that share the device.
func BenchmarkTrainersAtOnce(b *testing.B) {
	e := opened(b)
	for name, metric := range metrics {
		for n := 1; n <= 6; n++ {
			b.Run(fmt.Sprintf("%s-%d", name, n), func(b *testing.B) {
				trainers, rates := make([]*trainer, n), make([]float64, 10*mostPasses)
				for k := range trainers {
					trainers[k] = twelveTrainer(b, e, metric)
				}
				for b.Loop() {
					var all errgroup.Group
					for _, t := range trainers {
						all.Go(func() error {
							_, err := t.Steps(b.Context(), rates)
							return err
						})
					}
					if err := all.Wait(); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n*len(rates)), "µs/step")
			})
		}
	}
}

var names = []string{"look-ahead", "load", "outputs", "weigh", "gradient", "blocks", "multiply-blocks", "diagonal", "scale", "update"}

// BenchmarkPhases times the first k phases of a step for each k, and logs the differences.
func BenchmarkPhases(b *testing.B) {
	e := opened(b)
	for name, metric := range metrics {
		b.Run(name, func(b *testing.B) {
			t := twelveTrainer(b, e, metric)
			programs := t.stepPrograms(t.shape(t.moment(0, 0)))
			whole := programs.get(t, &programs.whole)
			moments := make([]moment, mostPasses)
			for k := range moments {
				moments[k] = t.moment(k, 0)
			}
			for b.Loop() {
				before := 0.0
				for k, phase := range whole.phases {
					part := *whole
					part.header.phaseCount = uint32(k + 1)
					times := make([]float64, 9)
					for n := range times {
						start := time.Now()
						if err := part.run("phases", moments...); err != nil {
							b.Fatal(err)
						}
						times[n] = float64(time.Since(start).Nanoseconds()) / 1000 / mostPasses
					}
					slices.Sort(times)
					text := ""
					for _, g := range phase {
						text += fmt.Sprintf(" %d", g.tiles)
						for _, o := range g.operations {
							text += "×" + names[o.kind]
						}
					}
					b.Logf("phase %2d %7.2f µs:%s", k, times[len(times)/2]-before, text)
					before = times[len(times)/2]
				}
			}
		})
	}
}

// BenchmarkRefresh times the Fisher blocks.
func BenchmarkRefresh(b *testing.B) {
	t := twelveTrainer(b, opened(b), engine.Block)
	for b.Loop() {
		if err := t.refresh(t.stepPrograms(t.shape(t.moment(0, 0)))); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEvaluate times importance samples of data of MNIST's shape.
func BenchmarkEvaluate(b *testing.B) {
	const rows, samples = 1000, 1280
	m, err := opened(b).NewModel(oracle.Random(twelve, 3), engine.FloatingPoint)
	if err != nil {
		b.Fatal(err)
	}
	data := stripes(rows, 784)
	for b.Loop() {
		if _, err := m.Evaluate(b.Context(), data, samples, 1, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(rows*samples*float64(b.N)/b.Elapsed().Seconds(), "samples/s")
}

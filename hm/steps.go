package hm

import (
	"context"
	"time"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// Several steps that a trainer takes at once are at most mostSteps, and about as
// many as take atOnce: training can stop, or save, only between them.
const (
	mostSteps = 64
	atOnce    = 250 * time.Millisecond
)

// stepper takes the steps of a trainer, several at once where it can.
type stepper struct {
	trainer engine.Trainer
	next    int // steps to take at once, as those before were fast enough
}

// take takes some of the next steps, at most the given number, and says how long
// they took. learningRate is the rate of the k-th of them, 0 the first. It returns
// reports and an error as engine.StepsTrainer does.
func (s *stepper) take(ctx context.Context, most int, learningRate func(k int) float64) (reports []engine.Report, elapsed time.Duration, err error) {
	start := time.Now()
	several, ok := s.trainer.(engine.StepsTrainer)
	if !ok {
		report, err := s.trainer.Step(learningRate(0))
		if err == nil || !statistics.Finite(report.LogP+report.Bound) {
			reports = append(reports, report)
		}
		return reports, time.Since(start), err
	}
	n := min(max(s.next, 1), most)
	rates := make([]float64, n)
	for k := range rates {
		rates[k] = learningRate(k)
	}
	reports, err = several.Steps(ctx, rates)
	elapsed = time.Since(start)
	s.next = min(2*n, mostSteps)
	if each := elapsed / time.Duration(n); each > 0 {
		s.next = min(s.next, int(atOnce/each))
	}
	return reports, elapsed, err
}

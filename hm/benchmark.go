package hm

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Timing reports how long training takes.
type Timing struct {
	Backend   string  `json:"backend"`    // the engine that trained
	Device    string  `json:"device"`     // its hardware
	StepMS    float64 `json:"step_ms"`    // median time of a step without refreshes of Fisher blocks; each step of a call counts with the mean of the call
	EpochS    float64 `json:"epoch_s"`    // time of an epoch, computed from the mean time of the measured steps with refreshes
	RefreshMS float64 `json:"refresh_ms"` // median time of a refresh of the Fisher blocks, or 0 if there was none or steps computed them together with their gradients
	Steps     int     `json:"steps"`      // steps measured
	// Operations is the number of floating-point operations in the matrix products of a step. GFLOPS
	// is their rate at the median step time, in billions per second.
	Operations float64 `json:"flop_per_step"`
	GFLOPS     float64 `json:"gflops"`
	// Bytes is the smallest number of bytes that a step has to move: it reads the parameters twice,
	// writes them and their gradient once, and reads the last Fisher inverses once.
	Bytes int64 `json:"bytes_per_step"`
}

// mostFirst is the largest number of steps that Benchmark takes before it measures.
const mostFirst = 2000

// Benchmark trains like Train but stores nothing. It first trains for one epoch, but at most 2,000 steps, so
// that the units leave their initial state, and then measures the given number of steps. It calls progress,
// which may be nil, with the fraction of the work done, including the first steps.
func (e Experiment) Benchmark(ctx context.Context, set *dataset.Set, steps int, progress func(done float64)) (Timing, error) {
	if err := e.Check(set); err != nil {
		return Timing{}, err
	}
	if steps < 1 || steps > math.MaxUint32 {
		return Timing{}, fmt.Errorf("%d steps to measure: use at least 1 and fewer than 2³²", steps)
	}
	plan, err := e.plan(set)
	if err != nil {
		return Timing{}, err
	}
	trainer, err := plan.startTrainer()
	if err != nil {
		return Timing{}, err
	}
	defer trainer.Close()

	warm := min(e.stepsPerEpoch(set), mostFirst)
	taking := stepper{trainer: trainer}
	rate := func(int) float64 { return e.Method.LearningRate }
	var plain, refreshes []time.Duration
	var total time.Duration
	for done := 0; done < warm+steps; {
		if err := ctx.Err(); err != nil {
			return Timing{}, err
		}
		left := warm + steps - done
		if done < warm {
			left = warm - done
		}
		reports, elapsed, err := taking.take(ctx, left, rate)
		if err != nil {
			return Timing{}, err
		}
		if done >= warm {
			total += elapsed
			for _, r := range reports {
				elapsed -= r.Refresh
				if r.Refresh > 0 {
					refreshes = append(refreshes, r.Refresh)
				}
			}
			each := elapsed / time.Duration(len(reports))
			plain = append(plain, slices.Repeat([]time.Duration{each}, len(reports))...)
		}
		done += len(reports)
		if progress != nil {
			progress(float64(done) / float64(warm+steps))
		}
	}
	t := Timing{
		Backend:    plan.backend.name,
		Device:     plan.backend.Describe(),
		StepMS:     1e3 * median(plain),
		EpochS:     total.Seconds() / float64(steps) * float64(e.stepsPerEpoch(set)),
		RefreshMS:  1e3 * median(refreshes),
		Steps:      steps,
		Operations: plan.job.Algorithm.Operations(plan.architecture),
		Bytes:      4*4*int64(plan.architecture.Size()) + trainer.MetricBytes(),
	}
	t.GFLOPS = t.Operations / median(plain) / 1e9
	return t, nil
}

// median returns the median of durations in seconds, or 0 if there are none.
func median(d []time.Duration) float64 {
	if len(d) == 0 {
		return 0
	}
	d = slices.Clone(d)
	slices.Sort(d)
	return (d[(len(d)-1)/2] + d[len(d)/2]).Seconds() / 2
}

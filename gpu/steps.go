//go:build cuda

package gpu

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"gonum.org/v1/gonum/floats"
)

type shape struct{ data, samples int }

// Steps performs the next steps at the given learning rates, and returns the reports of the
// completed steps. It launches the steps between two refreshes of the Fisher blocks together.
func (t *trainer) Steps(ctx context.Context, learningRates []float64) ([]engine.Report, error) {
	var reports []engine.Report
	for len(reports) < len(learningRates) && ctx.Err() == nil {
		some, err := t.launch(learningRates[len(reports):])
		reports = append(reports, some...)
		if err != nil {
			return reports, err
		}
	}
	return reports, ctx.Err()
}

// moment returns the inputs of a step. ahead is its distance in steps from the current step.
func (t *trainer) moment(ahead int, learningRate float64) moment {
	step := t.state.Step + ahead
	return moment{step: step, learningRate: learningRate, rows: t.job.Rows(step), output: ahead * t.job.Algorithm.BatchSize}
}

func (t *trainer) shape(m moment) shape {
	return shape{len(m.rows), t.job.Algorithm.SamplesAt(m.step)}
}

// refreshDue reports whether the Fisher blocks are due in the step that is ahead steps after the
// current step.
func (t *trainer) refreshDue(ahead int) bool {
	return t.state.RefreshDue(t.job.Algorithm, t.state.Step+ahead)
}

// renews reports whether each step computes its own Fisher blocks, which cannot fail. Such steps are launched
// together.
func (t *trainer) renews() bool {
	return t.job.Algorithm.Metric == engine.Diagonal && t.job.Algorithm.RefreshEvery == 1
}

// launch performs the next steps that can be launched together.
func (t *trainer) launch(learningRates []float64) ([]engine.Report, error) {
	moments := []moment{t.moment(0, learningRates[0])}
	var refresh time.Duration
	t.stale = true
	due := t.refreshDue(0)
	if due && !t.renews() || t.job.Algorithm.Estimator != nil {
		programs, took, err := t.prepare(moments[0])
		if err != nil {
			reports, unread := t.reports(moments)
			if diverged := errors.As(err, new(*engine.Singular)) && unread == nil && !statistics.Finite(reports[0].LogP+reports[0].Bound); diverged {
				return reports, err
			}
			return nil, err
		}
		refresh = took
		err = programs.get(t, &programs.ascend).run(fmt.Sprintf("gradients of step %d", t.state.Step), moments[0])
		if err != nil {
			return nil, err
		}
	} else {
		programs := t.stepPrograms(t.shape(moments[0]))
		program := &programs.whole
		if due {
			if err := fisher.CheckDamping(t.job.Algorithm.Damping); err != nil {
				return nil, &engine.Singular{Step: t.state.Step, Err: err}
			}
			t.blocks = t.shape(moments[0])
			programs = t.stepPrograms(t.blocks)
			program = &programs.renewed
		}
		for k := 1; k < min(len(learningRates), mostPasses) && t.refreshDue(k) == due; k++ {
			m := t.moment(k, learningRates[k])
			if t.shape(m) != t.shape(moments[0]) {
				break
			}
			moments = append(moments, m)
		}
		if err := programs.get(t, program).run(fmt.Sprintf("steps from %d on", t.state.Step), moments...); err != nil {
			return nil, err
		}
		t.state.Step += len(moments) - 1
		if due {
			t.state.Refresh()
		}
	}
	reports, err := t.reports(moments)
	if err != nil {
		return nil, err
	}
	reports[0].Refresh = refresh
	t.state.Step++
	return reports, nil
}

// prepare draws and weighs the samples of a step, and refreshes the Fisher blocks if they are due. It returns the
// programs that continue the step, and the time that the refresh took. The blocks come from samples without chains.
func (t *trainer) prepare(m moment) (p *stepPrograms, refresh time.Duration, err error) {
	p = t.stepPrograms(t.shape(m))
	due, program := t.refreshDue(0), &p.sample
	if due && t.job.Algorithm.Chains {
		program = &p.unchained
	}
	if err = t.sampleNow(p, program, m); err != nil || !due {
		return p, 0, err
	}
	start := time.Now()
	if err = t.refreshNow(p); err != nil {
		return p, 0, err
	}
	refresh = time.Since(start)
	p = t.stepPrograms(t.shape(m)) // the programs for the new blocks
	if t.job.Algorithm.Chains {
		err = t.sampleNow(p, &p.sample, m)
	}
	return p, refresh, err
}

// sampleNow draws and weighs the samples of a step by one of its programs.
func (t *trainer) sampleNow(p *stepPrograms, program **loaded, m moment) error {
	err := p.get(t, program).run(fmt.Sprintf("samples of step %d", m.step), m)
	if err == nil && t.job.Algorithm.Estimator != nil {
		t.estimate(p)
		err = t.memory.err
	}
	return err
}

// estimate weighs the wake samples of a step by the algorithm's estimator. The estimator is a function of the
// program, which the device cannot call. So the processor computes the weights, from two numbers per sample.
func (t *trainer) estimate(step *stepPrograms) {
	a, samples, rows := t.job.Algorithm, step.wake.samples, step.wake.rows()
	logP, logQ, p, q := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	download(t.memory, logP, t.joint)
	download(t.memory, logQ, t.logWeights)
	floats.SubTo(logQ, logP, logQ)
	weights := [2][]float32{make([]float32, rows), make([]float32, rows)}
	download(t.memory, weights[recognition], t.recognitionWeights) // which are inputs[score]
	for first := 0; first < rows; first += samples {
		last := first + samples
		a.Estimator.Weigh(logP[first:last], logQ[first:last], p[first:last], q[first:last])
		for r := first; r < last; r++ {
			weights[generative][r] = float32(p[r] / float64(step.wake.data))
			weights[recognition][r] += float32(a.QWake * q[r] / float64(step.wake.data))
		}
	}
	upload(t.memory, t.generativeWeights, weights[generative])
	upload(t.memory, t.recognitionWeights, weights[recognition])
}

func (t *trainer) reports(moments []moment) ([]engine.Report, error) {
	a := t.job.Algorithm
	numbers := make([]float64, len(moments)*a.BatchSize*weightSumSize)
	download(t.memory, numbers, t.sums)
	if t.memory.err != nil {
		return nil, t.memory.err
	}
	reports := make([]engine.Report, len(moments))
	for k, m := range moments {
		likelihoods := make([]engine.Likelihood, len(m.rows))
		for d := range likelihoods {
			samples := a.SamplesAt(m.step) - int(ifTrue(a.Chains)) // without the first, which may be the state of a chain
			sum := weightSum(numbers[(m.output+d)*weightSumSize:], samples)
			likelihoods[d] = sum.Likelihood()
		}
		reports[k] = engine.MeanReport(likelihoods)
	}
	return reports, nil
}

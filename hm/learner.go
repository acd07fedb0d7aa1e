package hm

import (
	"context"
	"errors"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// These are the measures of training: means over the data, log-probabilities in nats.
var (
	boundMeasure     = runs.Measure{Key: "bound", Name: "bound", Label: "lower bound", Unit: "nats", Rises: true}
	tildeStarMeasure = runs.Measure{Key: "log_p_tilde_star", Name: "log p̃*", Label: "log p̃*(x)", Unit: "nats", Rises: true}
	starMeasure      = runs.Measure{Key: "log_p_star", Name: "log p*", Label: "log p*(x)", Unit: "nats", Rises: true}
	z2Measure        = runs.Measure{Key: "log_z2", Name: "log Z²", Label: "log Z²", Unit: "nats", Rises: true}
	essStarMeasure   = runs.Measure{Key: "ess_star", Name: "ESS of p*", Label: "effective sample size for p*", Rises: true, Fraction: true}
)

// Measures returns the measures of the family. Training steps and validation use three of them: an
// importance-sampled estimate of log p(x) with the number of samples that training uses, the lower
// bound E_q[log p(x,h) − log q(h|x)] (Várady 2025, 2.12), and the effective sample size, a fraction of
// the samples in (0, 1]. Only measurements estimate the others.
func (e Experiment) Measures() []runs.Measure {
	return []runs.Measure{runs.LogP, boundMeasure, runs.ESS, tildeStarMeasure, starMeasure, z2Measure, essStarMeasure}
}

func measures(r engine.Report) runs.Measures {
	return runs.Measures{runs.LogP.Key: r.LogP, boundMeasure.Key: r.Bound, runs.ESS.Key: r.ESS}
}

// Estimate returns the means of Evaluate over rows, log-likelihoods in nats, with samples importance samples per row.
// It refuses fewer than 1.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	all, _, err := m.EstimateRows(ctx, rows, samples, seed, progress)
	return all, err
}

// EstimateRows returns the result of Estimate, and the estimate of log p(x) of each row.
func (m *Model) EstimateRows(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (all runs.Estimates, logP []float64, err error) {
	evaluation, err := m.WithSeed(seed).Evaluate(ctx, rows, samples, progress)
	if err != nil {
		return nil, nil, err
	}
	return evaluation.Findings().Estimates(), evaluation.Each, nil
}

// Begin returns the state before the first step: random parameters drawn from the seed, or the parameters of the run
// that training starts from.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	if err := e.Header().CheckObserved(set); err != nil {
		return runs.Snapshot{}, err
	}
	plan, err := e.plan(set)
	if err != nil {
		return runs.Snapshot{}, err
	}
	state, err := plan.start()
	if err != nil {
		return runs.Snapshot{}, err
	}
	return newSnapshot(state, set.Shape())
}

// Learner resumes training on set from a snapshot. It refuses a snapshot of another experiment with a
// runs.SnapshotError.
func (e Experiment) Learner(set *dataset.Set, snapshot runs.Snapshot) (runs.Learner, error) {
	if err := e.Header().CheckObserved(set); err != nil {
		return nil, err
	}
	state, shape, err := readSnapshot(snapshot)
	if err == nil {
		err = e.checkState(state, shape, set.Train().Rows)
	}
	if err != nil {
		return nil, &runs.SnapshotError{Err: err}
	}
	plan, err := e.plan(set)
	if err != nil {
		return nil, err
	}
	trainer, err := plan.trainer(state)
	if err != nil {
		return nil, err
	}
	return &learner{plan: plan, stepper: stepper{trainer: trainer}, state: state}, nil
}

type learner struct {
	*plan
	stepper stepper
	state   *engine.State // after the last step, or nil if it must be fetched
}

func (l *learner) Steps(ctx context.Context, most int, rate func(k int) float64) ([]runs.Measures, error) {
	l.state = nil
	reports, _, err := l.stepper.take(ctx, most, rate)
	if singular := new(engine.Singular); errors.As(err, &singular) {
		err = runs.Diverging(err)
	}
	steps := make([]runs.Measures, len(reports))
	for i, r := range reports {
		steps[i] = measures(r)
	}
	return steps, err
}

func (l *learner) Norms() (runs.Norms, error) {
	n, err := l.stepper.trainer.Norms()
	if err != nil {
		return nil, err
	}
	converted := func(layers []engine.LayerNorms) []runs.LayerNorms {
		norms := make([]runs.LayerNorms, len(layers))
		for i, l := range layers {
			norms[i] = runs.LayerNorms(l)
		}
		return norms
	}
	return runs.Norms{Generative: converted(n.Generative), Recognition: converted(n.Recognition)}, nil
}

// These are the names of the two networks in norms.
const (
	Generative  = "generative"  // p
	Recognition = "recognition" // q
)

// Validate evaluates rows with the largest number of samples that training uses in any epoch,
// because estimates with different numbers of samples are not comparable.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	if err := l.experiment.checkRows(l.architecture, rows); err != nil {
		return nil, err
	}
	model, err := l.model()
	if err != nil {
		return nil, err
	}
	likelihoods, err := model.Evaluate(ctx, l.experiment.data(rows), l.job.Algorithm.MostSamples(), l.experiment.Seed, nil)
	if err != nil {
		return nil, err
	}
	engine.Weigh(likelihoods, rows.Shares())
	return measures(engine.MeanReport(likelihoods)), nil
}

func (l *learner) fetch() (err error) {
	if l.state == nil {
		l.state, err = l.stepper.trainer.State()
	}
	return err
}

func (l *learner) model() (engine.Model, error) {
	if err := l.fetch(); err != nil {
		return nil, err
	}
	return l.backend.NewModel(l.state.Parameters, l.experiment.Method.Arithmetic)
}

func (l *learner) Snapshot() (runs.Snapshot, error) {
	if err := l.fetch(); err != nil {
		return runs.Snapshot{}, err
	}
	return newSnapshot(l.state, l.set.Shape())
}

func (l *learner) Device() (backend, description string) { return l.backend.name, l.backend.Describe() }

func (l *learner) Close() error { return l.stepper.trainer.Close() }

// One call of a trainer makes at most mostSteps steps and takes about the time atOnce, because training
// can stop or save only between calls.
const (
	mostSteps = 64
	atOnce    = 250 * time.Millisecond
)

// stepper makes the steps of a trainer, several per call if they are fast.
type stepper struct {
	trainer engine.Trainer
	next    int // number of steps to make in the next call
}

// take makes one call of the trainer, for at most most steps. It returns the reports and the error of
// engine.Trainer, and how long the call took. learningRate returns the rate of the k-th of these steps,
// counted from 0.
func (s *stepper) take(ctx context.Context, most int, learningRate func(k int) float64) (reports []engine.Report, elapsed time.Duration, err error) {
	n := min(max(s.next, 1), most)
	rates := make([]float64, n)
	for k := range rates {
		rates[k] = learningRate(k)
	}
	start := time.Now()
	reports, err = s.trainer.Steps(ctx, rates)
	elapsed = time.Since(start)
	done := max(1, len(reports))
	s.next = min(2*done, mostSteps)
	if each := elapsed / time.Duration(done); each > 0 {
		s.next = min(s.next, int(atOnce/each))
	}
	return reports, elapsed, err
}

package hm

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// What training measures: means over the data, of log-probabilities in nats.
var (
	boundMeasure     = runs.Measure{Key: "bound", Name: "bound", Label: "lower bound", Unit: "nats", Rises: true}
	essMeasure       = runs.Measure{Key: "ess", Name: "ESS", Label: "effective sample size", Rises: true}
	tildeStarMeasure = runs.Measure{Key: "log_p_tilde_star", Name: "log p̃*", Label: "log p̃*(x)", Unit: "nats", Rises: true}
	starMeasure      = runs.Measure{Key: "log_p_star", Name: "log p*", Label: "log p*(x)", Unit: "nats", Rises: true}
	z2Measure        = runs.Measure{Key: "log_z2", Name: "log Z²", Label: "log Z²", Unit: "nats", Rises: true}
	essStarMeasure   = runs.Measure{Key: "ess_star", Name: "ESS of p*", Label: "effective sample size for p*", Rises: true}
)

// Measures implements runs.Experiment. Steps and validation measure three: an
// importance-sampled estimate of log p(x) with the samples of training, the lower
// bound E_q[log p(x,h) − log q(h|x)] (Várady 2025, 2.12), and the effective sample size, a
// fraction of the samples in (0, 1]. The others are of measurements.
func (e Experiment) Measures() []runs.Measure {
	return []runs.Measure{runs.LogP, boundMeasure, essMeasure, tildeStarMeasure, starMeasure, z2Measure, essStarMeasure}
}

func measures(r engine.Report) runs.Measures {
	return runs.Measures{runs.LogP.Key: r.LogP, boundMeasure.Key: r.Bound, essMeasure.Key: r.ESS}
}

// Evaluate implements runs.Evaluator, as Model.Evaluate does.
func (e Experiment) Evaluate(ctx context.Context, model runs.Snapshot, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	m, err := newModel(e, model)
	if err != nil {
		return nil, err
	}
	of, err := m.WithSeed(seed).Evaluate(ctx, rows, samples, progress)
	return of.estimates(), err
}

// estimates are the fields of an evaluation by the keys of measures.
func (e Evaluation) estimates() runs.Estimates {
	all := runs.Estimates{
		runs.LogP.Key:        {Value: e.LogP, SE: float64(e.LogPSE)},
		boundMeasure.Key:     {Value: e.Bound, SE: float64(e.BoundSE)},
		tildeStarMeasure.Key: {Value: e.LogPTildeStar, SE: float64(e.LogPTildeStarSE)},
		essMeasure.Key:       {Value: e.ESS, SE: float64(e.ESSSE)},
		essStarMeasure.Key:   {Value: e.ESSStar, SE: float64(e.ESSStarSE)},
	}
	if e.LogZ2 != nil {
		all[z2Measure.Key] = runs.Estimate{Value: *e.LogZ2, SE: float64(*e.LogZ2SE)}
		all[starMeasure.Key] = runs.Estimate{Value: *e.LogPStar, SE: float64(*e.LogPStarSE)}
	}
	return all
}

// Begin implements runs.Experiment.
func (e Experiment) Begin(set *dataset.Set) (runs.Snapshot, error) {
	if e.Start == nil {
		return newSnapshot(e.start(set), set.Shape())
	}
	p, err := e.startParameters(set.Shape())
	if err != nil {
		return runs.Snapshot{}, err
	}
	return newSnapshot(engine.NewState(e.algorithm(set), p), set.Shape())
}

// start is the state before the first step, of parameters that are drawn.
func (e Experiment) start(set *dataset.Set) *engine.State {
	architecture := e.Machine.architecture(set.Shape())
	return engine.NewState(e.algorithm(set), initialize(architecture, e.Machine, e.Seed))
}

// Learner implements runs.Experiment.
func (e Experiment) Learner(set *dataset.Set, at runs.Snapshot) (runs.Learner, error) {
	state, shape, err := readSnapshot(at)
	if err != nil {
		return nil, err
	}
	if err := e.checkState(state, shape); err != nil {
		return nil, err
	}
	l := &learner{experiment: e, set: set, job: e.job(set)}
	if l.backend, err = openBackend(); err != nil {
		return nil, err
	}
	trainer, err := l.backend.NewTrainer(l.job, state)
	if err != nil {
		return nil, err
	}
	l.stepper.trainer = trainer
	return l, nil
}

// learner trains a machine.
type learner struct {
	experiment Experiment
	set        *dataset.Set
	job        engine.Job
	backend    backend
	stepper    stepper
	state      *engine.State // that after the last step, nil where it has to be fetched
}

// Steps implements runs.Learner.
func (l *learner) Steps(ctx context.Context, most int, rate func(k int) float64) ([]runs.Measures, error) {
	l.state = nil
	reports, _, err := l.stepper.take(ctx, most, rate)
	steps := make([]runs.Measures, len(reports))
	for i, r := range reports {
		steps[i] = measures(r)
	}
	return steps, err
}

// Norms implements runs.Learner.
func (l *learner) Norms() (runs.Norms, error) {
	n, err := l.stepper.trainer.Norms()
	if err != nil {
		return nil, err
	}
	of := func(layers []engine.LayerNorms) []runs.LayerNorms {
		norms := make([]runs.LayerNorms, len(layers))
		for i, l := range layers {
			norms[i] = runs.LayerNorms(l)
		}
		return norms
	}
	return runs.Norms{Generative: of(n.Generative), Recognition: of(n.Recognition)}, nil
}

// The names of the two networks in norms.
const (
	Generative  = "generative"  // p
	Recognition = "recognition" // q
)

// Validate implements runs.Learner. It evaluates rows with the largest number of
// samples that training has in any epoch: estimates from different numbers could
// not be compared.
func (l *learner) Validate(ctx context.Context, rows dataset.Split) (runs.Measures, error) {
	model, err := l.model()
	if err != nil {
		return nil, err
	}
	likelihoods, err := model.Evaluate(ctx, l.experiment.data(rows), l.job.Algorithm.MostSamples(), l.experiment.Seed, nil)
	if err != nil {
		return nil, err
	}
	return measures(engine.MeanReport(likelihoods)), nil
}

// fetch fetches the state after the last step, from wherever the engine keeps it.
func (l *learner) fetch() (err error) {
	if l.state == nil {
		l.state, err = l.stepper.trainer.State()
	}
	return err
}

// model is that of the parameters after the last step.
func (l *learner) model() (engine.Model, error) {
	if err := l.fetch(); err != nil {
		return nil, err
	}
	return l.backend.NewModel(l.state.Parameters, l.experiment.Method.Arithmetic)
}

// Snapshot implements runs.Learner.
func (l *learner) Snapshot() (runs.Snapshot, error) {
	if err := l.fetch(); err != nil {
		return runs.Snapshot{}, err
	}
	return newSnapshot(l.state, l.set.Shape())
}

// Device implements runs.DeviceLearner.
func (l *learner) Device() (backend, description string) { return l.backend.name, l.backend.Describe() }

// Close implements runs.Learner.
func (l *learner) Close() error { return l.stepper.trainer.Close() }

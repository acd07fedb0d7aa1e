package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// plan is an experiment whose settings are those of an engine's: what is trained, on
// what, how and by whom.
type plan struct {
	experiment   Experiment
	set          *dataset.Set
	architecture engine.Architecture
	job          engine.Job
	backend      backend
}

// plan returns that of training on set by the backend of the process. The settings must
// have been checked.
func (e Experiment) plan(set *dataset.Set) (*plan, error) {
	b, err := openBackend()
	if err != nil {
		return nil, err
	}
	data := e.data(set.Train())
	if e.Machine.LabelLayer != NoLabels {
		data.Labels = set.Train().Labels
	}
	return &plan{
		experiment:   e,
		set:          set,
		architecture: e.Machine.architecture(set.Shape()),
		job: engine.Job{
			Algorithm: e.Method.algorithm(e.stepsPerEpoch(set)),
			Data:      data,
			Seed:      e.Seed,
			Rows:      runs.NewOrder(e.Seed, set.Train().Rows, e.Method.BatchSize).Minibatch,
		},
		backend: b,
	}, nil
}

// data returns a split as the engine takes it.
func (e Experiment) data(s dataset.Split) engine.Data {
	return engine.Data{
		Rows: s.Rows, Units: s.Shape.Units(), Values: s.Values, Reals: s.Reals,
		Stochastic: e.Dataset.Binarization == dataset.Stochastic,
	}
}

// stepsPerEpoch is the number of minibatches of an epoch.
func (e Experiment) stepsPerEpoch(set *dataset.Set) int {
	return e.Header().StepsPerEpoch(set.Train().Rows)
}

// check refuses what the backend cannot train, for want of a feature or of memory.
func (p *plan) check() error {
	asked := append(p.architecture.Features(), p.job.Algorithm.Features()...)
	if err := engine.Refuse(p.backend.name, p.backend.Lacks(), asked); err != nil {
		return err
	}
	return p.checkMemory(p.backend.Available())
}

// checkMemory refuses what does not fit into what is available of the memory of
// something, where it is known how much that is.
func (p *plan) checkMemory(available int64, of string) error {
	needed := p.memory()
	if available <= 0 || needed <= available {
		return nil
	}
	generative, recognition := p.backend.MetricMemory(p.architecture, p.job.Algorithm)
	return fmt.Errorf("training takes %s of memory, %s of it inverse Fisher blocks, where %s has %s: use the metric diagonal or none, smaller layers, convolutions, or fewer samples",
		size(needed), size(total(generative)+total(recognition)), of, size(available))
}

// memory is about how many bytes training takes where it computes.
func (p *plan) memory() int64 {
	bytes := p.backend.Memory(p.architecture, p.job.Algorithm)
	for _, split := range []dataset.Split{p.set.Train(), p.set.Validation(), p.set.Test()} {
		bytes += int64(len(split.Values) + 4*len(split.Reals))
	}
	if p.job.Algorithm.Chains {
		bytes += 4 * int64(p.job.Data.Rows) * int64(engine.ChainWidth(p.architecture))
	}
	return bytes
}

// start is the state before the first step, of the parameters of the run that the experiment
// starts from, or of drawn ones.
func (p *plan) start() (*engine.State, error) {
	if p.experiment.Start == nil {
		return engine.NewState(p.job.Algorithm, initialize(p.architecture, p.experiment.Machine, p.experiment.Seed)), nil
	}
	parameters, err := p.experiment.startParameters(p.set.Shape())
	if err != nil {
		return nil, err
	}
	return engine.NewState(p.job.Algorithm, parameters), nil
}

// startTrainer begins training.
func (p *plan) startTrainer() (engine.Trainer, error) {
	state, err := p.start()
	if err != nil {
		return nil, err
	}
	return p.trainer(state)
}

// trainer takes over a state.
func (p *plan) trainer(state *engine.State) (engine.Trainer, error) {
	return p.backend.NewTrainer(p.job, state)
}

// Memory is about how many bytes training on set takes where it computes. It
// refuses settings as Check does.
func (e Experiment) Memory(set *dataset.Set) (int64, error) {
	if err := e.checkSettings(set); err != nil {
		return 0, err
	}
	p, err := e.plan(set)
	if err != nil {
		return 0, err
	}
	return p.memory(), nil
}

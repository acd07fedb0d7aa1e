package hm

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// plan translates an experiment for an engine: the architecture of its machine, and the job with its data.
type plan struct {
	experiment   Experiment
	set          *dataset.Set
	architecture engine.Architecture
	job          engine.Job
	backend      backend
}

// plan returns the plan for training on set with the backend of the process. The settings must have
// been checked.
func (e Experiment) plan(set *dataset.Set) (*plan, error) {
	b, err := openBackend()
	if err != nil {
		return nil, err
	}
	if e, err = e.completed(set); err != nil {
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
			Rows:      runs.Minibatches(e.Seed, set.Train(), e.Method.BatchSize),
			Repeats:   set.Train().Weights != nil,
		},
		backend: b,
	}, nil
}

func (e Experiment) stepsPerEpoch(set *dataset.Set) int {
	return e.Header().StepsPerEpoch(set.Train().Rows)
}

func (p *plan) check() error {
	asked := append(p.architecture.Features(), p.job.Algorithm.Features()...)
	if p.experiment.Fill != nil {
		asked = append(asked, engine.MissingUnits)
	}
	if err := engine.Refuse(p.backend.name, p.backend.Lacks(), asked); err != nil {
		return err
	}
	if e, limits := p.backend.Engine.(engine.Checker); limits {
		if err := e.Check(p.architecture, p.job.Algorithm); err != nil {
			return err
		}
	}
	return p.checkMemory(p.backend.Available())
}

// checkMemory returns an error if training needs more than the available memory, in bytes, of owner. It
// returns nil if available is not positive, which means that it is unknown.
func (p *plan) checkMemory(available int64, owner string) error {
	needed := p.memory()
	if available <= 0 || needed <= available {
		return nil
	}
	generative, recognition := p.backend.MetricBlocks(p.architecture, p.job.Algorithm)
	blocks, remedies := "", "smaller layers"
	if bytes := total(generative) + total(recognition); bytes > 0 {
		blocks = fmt.Sprintf(" %s of it for inverse Fisher blocks,", size(bytes))
		remedies += ", the metric diagonal or none"
	}
	if !engine.ConvolvedLayers.In(p.backend.Lacks()) {
		remedies += ", convolutions"
	}
	if p.backend.name != "cpu" {
		remedies += ", --backend cpu"
	}
	return fmt.Errorf("training takes %s of memory,%s but %s has %s: use %s, or fewer samples",
		size(needed), blocks, owner, size(available), remedies)
}

func (p *plan) memory() int64 {
	bytes := p.backend.Memory(p.architecture, p.job.Algorithm)
	for _, split := range []dataset.Split{p.set.Train(), p.set.Validation(), p.set.Test()} {
		if p.backend.name == "cpu" {
			bytes += int64(split.Size())
		} else { // a GPU keeps no packed bits and no real numbers
			bytes += int64(split.Rows) * int64(split.Shape.Units())
		}
	}
	if a := p.job.Algorithm; p.experiment.Fill != nil { // rows and dreams as q sees them
		bytes += 4 * int64(a.BatchSize*(1+2*a.MostSamples())*p.architecture.Visible())
	}
	if p.job.Algorithm.Chains {
		bytes += 4 * int64(p.job.Data.Rows) * int64(engine.ChainWidth(p.architecture))
	}
	return bytes
}

// start returns the state before the first step. Its parameters come from the run that the experiment
// starts from, or are random if there is none.
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

func (p *plan) startTrainer() (engine.Trainer, error) {
	state, err := p.start()
	if err != nil {
		return nil, err
	}
	return p.trainer(state)
}

// trainer returns a trainer that takes ownership of a state.
func (p *plan) trainer(state *engine.State) (engine.Trainer, error) {
	return p.backend.NewTrainer(p.job, state)
}

// MostOnGPU is the largest number of runs that a GPU trains well in parallel: with more, each step waits longer,
// and the GPU hardly does more (notebooks/SPEED.md, "Several runs on one GPU").
const MostOnGPU = 4

// AtOnce returns how many runs on set a GPU trains well in parallel, or 0 if runs compute on the CPU. It
// returns an error for settings that Check would reject.
func (e Experiment) AtOnce(set *dataset.Set) (int, error) {
	backend, err := openBackend()
	if err != nil || backend.name == "cpu" {
		return 0, err
	}
	bytes, err := e.Memory(set)
	if err != nil {
		return 0, err
	}
	available, _ := backend.Available()
	return max(1, min(MostOnGPU, int(available/2/bytes))), nil // half is for evaluations and other programs
}

// Memory estimates the bytes that training on set takes on its device. It returns an error for
// settings that Check would reject.
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

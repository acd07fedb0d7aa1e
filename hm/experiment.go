package hm

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Experiment is a training run as a plain value: data, machine, method, budget and seed. The fluent
// API builds it, TOML stores it, and the command line trains it.
type Experiment struct {
	runs.Data
	Machine MachineSpec `toml:"machine" json:"machine"`
	Method  MethodSpec  `toml:"method" json:"method"`
	runs.Budget
	// Measurements are taken during training. Like Keep and RecordSteps they do not affect
	// training, so a run may resume with others.
	Measurements []Measurement `toml:"measure,omitempty" json:"measure,omitempty"`
	// Start names the run whose parameters training starts from. If it is nil, training starts from
	// random parameters.
	Start *runs.Source `toml:"start,omitempty" json:"start,omitempty"`
	// Fill holds the means of the observed values of each visible unit over the training rows, which the recognition network
	// gets in the place of missing values. Training sets it if the data set keeps rows with gaps.
	Fill []float32 `toml:"fill,omitempty" json:"fill,omitempty"`
	// Misfit describes why the machine does not suit the data set passed to Method.Experiment. It is
	// empty if the machine suits the set. Check returns it as an error.
	Misfit string `toml:"-" json:"misfit,omitempty"`
}

// Experiment returns an experiment that trains machine by the method on set.
func (m Method) Experiment(machine Machine, set *dataset.Set) Experiment {
	e := Experiment{
		Machine: machine.Spec(), Method: m.Spec(), Budget: m.Budget(), Measurements: slices.Clone(m.measurements),
	}
	e.Data, e.Misfit = runs.DataOf(set, machine.shape)
	if m.start != nil {
		e.Start = new(*m.start)
	}
	return e
}

// Check returns an error if the experiment cannot be trained on set. It names the setting, its
// value and the remedy. It does not read the run that training starts from; Resolve does.
func (e Experiment) Check(set *dataset.Set) error {
	return runs.First(
		func() error { return e.checkGaps(set) },
		func() error { return e.checkSettings(set) },
		func() error { return e.Header().CheckObserved(set) },
		func() error { return e.checkMeasurements(set) },
		e.checkStart,
		func() error {
			p, err := e.plan(set)
			if err != nil {
				return err
			}
			return p.check()
		})
}

// Header returns the data, the budget and the size of minibatches.
func (e Experiment) Header() runs.Header {
	return runs.Header{Base: runs.Base{Data: e.Data, Budget: e.Budget}, BatchSize: e.Method.BatchSize}
}

// WithHeader returns the experiment with the data, the budget and the size of minibatches of h.
func (e Experiment) WithHeader(h runs.Header) runs.Experiment {
	e.Data, e.Budget, e.Method.BatchSize = h.Data, h.Budget, h.BatchSize
	return e
}

// LearningRate returns the rate at a step, counted from 0, given the number of steps per epoch.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 {
	return e.Method.LearningRate * e.Method.Factor(step, stepsPerEpoch, e.Epochs)
}

// Adopt returns the experiment. It replaces AutoArithmetic by the arithmetic of the other experiment, there.
func (e Experiment) Adopt(there runs.Experiment) runs.Experiment {
	if there, is := there.(Experiment); is && e.Method.Arithmetic == AutoArithmetic {
		e.Method.Arithmetic = there.Method.Arithmetic
	}
	return e
}

func (e Experiment) String() string { return e.Method.String() }

// checkSettings returns an error if the machine and the method do not suit the rows of set. It does
// not check the number of rows.
func (e Experiment) checkSettings(set *dataset.Set) error {
	var err error
	if e.Machine, err = e.Machine.withGroupsOf(set); err != nil {
		return err
	}
	return runs.First(e.Err,
		func() error { return e.checkLabels(set) },
		func() error { return e.Machine.check(set.Shape(), set.Name()) },
		func() error { return e.checkUnits(e.Machine.architecture(set.Shape())) },
		func() error { return e.checkGroups(e.Machine.architecture(set.Shape()), set) },
		e.Method.check,
		func() error {
			if e.Method.Phases == JointStochastic && set.Train().Weights != nil {
				return errors.New("phases = jsa with weight_file: JSA keeps one chain for each row, and a step may visit a row with a large weight twice; omit one of them")
			}
			return nil
		})
}

// Err returns an error for a misfit, for a setting whose value is unknown and so has no name, and for
// an unknown preset.
func (e Experiment) Err() error {
	if e.Misfit != "" {
		return errors.New(e.Misfit)
	}
	if err := runs.Nameless(e); err != nil {
		return err
	}
	_, err := Preset(e.Method.Preset)
	return err
}

// family is the name of this family of models in experiment files, which may omit it.
const family = "hm"

// Hash returns a text that identifies the experiment: two experiments with the same hash train in
// the same way. It panics if a number is not finite or a setting has no name. Check returns an error
// for such values, and files cannot contain them.
func (e Experiment) Hash() string {
	e.Method = e.Method.identity()
	e.Keep, e.RecordSteps, e.Measurements = nil, 0, nil
	return runs.HashOf("", e)
}

// ParseExperiment reads an experiment from TOML. Missing settings have the values of the preset.
// ParseExperiment returns an error for unknown settings.
func ParseExperiment(text []byte) (Experiment, error) {
	return runs.DecodeExperiment(text, family, func(named struct {
		Fingerprint string
		Method      struct{ Preset string }
	}) (Experiment, error) {
		if named.Method.Preset == "" {
			return Experiment{}, fmt.Errorf("no method: use one of %s as preset in [method]", strings.Join(Presets(), ", "))
		}
		if slices.Contains([]string{"cd", "pcd", "pt", "ptt", "pl", "rm", "mp"}, named.Method.Preset) {
			return Experiment{}, fmt.Errorf("preset = %q in [method] trains a Boltzmann machine: write algorithm = %[1]q instead, and family = \"boltzmann\" in the first line", named.Method.Preset)
		}
		method, err := Preset(named.Method.Preset)
		if named.Fingerprint != "" { // a trained experiment; earlier versions did not record the arithmetic
			method.spec.Arithmetic = FloatingPoint
		}
		return Experiment{Machine: New(dataset.Shape{}).spec, Method: method.spec, Budget: method.budget}, err
	})
}

// TOML returns the experiment in the format that ParseExperiment reads. It panics if a setting has no
// name; Check returns an error for this.
func (e Experiment) TOML() []byte { return runs.EncodeExperiment(family, e) }

// Baseline returns the mean log p(x) of rows, in nats, under a factorised model of the training rows of set.
// The model treats the visible units as independent or, if the machine has groups, the categorical variables.
// Baseline ignores the label of a machine, as the machine's log p(x) does. Method.Baseline and
// Method.ReinforceBaseline are something else: control variates of gradients.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	machine, err := e.Machine.withGroupsOf(set)
	switch a := machine.architecture(set.Shape()); {
	case err == nil && a.Kind(0) == engine.Categorical:
		var variables []factorized.Variable
		for _, g := range a.Variables(0) {
			variables = append(variables, factorized.Variable(g))
		}
		return factorized.Categorical(set.Train(), rows, variables)
	case a.Kind(0) == Gaussian:
		return factorized.Gaussian(set.Train(), rows, engine.SigmaFloor, true)
	}
	return factorized.Bernoulli(set.Train(), rows)
}

// From starts training from the parameters of the run in a directory instead of random ones
// (fine-tuning; BiHM thesis 2016, 3.6.2). checkpoint is last, best, or an epoch whose checkpoint
// the run keeps. Optimisers and Fisher blocks start afresh.
func (m Method) From(dir, checkpoint string) Method {
	m.start = &runs.Source{Run: dir, Checkpoint: checkpoint}
	return m
}

func (e Experiment) startParameters(shape dataset.Shape) (*engine.Parameters, error) {
	fail := func(err error) error { return fmt.Errorf("start from %s: %w", e.Start.Run, err) }
	run, err := OpenRun(e.Start.Run)
	if err != nil {
		return nil, fail(err)
	}
	if was := run.Experiment().Dataset.Standardize; was != e.Dataset.Standardize {
		return nil, fail(fmt.Errorf("it was trained with standardize = %v: train on such data", was))
	}
	model, err := run.Checkpoint(e.Start.Checkpoint)
	if err != nil {
		return nil, fail(err)
	}
	if err := e.checkMachine(model.parameters, shape); err != nil {
		return nil, fail(fmt.Errorf("%w: describe the same machine, as --config %s does", err, shell.Argument(filepath.Join(e.Start.Run, "experiment.toml"))))
	}
	if err := e.Start.CheckParameters(checksum(model.parameters)); err != nil {
		return nil, fail(err)
	}
	return model.parameters, nil
}

func checksum(p *engine.Parameters) string {
	return runs.Snapshot{Tensors: appendTensors(nil, "", p)}.Checksum()
}

// Resolve returns the experiment, completed with the groups of the set's columns, with Fill and with the checksum
// of the parameters that training starts from.
func (e Experiment) Resolve(set *dataset.Set) (runs.Experiment, error) {
	e, err := e.completed(set)
	if err != nil {
		return nil, err
	}
	start, err := e.Start.Resolved(func() (string, error) {
		p, err := e.startParameters(set.Shape())
		if err != nil {
			return "", err
		}
		return checksum(p), nil
	})
	e.Start = start
	return e, err
}

func (e Experiment) checkStart() error {
	if e.Start != nil && strings.TrimSpace(e.Start.Run) == "" {
		return fmt.Errorf("start without a run: name the directory of the run whose parameters training starts from")
	}
	return nil
}

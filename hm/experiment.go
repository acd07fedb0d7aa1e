package hm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, machine, method, budget
// and seed. The fluent API builds it, TOML stores it, the command line trains it.
type Experiment struct {
	runs.Data
	Machine MachineSpec `toml:"machine" json:"machine"`
	Method  MethodSpec  `toml:"method" json:"method"`
	runs.Budget
	// Measurements are what is measured on the way. As Keep and RecordSteps they leave training as
	// it is, so that the same run may have others when it is resumed.
	Measurements []Measurement `toml:"measure,omitempty" json:"measure,omitempty"`
	// Start is the run from whose parameters training starts, nil where they are
	// drawn.
	Start *runs.Source `toml:"start,omitempty" json:"start,omitempty"`
	// Misfit is what is wrong between the machine and the data set that
	// Method.Experiment was given, empty where nothing is. Check refuses it.
	Misfit string `toml:"-" json:"misfit,omitempty"`
}

// Experiment returns what training machine by the method on set would be.
func (m Method) Experiment(machine Machine, set *dataset.Set) Experiment {
	e := Experiment{
		Data: runs.DataOf(set), Machine: machine.Spec(), Method: m.spec, Budget: m.budget,
		Measurements: slices.Clone(m.measurements), Misfit: runs.Misfit(machine.shape, set),
	}
	e.Keep = slices.Clone(e.Keep)
	if m.start != nil {
		e.Start = new(*m.start)
	}
	return e
}

// Check refuses an experiment that cannot be trained on set, with the setting,
// its value and the remedy.
func (e Experiment) Check(set *dataset.Set) error {
	return runs.First(
		func() error { return e.checkSettings(set) },
		func() error { return e.Header().Check(set) },
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

// Header implements runs.Experiment.
func (e Experiment) Header() runs.Header {
	return runs.Base{Data: e.Data, Budget: e.Budget}.Header(e.Method.BatchSize)
}

// WithHeader implements runs.Experiment.
func (e Experiment) WithHeader(h runs.Header) runs.Experiment {
	e.Data, e.Budget, e.Method.BatchSize = h.Base().Data, h.Base().Budget, h.BatchSize
	return e
}

// LearningRate implements runs.Experiment.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 {
	return e.Method.rate(step, stepsPerEpoch, e.Epochs)
}

// String names the method and its settings.
func (e Experiment) String() string { return e.Method.String() }

// checkSettings refuses a machine and a method that no number of rows like those
// of set could train.
func (e Experiment) checkSettings(set *dataset.Set) error {
	return runs.First(e.Err,
		func() error { return e.checkLabels(set) },
		func() error { return e.Machine.check(set.Shape(), set.Name()) },
		func() error { return e.checkUnits(e.Machine.architecture(set.Shape())) },
		e.Method.check)
}

// Err implements runs.Experiment. It refuses a misfit, and settings that have no
// name: those that are none of their kind, and presets that there are not.
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

// family is the name of this family of models in experiment files, which may leave it out.
const family = "hm"

// Hash identifies an experiment: two of the same hash train alike. It panics
// where a number is not finite or a setting has no name, which Check refuses; a file has
// neither.
func (e Experiment) Hash() string {
	e.Method = e.Method.identity()
	e.Keep, e.RecordSteps, e.Measurements = nil, 0, nil
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// ParseExperiment reads an experiment from TOML. Settings that are not there
// have the values of the preset, unknown ones are refused.
func ParseExperiment(text []byte) (Experiment, error) {
	var named struct {
		Method struct{ Preset string }
	}
	if _, err := runs.DecodeTOML(text, &named); err != nil {
		return Experiment{}, err
	}
	if named.Method.Preset == "" {
		return Experiment{}, fmt.Errorf("no method: give one of %s as preset in [method]", strings.Join(Presets(), ", "))
	}
	method, err := Preset(named.Method.Preset)
	if err != nil {
		return Experiment{}, err
	}
	e := Experiment{Machine: New(dataset.Shape{}).spec, Method: method.spec, Budget: method.budget}
	if err := runs.DecodeExperiment(text, family, &e); err != nil {
		return Experiment{}, err
	}
	return e, runs.CheckSettings(e)
}

// ReadExperiment reads the experiment of a TOML file.
func ReadExperiment(path string) (Experiment, error) {
	e, err := runs.ReadExperiment(path)
	if err != nil {
		return Experiment{}, err
	}
	machine, ok := e.(Experiment)
	if !ok {
		return Experiment{}, fmt.Errorf("%s is an experiment of another family (%v): it trains no Helmholtz machine", path, e)
	}
	return machine, nil
}

// TOML writes the experiment as ParseExperiment reads it. It panics where a setting
// has no name, which Check refuses.
func (e Experiment) TOML() []byte { return runs.EncodeTOML(e) }

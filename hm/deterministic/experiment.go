package deterministic

import (
	"fmt"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, machine, training, budget
// and seed. NewExperiment gives the usual settings, TOML stores it.
type Experiment struct {
	Dataset dataset.Spec `toml:"dataset" json:"dataset"`
	// Fingerprint is the SHA-256 of the data. Training writes it; where it is
	// given, other data are refused.
	Fingerprint string       `toml:"fingerprint,omitempty" json:"fingerprint,omitempty"`
	Machine     MachineSpec  `toml:"machine" json:"machine"`
	Training    TrainingSpec `toml:"training" json:"training"`
	Epochs      int          `toml:"epochs" json:"epochs"`
	// Patience ends training when the validation free energy has not fallen for
	// so many epochs; 0 trains for all epochs.
	Patience int `toml:"patience" json:"patience"`
	// Seed draws the first parameters and the order of the rows.
	Seed uint64 `toml:"seed" json:"seed"`

	// The settings below leave training as it is, and are no part of Hash.

	// Keep are the epochs whose checkpoints are kept.
	Keep []int `toml:"keep,omitempty" json:"keep,omitempty"`
	// RecordSteps, where it is not 0, is the number of steps after which the free
	// energy is recorded.
	RecordSteps int `toml:"record_steps,omitzero" json:"record_steps,omitempty"`
	// LogPEvery, where it is not 0, is the number of epochs after which log p(x) of
	// the training and the validation rows is measured: exactly, as Machine.LogP
	// does. LogPHistory returns what was recorded.
	LogPEvery int `toml:"log_p_every,omitzero" json:"log_p_every,omitempty"`
}

// MachineSpec describes a machine whose data layer is that of the data.
type MachineSpec struct {
	Activation Activation `toml:"activation" json:"activation"`
	Layers     []int      `toml:"layers" json:"layers"` // numbers of units of the hidden layers, bottom up
}

// TrainingSpec is how a machine is trained: by Adam, on the mean gradient of the
// free energy of each minibatch.
type TrainingSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"`
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
}

// usual are the settings that an experiment has where it gives no others.
func usual() Experiment {
	return Experiment{Training: TrainingSpec{LearningRate: 0.01, BatchSize: 32}, Epochs: 20, Seed: 1}
}

// NewExperiment returns what training a machine with hidden layers of these numbers
// of units, bottom up, on set would be: for 20 epochs, in minibatches of 32 rows,
// with the learning rate 0.01 and the seed 1.
func NewExperiment(set *dataset.Set, activation Activation, layers ...int) Experiment {
	e := usual()
	e.Dataset, e.Fingerprint = set.Spec(), set.Fingerprint()
	e.Machine = MachineSpec{Activation: activation, Layers: slices.Clone(layers)}
	return e
}

// Header implements runs.Experiment.
func (e Experiment) Header() runs.Header {
	return runs.Header{
		Dataset: e.Dataset, Fingerprint: e.Fingerprint, Epochs: e.Epochs, Patience: e.Patience, Seed: e.Seed,
		BatchSize: e.Training.BatchSize, Keep: e.Keep, RecordSteps: e.RecordSteps,
	}
}

// WithHeader implements runs.Experiment.
func (e Experiment) WithHeader(h runs.Header) runs.Experiment {
	e.Dataset, e.Fingerprint, e.Epochs, e.Patience, e.Seed = h.Dataset, h.Fingerprint, h.Epochs, h.Patience, h.Seed
	e.Training.BatchSize, e.Keep, e.RecordSteps = h.BatchSize, h.Keep, h.RecordSteps
	return e
}

// LearningRate implements runs.Experiment: it stays as it is.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 { return e.Training.LearningRate }

// String names the activation and the learning rate.
func (e Experiment) String() string {
	return fmt.Sprintf("deterministic %v, η = %g", e.Machine.Activation, e.Training.LearningRate)
}

// Err implements runs.Experiment. It refuses settings that have no name.
func (e Experiment) Err() error {
	if _, err := e.Machine.Activation.MarshalText(); err != nil {
		return err
	}
	_, err := e.Dataset.Binarization.MarshalText()
	return err
}

// Hash identifies an experiment: two of the same hash train alike. It panics where
// the learning rate is not finite or a setting has no name, which Check refuses.
func (e Experiment) Hash() string {
	e.Keep, e.RecordSteps, e.LogPEvery = nil, 0, 0
	return runs.HashOf(family, e)
}

// family is the name of this package's experiments in their files.
const family = "deterministic"

func init() {
	runs.Register(family, func(text []byte) (runs.Experiment, error) { return ParseExperiment(text) })
}

// file is the experiment as its file has it.
type file struct {
	Family string `toml:"family"`
	Experiment
}

// ParseExperiment reads an experiment from TOML. Settings that are not there have
// the values of NewExperiment, the activation is logistic; unknown ones are refused.
func ParseExperiment(text []byte) (Experiment, error) {
	f := file{Experiment: usual()}
	meta, err := runs.DecodeTOML(text, &f)
	if err != nil {
		return Experiment{}, err
	}
	if f.Family != family {
		return Experiment{}, fmt.Errorf("family = %q is not an experiment of this package: give family = %q, or read it by runs.ParseExperiment", f.Family, family)
	}
	if err := runs.CheckDecoded(meta, f); err != nil {
		return Experiment{}, err
	}
	return f.Experiment, runs.CheckSettings(f.Experiment)
}

// TOML writes the experiment as ParseExperiment reads it. It panics where a setting
// has no name, which Check refuses.
func (e Experiment) TOML() []byte {
	return runs.EncodeTOML(file{family, e})
}

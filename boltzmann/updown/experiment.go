package updown

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, the network that it begins from, method,
// budget and seed. NewExperiment gives the usual settings, TOML stores it.
type Experiment struct {
	Dataset dataset.Spec `toml:"dataset" json:"dataset"`
	// Fingerprint is the SHA-256 of the data. Training writes it; where it is given, other
	// data are refused.
	Fingerprint string `toml:"fingerprint,omitempty" json:"fingerprint,omitempty"`
	// Network is the run of the last layer of the deep belief network from which training begins.
	Network runs.Source `toml:"network" json:"network"`
	Method  MethodSpec  `toml:"method" json:"method"`
	Epochs  int         `toml:"epochs" json:"epochs"`
	// Patience ends training when the validation pseudo-bound has not risen for so many
	// epochs; 0 trains for all epochs.
	Patience int    `toml:"patience" json:"patience"`
	Seed     uint64 `toml:"seed" json:"seed"`
	// Keep are the epochs whose checkpoints are kept, and RecordSteps, where it is not 0, the
	// number of steps after which measures are recorded. They leave training as it is, and are
	// no part of Hash.
	Keep        []int `toml:"keep,omitempty" json:"keep,omitempty"`
	RecordSteps int   `toml:"record_steps,omitzero" json:"record_steps,omitempty"`
}

// MethodSpec is how a network is trained: by gradient ascent, at a rate that falls to 0 along a
// cosine.
type MethodSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // η at first, of all layers
	Steps        int     `toml:"steps" json:"steps"`                 // k of contrastive divergence of the prior
	BatchSize    int     `toml:"batch_size" json:"batch_size"`       // B, rows a minibatch
}

// usual are the settings that an experiment has where it gives no others.
func usual() Experiment {
	return Experiment{Method: MethodSpec{LearningRate: 0.01, Steps: 5, BatchSize: 100}, Epochs: 20, Seed: 1}
}

// NewExperiment returns what training the network of the run in a directory further on set would
// be: for 20 epochs, in minibatches of 100 rows, with the learning rate 0.01, 5 sweeps of the
// prior's chains, and the seed 1.
func NewExperiment(set *dataset.Set, run string) Experiment {
	e := usual()
	e.Dataset, e.Fingerprint, e.Network.Run = set.Spec(), set.Fingerprint(), run
	return e
}

// Header implements runs.Experiment.
func (e Experiment) Header() runs.Header {
	return runs.Header{
		Dataset: e.Dataset, Fingerprint: e.Fingerprint, Epochs: e.Epochs, Patience: e.Patience, Seed: e.Seed,
		BatchSize: e.Method.BatchSize, Keep: e.Keep, RecordSteps: e.RecordSteps,
	}
}

// WithHeader implements runs.Experiment.
func (e Experiment) WithHeader(h runs.Header) runs.Experiment {
	e.Dataset, e.Fingerprint, e.Epochs, e.Patience, e.Seed = h.Dataset, h.Fingerprint, h.Epochs, h.Patience, h.Seed
	e.Method.BatchSize, e.Keep, e.RecordSteps = h.BatchSize, h.Keep, h.RecordSteps
	return e
}

// LearningRate implements runs.Experiment.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 {
	return e.Method.LearningRate * runs.Decay{Schedule: runs.CosineDecay}.Factor(step, stepsPerEpoch, e.Epochs)
}

// String names the method and its settings.
func (e Experiment) String() string {
	s := fmt.Sprintf("up–down, CD-%d, η = %g", e.Method.Steps, e.Method.LearningRate)
	if b := e.Method.BatchSize; b != usual().Method.BatchSize {
		s += fmt.Sprintf(", B = %d", b)
	}
	return s
}

// Err implements runs.Experiment. It refuses settings that have no name.
func (e Experiment) Err() error {
	_, err := e.Dataset.Binarization.MarshalText()
	return err
}

// Check refuses an experiment that cannot be trained on set, with the setting, its value and the
// remedy.
func (e Experiment) Check(set *dataset.Set) error {
	if err := e.Err(); err != nil {
		return err
	}
	switch s := e.Method; {
	case strings.TrimSpace(e.Network.Run) == "":
		return errors.New("a network without a run: name the directory of the last layer of a deep belief network")
	case !(s.LearningRate > 0) || !statistics.Finite(s.LearningRate):
		return fmt.Errorf("learning_rate = %v: give a positive number, such as 0.01", s.LearningRate)
	case s.Steps < 1 || s.Steps > math.MaxUint32:
		return fmt.Errorf("steps = %d: give the number of sweeps of the prior's chains, at least 1", s.Steps)
	case e.Dataset.Binarization == dataset.Gray:
		return errors.New("binarization = grey: the units of a belief network are 0 or 1; use stochastic, where grey values are the probabilities of draws, or fixed, where they are rounded")
	}
	return e.Header().Check(set)
}

// prior is how the machine on top learns.
func (e Experiment) prior() boltzmann.MethodSpec {
	return boltzmann.CD().Steps(e.Method.Steps).BatchSize(e.Method.BatchSize).LearningRate(e.Method.LearningRate).Spec()
}

// start reads the network from which training on images of a shape begins.
func (e Experiment) start(shape dataset.Shape) (*trainer, error) {
	fail := func(err error) (*trainer, error) { return nil, fmt.Errorf("the network of %s: %w", e.Network.Run, err) }
	run, err := boltzmann.OpenRun(e.Network.Run)
	if err != nil {
		return fail(err)
	}
	prior, below, err := run.Prior(e.Network.Checkpoint, e.prior(), e.Seed)
	if err != nil {
		return fail(err)
	}
	if of := below[0].Visible(); of != shape.Units() {
		return fail(fmt.Errorf("it is for rows of %d values, the data have %d: train both on the same data", of, shape.Units()))
	}
	t := &trainer{network: unrolled(below), prior: prior}
	is, err := t.checksum()
	if err != nil {
		return fail(err)
	}
	if err := e.Network.CheckParameters(is); err != nil {
		return fail(err)
	}
	return t, nil
}

// checksum is that of all parameters.
func (t *trainer) checksum() (string, error) {
	s, err := t.snapshot(dataset.Shape{})
	return runs.Checksum(s.Tensors), err
}

// Resolve implements runs.Resolver.
func (e Experiment) Resolve(set *dataset.Set) (runs.Experiment, error) {
	if e.Network.Parameters != "" {
		return e, nil
	}
	t, err := e.start(set.Shape())
	if err != nil {
		return nil, err
	}
	is, err := t.checksum()
	if err != nil {
		return nil, err
	}
	e.Network, err = e.Network.Resolved(is)
	return e, err
}

// family is the name of this family of models in experiment files.
const family = "updown"

func init() {
	runs.Register(family, func(text []byte) (runs.Experiment, error) { return ParseExperiment(text) })
}

// Hash identifies an experiment: two of the same hash train alike. It panics where a number is
// not finite or a setting has no name, which Check refuses; a file has neither.
func (e Experiment) Hash() string {
	e.Keep, e.RecordSteps = nil, 0
	return runs.HashOf(family, e)
}

// file is the experiment as its file has it.
type file struct {
	Family string `toml:"family"`
	Experiment
}

// ParseExperiment reads an experiment from TOML. Settings that are not there have the values of
// NewExperiment; unknown ones are refused.
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

// TOML writes the experiment as ParseExperiment reads it. It panics where a setting has no
// name, which Check refuses.
func (e Experiment) TOML() []byte {
	return runs.EncodeTOML(file{family, e})
}

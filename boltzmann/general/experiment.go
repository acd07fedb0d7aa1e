package general

import (
	"fmt"
	"math"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/factorized"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Experiment is a training run as a plain value: data, machine, training, budget and seed.
// NewExperiment gives the usual settings, TOML stores it.
type Experiment struct {
	Dataset dataset.Spec `toml:"dataset" json:"dataset"`
	// Fingerprint is the SHA-256 of the data. Training writes it; where it is given, other data
	// are refused.
	Fingerprint string       `toml:"fingerprint,omitempty" json:"fingerprint,omitempty"`
	Machine     MachineSpec  `toml:"machine" json:"machine"`
	Training    TrainingSpec `toml:"training" json:"training"`
	Epochs      int          `toml:"epochs" json:"epochs"`
	// Patience ends training when the validation pseudo-likelihood has not risen for so many
	// epochs; 0 trains for all epochs.
	Patience int    `toml:"patience" json:"patience"`
	Seed     uint64 `toml:"seed" json:"seed"`
	// Keep are the epochs whose checkpoints are kept, and RecordSteps, where it is not 0, the
	// number of steps after which measures are recorded. They leave training as it is, and are no
	// part of Hash.
	Keep        []int `toml:"keep,omitempty" json:"keep,omitempty"`
	RecordSteps int   `toml:"record_steps,omitzero" json:"record_steps,omitempty"`
}

// TrainingSpec is how a machine is trained: along the gradient of log p(v) of each minibatch, at a
// rate that falls to 0 along a cosine.
type TrainingSpec struct {
	LearningRate float64 `toml:"learning_rate" json:"learning_rate"` // the first one
	BatchSize    int     `toml:"batch_size" json:"batch_size"`
	// Chains is the number of persistent chains of a machine of more than 20 units, and Steps that
	// of their sweeps a step. Without chains the gradient is exact.
	Chains int `toml:"chains" json:"chains"`
	Steps  int `toml:"steps" json:"steps"`
}

// usual are the settings that an experiment has where it gives no others.
func usual() Experiment {
	return Experiment{Training: TrainingSpec{LearningRate: 0.1, BatchSize: 100, Chains: 100, Steps: 1}, Epochs: 20, Seed: 1}
}

// NewExperiment returns what training a machine with a number of hidden units on set would be:
// for 20 epochs, in minibatches of 100 rows, with 100 chains of one sweep a step where there are
// chains, the learning rate 0.1 and the seed 1.
func NewExperiment(set *dataset.Set, connections Connections, hidden int) Experiment {
	e := usual()
	e.Dataset, e.Fingerprint = set.Spec(), set.Fingerprint()
	e.Machine = MachineSpec{Hidden: hidden, Connections: connections}
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

// LearningRate implements runs.Experiment.
func (e Experiment) LearningRate(step, stepsPerEpoch int) float64 {
	return e.Training.LearningRate * runs.Decay{Schedule: runs.CosineDecay}.Factor(step, stepsPerEpoch, e.Epochs)
}

// String names the connections, the number of hidden units and the learning rate.
func (e Experiment) String() string {
	return fmt.Sprintf("general BM %d, %v, η = %g", e.Machine.Hidden, e.Machine.Connections, e.Training.LearningRate)
}

// Err implements runs.Experiment. It refuses settings that have no name.
func (e Experiment) Err() error {
	if _, err := e.Machine.Connections.MarshalText(); err != nil {
		return err
	}
	_, err := e.Dataset.Binarization.MarshalText()
	return err
}

// Check refuses an experiment that cannot be trained on set, with the setting, its value and the
// remedy.
func (e Experiment) Check(set *dataset.Set) error {
	if err := e.Err(); err != nil {
		return err
	}
	if err := e.Machine.check(set.Shape().Units()); err != nil {
		return err
	}
	if err := checkBinarization(e.Dataset.Binarization); err != nil {
		return err
	}
	s := e.Training
	switch {
	case !(s.LearningRate > 0) || math.IsInf(s.LearningRate, 1):
		return fmt.Errorf("learning_rate = %v: give a positive, finite number, such as 0.1", s.LearningRate)
	case s.Chains < 1 || s.Chains > math.MaxUint32 || s.Steps < 1 || s.Steps > math.MaxUint32:
		return fmt.Errorf("%s of %s: give at least 1 of each; 100 chains of 1 step are usual", names.Count(s.Chains, "chain"), names.Count(s.Steps, "step"))
	}
	if err := e.Header().Check(set); err != nil {
		return err
	}
	return e.checkMemory(set.Shape().Units())
}

// checkBinarization refuses rows that are not 0 and 1.
func checkBinarization(b dataset.Binarization) error {
	if b != dataset.Fixed && b != dataset.Drawn {
		return fmt.Errorf("binarization = %v: the units of a general Boltzmann machine are zeros and ones that stay; use fixed or drawn", b)
	}
	return nil
}

// checkMemory refuses units, chains and minibatches that memory does not hold.
func (e Experiment) checkMemory(visible int) error {
	n, s := float64(visible+e.Machine.Hidden), e.Training
	chains := s.Chains
	if n <= enumerable {
		chains = 0
	}
	bytes := 8 * (3.5*n*n + n*(2*float64(s.BatchSize)+3*float64(chains))) // W, the gradient and pairs with their weights
	if limit, whose := memory.Limit(); bytes > float64(limit) {
		return fmt.Errorf("%d visible and %s with %s and minibatches of %s take %.3g bytes to train, where %s has %.3g: give fewer",
			visible, names.Count(e.Machine.Hidden, "hidden unit"), names.Count(chains, "chain"), names.Count(s.BatchSize, "row"), bytes, whose, float64(limit))
	}
	return nil
}

// Baseline implements runs.Baseliner: the pseudo-likelihood of a factorised model is its log p(v).
// Training has diverged where log p(v) is far worse, if it is exact: the pseudo-likelihood may be 0
// of a machine that gives the data no probability.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	line := factorized.Bernoulli(set.Train(), rows)
	b := runs.Baseline{Rows: rows.Name, Factorized: runs.Estimate{Value: line.LogP, SE: line.SE}, Limit: line.Limit}
	if set.Shape().Units()+e.Machine.Hidden <= enumerable {
		b.LimitOf = runs.LogP.Key
	}
	return b
}

// Hash identifies an experiment: two of the same hash train alike. It panics where the learning
// rate is not finite or a setting has no name, which Check refuses.
func (e Experiment) Hash() string {
	e.Keep, e.RecordSteps = nil, 0
	return runs.HashOf(family, e)
}

// family is the name of this package's experiments in their files.
const family = "general-boltzmann"

func init() {
	runs.Register(family, func(text []byte) (runs.Experiment, error) { return ParseExperiment(text) })
}

// file is the experiment as its file has it.
type file struct {
	Family string `toml:"family"`
	Experiment
}

// ParseExperiment reads an experiment from TOML. Settings that are not there have the values of
// NewExperiment, all units are connected; unknown ones are refused.
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

// TOML writes the experiment as ParseExperiment reads it. It panics where a setting has no name,
// which Check refuses.
func (e Experiment) TOML() []byte {
	return runs.EncodeTOML(file{family, e})
}

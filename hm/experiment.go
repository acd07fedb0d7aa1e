package hm

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Experiment is a training run as a plain value: data, machine, method, budget
// and seed. The fluent API builds it, TOML and JSON store it, the command line
// trains it.
type Experiment struct {
	Dataset dataset.Spec `toml:"dataset" json:"dataset"`
	// Fingerprint is the SHA-256 of the data. Training writes it; where it is
	// given, other data are refused.
	Fingerprint string      `toml:"fingerprint,omitempty" json:"fingerprint,omitempty"`
	Machine     MachineSpec `toml:"machine" json:"machine"`
	Method      MethodSpec  `toml:"method" json:"method"`
	Epochs      int         `toml:"epochs" json:"epochs"`
	// Patience ends training when the validation log p has not risen for so
	// many epochs; 0 trains for all epochs.
	Patience int    `toml:"patience" json:"patience"`
	Seed     uint64 `toml:"seed" json:"seed"`
	// Misfit is what is wrong between the machine and the data set that
	// Method.Experiment was given, empty where nothing is. Check refuses it.
	Misfit string `toml:"-" json:"misfit,omitempty"`
}

// Experiment returns what training machine by the method on set would be.
func (m Method) Experiment(machine Machine, set *dataset.Set) Experiment {
	e := Experiment{
		Dataset: set.Spec(), Fingerprint: set.Fingerprint(),
		Machine: machine.spec, Method: m.spec,
		Epochs: m.epochs, Patience: m.patience, Seed: m.seed,
	}
	if machine.shape != set.Shape() {
		e.Misfit = fmt.Sprintf("the machine is for images of %v, the data set %s has %v: describe it by New(set.Shape())",
			machine.shape, set.Name(), set.Shape())
	}
	return e
}

// Check refuses an experiment that cannot be trained on set, with the setting,
// its value and the remedy.
func (e Experiment) Check(set *dataset.Set) error {
	if err := e.checkSettings(set); err != nil {
		return err
	}
	if err := e.checkSeeds(); err != nil {
		return err
	}
	if err := e.checkData(set); err != nil {
		return err
	}
	switch rows := set.Train().Rows; {
	case e.Epochs < 1:
		return fmt.Errorf("%d epochs: train for at least 1", e.Epochs)
	case e.Patience < 0:
		return fmt.Errorf("patience of %d epochs: give 0 to train for all epochs, or more", e.Patience)
	case e.Patience > 0 && set.Validation().Rows == 0:
		return fmt.Errorf("patience of %d epochs without validation rows: hold some out, with --validation or validation = N", e.Patience)
	case e.Method.BatchSize > rows:
		return fmt.Errorf("batch size %d is larger than the %d training rows of %s: lower it", e.Method.BatchSize, rows, set.Name())
	case e.steps(set) >= 1<<32:
		return fmt.Errorf("%d epochs of %d rows are more than 2³² steps: lower the number of epochs", e.Epochs, rows)
	}
	return e.checkBackend(set)
}

// checkSettings refuses a machine and a method that no number of rows like those
// of set could train.
func (e Experiment) checkSettings(set *dataset.Set) error {
	if e.Misfit != "" {
		return errors.New(e.Misfit)
	}
	if err := e.checkNames(); err != nil {
		return err
	}
	if err := e.checkLabels(set); err != nil {
		return err
	}
	if err := e.Machine.check(set.Shape(), set.Name()); err != nil {
		return err
	}
	if err := e.checkUnits(e.Machine.architecture(set.Shape())); err != nil {
		return err
	}
	return e.Method.check()
}

// checkNames refuses settings that have no name, those that are none of their
// kind.
func (e Experiment) checkNames() error {
	var nameless *json.MarshalerError
	if _, err := json.Marshal(e); errors.As(err, &nameless) {
		return nameless.Err
	}
	return nil
}

// checkData refuses data other than those of the experiment, where it says which
// these are.
func (e Experiment) checkData(set *dataset.Set) error {
	if e.Fingerprint == "" || e.Fingerprint == set.Fingerprint() {
		return nil
	}
	return fmt.Errorf("the data of %s are not those of the experiment (fingerprint %.12s, not %.12s): restore the files, or start a new run in another directory",
		set.Name(), set.Fingerprint(), e.Fingerprint)
}

// job is what the engine trains on for the experiment.
func (e Experiment) job(set *dataset.Set) engine.Job {
	data := e.data(set.Train())
	if e.Machine.LabelLayer != NoLabels {
		data.Labels = set.Train().Labels
	}
	return engine.Job{
		Algorithm: e.algorithm(set),
		Data:      data,
		Seed:      e.Seed,
		Rows:      newOrder(e.Seed, set.Train().Rows, e.Method.BatchSize).minibatch,
	}
}

// algorithm is what the engine needs of the method.
func (e Experiment) algorithm(set *dataset.Set) engine.Algorithm {
	return e.Method.algorithm(e.stepsPerEpoch(set))
}

// checkSeeds refuses seeds that TOML cannot hold, and the negative ones that it
// can.
func (e Experiment) checkSeeds() error {
	for _, seed := range []uint64{e.Seed, e.Dataset.Seed} {
		if seed > math.MaxInt64 {
			return fmt.Errorf("seed %d: give a number from 0 to 2⁶³−1", seed)
		}
	}
	return nil
}

// Memory is about how many bytes training on set takes where it computes. It
// refuses settings as Check does.
func (e Experiment) Memory(set *dataset.Set) (int64, error) {
	if err := e.checkSettings(set); err != nil {
		return 0, err
	}
	backend, err := openBackend()
	if err != nil {
		return 0, err
	}
	bytes := backend.Memory(e.Machine.architecture(set.Shape()), e.algorithm(set))
	for _, split := range []dataset.Split{set.Train(), set.Validation(), set.Test()} {
		bytes += int64(len(split.Values))
	}
	return bytes, nil
}

// stepsPerEpoch is the number of minibatches of an epoch, the last of which may
// be smaller.
func (e Experiment) stepsPerEpoch(set *dataset.Set) int {
	return (set.Train().Rows + e.Method.BatchSize - 1) / e.Method.BatchSize
}

func (e Experiment) steps(set *dataset.Set) int { return e.stepsPerEpoch(set) * e.Epochs }

// Hash identifies an experiment: two of the same hash train alike. It panics
// where a number is not finite or a setting has no name, which Check refuses.
func (e Experiment) Hash() string {
	e.Method = e.Method.identity()
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
	if _, err := toml.Decode(string(text), &named); err != nil {
		return Experiment{}, err
	}
	if named.Method.Preset == "" {
		return Experiment{}, fmt.Errorf("no method: give one of %s as preset in [method]", strings.Join(Presets(), ", "))
	}
	method, err := Preset(named.Method.Preset)
	if err != nil {
		return Experiment{}, err
	}
	e := Experiment{
		Machine: New(dataset.Shape{}).spec,
		Method:  method.spec,
		Epochs:  method.epochs,
		Seed:    method.seed,
	}
	meta, err := toml.Decode(string(text), &e)
	if err != nil {
		return Experiment{}, err
	}
	if unknown := meta.Undecoded(); len(unknown) > 0 {
		return Experiment{}, fmt.Errorf("unknown setting %q: remove it or mend its spelling", unknown[0].String())
	}
	return e, e.checkSeeds()
}

// ReadExperiment reads the experiment of a TOML file.
func ReadExperiment(path string) (Experiment, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return Experiment{}, err
	}
	e, err := ParseExperiment(text)
	if err != nil {
		return Experiment{}, fmt.Errorf("%s: %w", path, err)
	}
	return e, nil
}

// TOML writes the experiment as ParseExperiment reads it. It panics where a setting
// has no name, which Check refuses.
func (e Experiment) TOML() []byte {
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(e); err != nil {
		panic(err)
	}
	return b.Bytes()
}

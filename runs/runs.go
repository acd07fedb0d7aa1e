// Package runs trains experiments of any family of models and keeps what came of
// them: a directory for each run, from which it is resumed bit for bit, with the
// history of its measures; several seeds of one experiment; comparisons.
//
//	run, err := runs.Train(ctx, experiment, set, "runs/first")
//	seeds, err := runs.TrainSeeds(ctx, experiment, set, 5, "runs/five")
//	comparison, err := runs.Compare("runs/five", "runs/others")
//	found, passed, err := runs.List("runs")
//
// Train resumes what a directory holds already, Open reads it without training. A Sweep
// varies settings. What came of a run, of seeds, a comparison or a sweep is a Table, which
// Write writes for people and programs.
//
// A family of models registers itself, as database drivers do. A Family describes one by rows of
// settings and a few functions; FAMILY.md beside this package shows how. The first of an experiment's
// measures, its objective, says what is better: best epochs, patience, curves and tables go by it.
// Larger families (Helmholtz machines in package hm, for one) implement Experiment and Learner
// themselves, and have a Kind. Package runstest checks that a family keeps what this package promises.
//
// # A directory
//
// FORMAT.md beside this package describes the files of a run. None of them is
// overwritten in place, and those that are read back carry a checksum.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// Experiment is a training run as a plain value: data, model, method, budget and
// seed.
type Experiment interface {
	// Header is what training needs to know of an experiment of any family, and
	// WithHeader returns the same experiment with another header.
	Header() Header
	WithHeader(Header) Experiment
	// Err is what is wrong with the experiment whatever the data, nil if nothing is.
	// One with an error cannot be written.
	Err() error
	// TOML writes the experiment as the parser of its family reads it, with the name of the
	// family as its key family.
	TOML() []byte
	// Hash identifies the experiment: two of the same hash train alike.
	Hash() string
	// String names the method and its settings as a legend would.
	String() string
	// Check refuses an experiment that cannot be trained on set, with the setting,
	// its value and the remedy.
	Check(set *dataset.Set) error
	// LearningRate is that of a step, 0 the first, where an epoch has so many
	// steps.
	LearningRate(step, stepsPerEpoch int) float64
	// Measures describes all that training may measure, the objective first.
	Measures() []Measure
	// Begin returns the state before the first step.
	Begin(set *dataset.Set) (Snapshot, error)
	// Learner takes up training on set at a snapshot. It refuses one that training
	// of the experiment cannot have taken, with a SnapshotError.
	Learner(set *dataset.Set, at Snapshot) (Learner, error)
}

// A Resolver is an Experiment that may refer to something that can change, such as
// another run's parameters.
type Resolver interface {
	Experiment
	// Resolve returns the experiment with a checksum of what it refers to, and
	// refuses what it cannot be trained on set with.
	Resolve(set *dataset.Set) (Experiment, error)
}

// Header is what training needs to know of an experiment of any family.
type Header struct {
	Dataset dataset.Spec
	// Fingerprint is the SHA-256 of the data. Training writes it; where it is
	// given, other data are refused.
	Fingerprint string
	Epochs      int
	// Patience ends training when the objective has not improved on the
	// validation rows for so many epochs; 0 trains for all epochs.
	Patience  int
	Seed      uint64
	BatchSize int
	// Keep are the epochs whose checkpoints are kept, and RecordSteps, where it is
	// not 0, the number of steps after which measures are recorded. They leave
	// training as it is, and are no part of Hash.
	Keep        []int
	RecordSteps int
}

// Learner is an experiment under way. It is used from one goroutine.
type Learner interface {
	// Steps takes some of the next steps, at least one and at most the given
	// number, and returns what each measured on its minibatch: means over its rows.
	// rate is the learning rate of the k-th of them, 0 the first. It stops early
	// with the context's error, or that of a step that fails, whose measures come
	// last if they are not finite.
	Steps(ctx context.Context, most int, rate func(k int) float64) ([]Measures, error)
	// Norms are those of the layers after the last step, nil where a family has
	// none.
	Norms() (Norms, error)
	// Validate measures rows.
	Validate(ctx context.Context, rows dataset.Split) (Measures, error)
	// Observe measures what the experiment asks for after an epoch, by name; nil
	// where it asks for nothing then.
	Observe(ctx context.Context, epoch int) (map[string]Measures, error)
	// Snapshot is the state after the last step. It stays as it is until the next
	// one.
	Snapshot() (Snapshot, error)
	Close() error
}

// Checksum is the SHA-256, in hexadecimal, of the names, shapes and elements of
// tensors, whatever their order.
func Checksum(tensors []Tensor) string { return (&safetensors.File{Tensors: tensors}).Checksum() }

// Tensor is a named array of numbers, row-major. Its fields are
//
//	Name  string
//	Shape []int     // empty for a single number
//	Data  []float32 // as many as the product of Shape, or nil
//	Wide  []float64 // the same in double precision, or nil
//
// of which one of Data and Wide is nil. The names of a snapshot's tensors differ.
type Tensor = safetensors.Tensor

// Snapshot is all that the next step of a learner needs.
type Snapshot struct {
	Step int // steps done
	// Header describes the model, in JSON, as its family reads it.
	Header  json.RawMessage
	Tensors []Tensor
}

// ErrDiverged is the error of training whose parameters or measures are no longer
// finite.
var ErrDiverged = errors.New("training has diverged: a measure or a parameter is not finite; any earlier checkpoint is kept; lower the learning rate, or raise the damping where there is one")

// Diverging makes an error of a step that cannot be taken with an experiment's settings, though
// all is finite, an ErrDiverged that says why.
func Diverging(err error) error { return diverging{err} }

type diverging struct{ error }

func (diverging) Is(target error) bool { return target == ErrDiverged }

func (d diverging) Unwrap() error { return d.error }

// errNoDirectory is the error of a directory whose name is empty.
var errNoDirectory = errors.New("the name of the directory is empty: give one")

// SnapshotError is the error of a learner that cannot go on from its snapshot, whatever it runs on.
type SnapshotError struct{ Err error }

func (s *SnapshotError) Error() string { return s.Err.Error() }

// Unwrap returns what is wrong with the snapshot.
func (s *SnapshotError) Unwrap() error { return s.Err }

// ofDevice says whether an error is of a device that learners compute on, as
// hm/engine.DeviceError is, and not of the settings or the files of a run.
func ofDevice(err error) bool {
	var device interface {
		error
		OfDevice()
	}
	return errors.As(err, &device)
}

// eldest is the family of experiment files that name none: once there was one.
const eldest = "hm"

// entry is what a program knows of a family.
type entry struct {
	parse func([]byte) (Experiment, error)
	model func(Experiment, Snapshot) (any, error) // nil if the family has no models
	draft func() *Draft                           // nil if the family has no settings as rows
	noun  string                                  // names a model in messages; empty if none is known
}

var families = struct {
	sync.RWMutex
	all map[string]entry
}{all: map[string]entry{}}

// Register makes the experiment files of a family known, those whose key family is its name. It
// panics if the name is taken. A family registers itself when its package is imported: by NewFamily,
// by Kind.Registered, or here if it has no models outside of training.
func Register(family string, parse func(text []byte) (Experiment, error)) {
	register(family, entry{parse: parse})
}

func register(family string, e entry) {
	families.Lock()
	defer families.Unlock()
	if _, taken := families.all[family]; taken {
		panic("runs: the family " + family + " is registered twice")
	}
	families.all[family] = e
}

// registered returns the entry of a family, or an error that names the families there are.
func registered(family string) (entry, error) {
	families.RLock()
	defer families.RUnlock()
	of, ok := families.all[family]
	if !ok {
		return of, fmt.Errorf("an experiment of the family %q, which is no part of this program (it has %s): import the package of that family, or correct the key family",
			family, strings.Join(slices.Sorted(maps.Keys(families.all)), ", "))
	}
	return of, nil
}

// FamilyOf returns the name of the family of an experiment file.
func FamilyOf(text []byte) (string, error) {
	var named struct{ Family string }
	if _, err := DecodeTOML(text, &named); err != nil {
		return "", err
	}
	return cmp.Or(named.Family, eldest), nil
}

// ParseExperiment reads an experiment from TOML.
func ParseExperiment(text []byte) (Experiment, error) {
	family, err := FamilyOf(text)
	if err != nil {
		return nil, err
	}
	of, err := registered(family)
	if err != nil {
		return nil, err
	}
	return of.parse(text)
}

// ReadExperiment reads the experiment of a TOML file, whatever its checksum: a copy
// of the experiment of a run may be changed.
func ReadExperiment(path string) (Experiment, error) {
	text, err := file.Read(path, file.Small)
	if err != nil {
		return nil, err
	}
	e, err := ParseExperiment(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h := e.Header()
	h.Dataset = DataOfFile(h.Dataset, path, text)
	return e.WithHeader(h), nil
}

// CheckSettings refuses settings of a file that no experiment has: seeds as CheckSeeds
// does, and numbers that are not finite, which TOML can hold.
func CheckSettings(e Experiment) error {
	all := settings(e)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if strings.HasSuffix(all[key], "nan") || strings.HasSuffix(all[key], "inf") { // text ends in a quotation mark
			return fmt.Errorf("%s = %s: give a finite number", key, all[key])
		}
	}
	return e.Header().CheckSeeds()
}

// CheckSeeds refuses seeds that TOML cannot hold, and the negative ones that it
// can.
func (h Header) CheckSeeds() error {
	for _, seed := range []uint64{h.Seed, h.Dataset.Seed} {
		if seed > math.MaxInt64 {
			return fmt.Errorf("seed %d: give a number from 0 to 2⁶³−1", seed)
		}
	}
	return nil
}

// CheckData refuses data other than those of the experiment, where it says which
// these are.
func (h Header) CheckData(set *dataset.Set) error {
	if h.Fingerprint == "" || h.Fingerprint == set.Fingerprint() {
		return nil
	}
	data := set.Name()
	for _, file := range []string{h.Dataset.Test, h.Dataset.LabelFile, h.Dataset.TestLabelFile} {
		if file != "" {
			data += " and " + file
		}
	}
	return fmt.Errorf("the data of %s are not those of the experiment (fingerprint %.12s, not %.12s): restore the files, or start a new run in another directory",
		data, set.Fingerprint(), h.Fingerprint)
}

// Check refuses a header with which no experiment can be trained on set.
func (h Header) Check(set *dataset.Set) error {
	if err := h.CheckSeeds(); err != nil {
		return err
	}
	if err := h.CheckData(set); err != nil {
		return err
	}
	switch rows := set.Train().Rows; {
	case h.Epochs < 1:
		return fmt.Errorf("%d epochs: train for at least 1", h.Epochs)
	case h.Patience < 0:
		return fmt.Errorf("patience of %d epochs: give 0 to train for all epochs, or more", h.Patience)
	case h.Patience > 0 && set.Validation().Rows == 0:
		return fmt.Errorf("patience of %d epochs without validation rows: hold some out, with --validation or validation = N", h.Patience)
	case h.BatchSize < 1:
		return fmt.Errorf("batch size %d: give at least 1", h.BatchSize)
	case h.BatchSize > rows:
		return fmt.Errorf("batch size %d is larger than the %s of %s, each of shape %v: lower it; in an array of more rows than this, rows have to come first",
			h.BatchSize, names.Count(rows, "training row"), set.Name(), set.Shape())
	case h.Epochs > math.MaxUint32/h.StepsPerEpoch(rows):
		return fmt.Errorf("%d epochs of %d rows are more than 2³² steps: lower the number of epochs", h.Epochs, rows)
	case h.RecordSteps < 0:
		return fmt.Errorf("record_steps = %d: give the number of steps after which measures are recorded, or 0 for a line an epoch alone", h.RecordSteps)
	}
	for _, epoch := range h.Keep {
		if epoch < 1 {
			return fmt.Errorf("keep = %v: epochs are numbered from 1", h.Keep)
		}
	}
	return nil
}

// StepsPerEpoch is the number of minibatches of an epoch of rows, the last of which
// may be smaller. The batch size is at least 1, as Check has it.
func (h Header) StepsPerEpoch(rows int) int {
	steps := rows / h.BatchSize
	if rows%h.BatchSize > 0 {
		steps++
	}
	return steps
}

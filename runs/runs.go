// Package runs trains experiments of any family of models and stores the results: each run in a
// directory from which it resumes bit for bit, with the history of its measures; several seeds of
// one experiment; sweeps; and comparisons.
//
//	run, err := runs.Train(ctx, experiment, set, "runs/first")
//	seeds, err := runs.TrainSeeds(ctx, experiment, set, 5, "runs/five")
//	comparison, err := runs.Compare("runs/five", "runs/others")
//	list, passed, err := runs.List("runs")
//
// Train resumes a run that the directory already contains; Open reads it without training. A Sweep
// varies settings. Runs, seeds, comparisons and sweeps return their results as Tables, which
// Table.Write writes for people and programs.
//
// Families of models register themselves, as database drivers do. A Family declares one by descriptions of
// its settings and a few functions; FAMILY.md in the folder of this package shows how. The first of an
// experiment's measures is its objective: best epochs, patience, curves and tables depend on it. Larger
// families, such as the Helmholtz machines of package hm, implement Experiment and Learner themselves
// and declare a Kind. Package runstest checks that a family keeps the promises of this package.
//
// # A directory
//
// The folder of this package has three documents: FORMAT.md describes the files of a run, TENSORS.md the tensors in
// checkpoints, and WRITING.md the files that a crash leaves. No file is overwritten in place, and all files that are
// read back carry a checksum.
package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/safetensors"
)

// Experiment is a training run as a plain value: data, model, method, budget and seed.
type Experiment interface {
	// Header returns the settings that experiments of all families share, and WithHeader returns
	// the same experiment with another header.
	Header() Header
	WithHeader(Header) Experiment
	// Err returns an error if the experiment is invalid whatever the data. An invalid experiment
	// cannot be written.
	Err() error
	// TOML returns the experiment in the form that the parser of its family reads. The key family
	// holds the name of the family.
	TOML() []byte
	// Hash identifies the experiment: experiments with the same hash train identically.
	Hash() string
	// String returns the method and its settings in the form of a legend.
	String() string
	// Check refuses an experiment that cannot be trained on set. Its error names the setting, its
	// value and the remedy. It does not read the runs that the experiment refers to; Resolve does.
	Check(set *dataset.Set) error
	// LearningRate returns the rate at a step, counted from 0, given the number of steps per epoch.
	LearningRate(step, stepsPerEpoch int) float64
	// Measures describes all measures that training may record, the objective first.
	Measures() []Measure
	// Rows describes the settings, in the order of legends and help.
	Rows() []Hyperparameter
	// Notice warns of data on which the experiment is likely to train badly, or returns "".
	Notice(set *dataset.Set) string
	// Baseline returns the objective, on rows, of a simple model fitted to the training rows of set.
	// Limit is finite. If Rows is empty, there is no baseline.
	Baseline(set *dataset.Set, rows dataset.Split) Baseline
	// Begin returns the state before the first step.
	Begin(set *dataset.Set) (Snapshot, error)
	// Learner resumes training on set from a snapshot. It refuses a snapshot that training of the
	// experiment cannot have produced, with a SnapshotError.
	Learner(set *dataset.Set, at Snapshot) (Learner, error)
}

// resolver is an Experiment that may leave settings open, or refer to something that can change, such as
// another run's parameters.
type resolver interface {
	Experiment
	// Adopt returns the experiment with its open settings taken from there, the experiment of the
	// resumed run.
	Adopt(there Experiment) Experiment
	// Resolve returns the experiment with a checksum of what it refers to. It returns an error if
	// the reference makes training on set impossible.
	Resolve(set *dataset.Set) (Experiment, error)
}

// Header holds the settings that experiments of all families share.
type Header struct {
	Base
	BatchSize int // rows per minibatch
}

// allRows is the BatchSize of an experiment whose steps use all training rows, however many there are.
const allRows = math.MaxInt32

// Learner is an experiment in training. It is used from one goroutine. A method Device, if a Learner has it, returns the
// backend's name and a one-line description of the device, which the run records.
type Learner interface {
	// Steps takes between 1 and most training steps. It returns one Measures per step, the means over
	// its minibatch. rate returns the learning rate of the k-th of these steps, counted from 0. Steps
	// stops early with the context's error or with the error of a step that fails. If the measures of
	// the failed step are not finite, they are the last element.
	Steps(ctx context.Context, most int, rate func(k int) float64) ([]Measures, error)
	// Norms returns the norms of the layers after the last step, or nil if the family has none.
	Norms() (Norms, error)
	// Validate returns the means of the measures over rows.
	Validate(ctx context.Context, rows dataset.Split) (Measures, error)
	// Observe returns, by name, the measurements that the experiment asks for after an epoch, or
	// nil if there are none.
	Observe(ctx context.Context, epoch int) (map[string]Measures, error)
	// Snapshot returns the state after the last step. The snapshot is valid until the next step.
	Snapshot() (Snapshot, error)
	Close() error
}

// Tensor is a named array of numbers, row-major. Its fields are
//
//	Name  string
//	Shape []int     // empty for a single number
//	Data  []float32 // its length is the product of Shape; or nil
//	Wide  []float64 // the elements in double precision instead, or nil
//
// Exactly one of Data and Wide is nil. The names of a snapshot's tensors are distinct.
type Tensor = safetensors.Tensor

// Snapshot is everything that the next step of a learner needs.
type Snapshot struct {
	Step int // steps done
	// Header describes the model in JSON, in the form that its family reads.
	Header  json.RawMessage
	Tensors []Tensor
}

// Checksum returns the SHA-256, in hexadecimal, of the names, shapes and elements of the tensors, in any order.
func (s Snapshot) Checksum() string { return (&safetensors.File{Tensors: s.Tensors}).Checksum() }

// ErrDiverged is the error of training whose parameters or measures are no longer finite.
var ErrDiverged = errors.New("training has diverged: a measure or a parameter is not finite; any earlier checkpoint is kept; lower the learning rate, or raise the damping if there is one")

// Diverging returns an error with the text of err that errors.Is reports as ErrDiverged. Use it for a
// step that is impossible with the experiment's settings although all values are finite.
func Diverging(err error) error { return diverging{err} }

type diverging struct{ error }

func (diverging) Is(target error) bool { return target == ErrDiverged }

func (d diverging) Unwrap() error { return d.error }

// errNoDirectory is the error for an empty directory name.
var errNoDirectory = errors.New("the name of the directory is empty: give one")

// SnapshotError is the error of a learner that cannot resume from its snapshot, whatever the device.
type SnapshotError struct{ Err error }

func (s *SnapshotError) Error() string { return s.Err.Error() }

func (s *SnapshotError) Unwrap() error { return s.Err }

// ofDevice reports whether a computing device caused the error, as for hm/engine.DeviceError, rather
// than the settings or the files of a run.
func ofDevice(err error) bool {
	var device interface {
		error
		OfDevice()
	}
	return errors.As(err, &device)
}

// eldest is the family of experiment files that name no family, because there was only one when they
// were written.
const eldest = "hm"

var families = struct {
	sync.RWMutex
	all map[string]Kind[Experiment, any]
}{all: map[string]Kind[Experiment, any]{}}

// registered returns the kind of a family, or an error that lists the known families.
func registered(family string) (Kind[Experiment, any], error) {
	families.RLock()
	defer families.RUnlock()
	e, ok := families.all[family]
	if !ok {
		return e, fmt.Errorf("the experiment's family %q is not part of this program (it has %s): import the package of that family, or correct the key family",
			family, strings.Join(slices.Sorted(maps.Keys(families.all)), ", "))
	}
	return e, nil
}

// FamilyOf returns the name of the family of an experiment file.
func FamilyOf(text []byte) (string, error) {
	var named struct{ Family string }
	if _, err := decodeTOML(text, &named); err != nil {
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
	e, err := registered(family)
	if err != nil {
		return nil, err
	}
	return e.Parse(text)
}

// ReadExperiment reads the experiment of a TOML file, ignoring its checksum: a copy of a run's
// experiment may be edited.
func ReadExperiment(path string) (Experiment, error) {
	text, err := file.ReadNamed(path, file.Small)
	if err != nil {
		return nil, err
	}
	e, err := ParseExperiment(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	h := e.Header()
	h.Dataset = dataOfFile(h.Dataset, path, text)
	return e.WithHeader(h), nil
}

// infinite matches the values of settings, in TOML, that contain a number that is not finite.
var infinite = regexp.MustCompile(`^[^"']*\b(nan|inf)\b`)

// checkSettings refuses values that a file can express but no experiment can have: seeds that do not fit into
// TOML's integers, and numbers that are not finite.
func checkSettings(e Experiment) error {
	all := settings(e)
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if infinite.MatchString(all[key]) {
			return fmt.Errorf("%s = %s: give a finite number", key, all[key])
		}
	}
	return e.Header().checkSeeds()
}

// checkSeeds refuses seeds that do not fit into TOML's integers, including negative ones.
func (h Header) checkSeeds() error {
	for _, seed := range []uint64{h.Seed, h.Dataset.Seed} {
		if seed > math.MaxInt64 {
			return fmt.Errorf("seed %d: give a number from 0 to 2⁶³−1", seed)
		}
	}
	return nil
}

// checkData refuses data that differ from the experiment's fingerprint, if it has one.
func (h Header) checkData(set *dataset.Set) error {
	// Hash the data in any case, since an interrupt can end OpenDataset, but not Resolve.
	if h.Fingerprint == set.Fingerprint() || h.Fingerprint == "" {
		return nil
	}
	data := set.Name()
	for _, file := range []string{h.Dataset.Test, h.Dataset.LabelFile, h.Dataset.TestLabelFile, h.Dataset.WeightFile} {
		if file != "" {
			data += " and " + file
		}
	}
	return fmt.Errorf("the data of %s are not the experiment's data (fingerprint %.12s, not %.12s): restore the files, or start a new run in another directory",
		data, set.Fingerprint(), h.Fingerprint)
}

// Check returns an error if no experiment with this header can be trained on the images of set. Its rows must be complete.
func (h Header) Check(set *dataset.Set) error {
	return First(func() error { return RefuseGaps("this family", set) }, func() error { return h.CheckObserved(set) })
}

// CheckObserved is like Check, but rows may have missing values.
func (h Header) CheckObserved(set *dataset.Set) error {
	if err := checkSequences(false, set); err != nil {
		return err
	}
	return h.check(set)
}

// RefuseGaps returns an error if values of some rows are missing. noun names the models that do not learn from such rows.
// By default, the remedy is another family.
func RefuseGaps(noun string, set *dataset.Set, remedy ...string) error {
	if !set.HasGaps() {
		return nil
	}
	return fmt.Errorf("the rows of %s have missing values (gaps = true), and %s learns only from complete rows: %s, or fill the gaps in with helmholtz impute by a run that learned from them", set.Name(), noun,
		append(remedy, "train factor-analysis, ppca, boltzmann or hm, which learn from the observed values")[0])
}

func checkSequences(wanted bool, set *dataset.Set) error {
	switch sequences := set.Train().Lengths != nil; {
	case sequences && !wanted:
		return fmt.Errorf("the rows of %s are sequences, and this family models images: choose a family of package sequences, such as rnn-rbm", set.Name())
	case wanted && !sequences:
		return fmt.Errorf("the rows of %s are not sequences, which this family models: choose a set of sequences, such as voices, or write your own as JSON", set.Name())
	}
	return nil
}

func (h Header) check(set *dataset.Set) error {
	if err := h.checkSeeds(); err != nil {
		return err
	}
	if err := h.checkData(set); err != nil {
		return err
	}
	switch rows := set.Train().Rows; {
	case h.Epochs < 1:
		return fmt.Errorf("%d epochs: train for at least 1", h.Epochs)
	case h.Patience < 0:
		return fmt.Errorf("patience of %d epochs: give 0, to train for all epochs, or a positive number", h.Patience)
	case h.Patience > 0 && set.Validation().Rows == 0:
		return fmt.Errorf("patience of %d epochs without validation rows: set some aside with --validation or validation = N", h.Patience)
	case h.BatchSize < 1:
		return fmt.Errorf("batch size %d: give at least 1", h.BatchSize)
	case h.BatchSize > rows && h.BatchSize != allRows:
		return fmt.Errorf("batch size %d is larger than the %s of %s, each of shape %v: lower it; if the array has more rows than this, its first axis must be the rows",
			h.BatchSize, names.Count(rows, "training row"), set.Name(), set.Shape())
	case h.Epochs > math.MaxUint32/h.StepsPerEpoch(rows):
		return fmt.Errorf("%d epochs of %d rows are more than 2³² steps: lower the number of epochs", h.Epochs, rows)
	case h.RecordSteps < 0:
		return fmt.Errorf("record_steps = %d: give the number of steps between records, or 0 for one record per epoch", h.RecordSteps)
	}
	for _, epoch := range h.Keep {
		if epoch < 1 {
			return fmt.Errorf("keep = %v: epochs are numbered from 1", h.Keep)
		}
	}
	return nil
}

// StepsPerEpoch returns the number of minibatches in an epoch; the last may be smaller. The batch
// size is at least 1, as Check guarantees.
func (h Header) StepsPerEpoch(rows int) int {
	steps := rows / h.BatchSize
	if rows%h.BatchSize > 0 {
		steps++
	}
	return steps
}

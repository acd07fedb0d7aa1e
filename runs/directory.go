package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/internal/work"
)

// The files of a run directory, described in FORMAT.md.
const (
	experimentFile = "experiment.toml"
	checkpointFile = "checkpoint.safetensors"
	bestFile       = "best.safetensors"     // checkpoint with the best validation measure
	keptFile       = "epoch-%d.safetensors" // checkpoints of epochs to keep
	metricsFile    = "metrics.jsonl"        // one line per epoch
	stepsFile      = "steps.jsonl"          // one line every RecordSteps steps, if asked for
	sessionsFile   = "sessions.jsonl"       // where and by which program the run was trained
	clockFile      = "clock.json"           // time that training has taken
	datasetFile    = "dataset.bin"          // the data, if dataset.FromRows made them
	schemaFile     = "schema.toml"          // how other data become rows
	lockFile       = ".lock"
)

// Claim makes dir the directory of an experiment on set, for training that begins later. It stores
// the experiment and, if dataset.FromRows made them, the data. It refuses every directory that Train
// refuses.
func Claim(e Experiment, set *dataset.Set, dir string) error {
	e, err := Resolve(e, set, dir)
	if err != nil {
		return err
	}
	held, _, err := claim(dir, e, set)
	if err != nil {
		return err
	}
	held.Release()
	return nil
}

// Resolve returns the experiment as training writes it to the directory dir: with the checksums of its
// data and of other files that it refers to, and the epochs to keep sorted. It takes settings that the
// experiment leaves open from the run in dir. It refuses an experiment that cannot be trained on set.
func Resolve(e Experiment, set *dataset.Set, dir string) (Experiment, error) {
	if set == nil {
		return nil, errors.New("there is no data set: open one, for example with dataset.Open")
	}
	e = adopted(e, dir)
	if err := e.Check(set); err != nil {
		return nil, err
	}
	h := e.Header()
	h.Fingerprint, h.Keep = set.Fingerprint(), slices.Compact(slices.Sorted(slices.Values(h.Keep)))
	h.Dataset = h.Dataset.ReadLike(set.Spec())
	if there, _, err := readExperiment(dir); err == nil && there.Header().Fingerprint == h.Fingerprint {
		h.Dataset = h.Dataset.ReadLike(there.Header().Dataset)
	}
	e = e.WithHeader(h)
	if of, ok := e.(resolver); ok {
		var err error
		if e, err = of.Resolve(set); err != nil {
			return nil, err
		}
	}
	return e, checkWritten(e)
}

// adopted returns the experiment with the settings that it leaves open taken from the run in dir. If dir
// has no run, they come from the run of another seed in the same folder.
func adopted(e Experiment, dir string) Experiment {
	of, adopts := e.(resolver)
	if !adopts || dir == "" {
		return e
	}
	dirs := []string{dir}
	if _, seed := seedOf(filepath.Base(dir)); seed {
		entries, _ := os.ReadDir(filepath.Dir(dir)) // without a folder there are no other seeds
		for _, entry := range entries {
			if _, seed := seedOf(entry.Name()); seed {
				dirs = append(dirs, filepath.Join(filepath.Dir(dir), entry.Name()))
			}
		}
	}
	for _, dir := range dirs {
		if there, _, err := readExperiment(dir); err == nil {
			return of.Adopt(there)
		}
	}
	return e
}

// checkWritten refuses an experiment whose TOML does not parse back to the same experiment, because its
// runs could not be opened.
func checkWritten(e Experiment) error {
	text := e.TOML()
	family, err := FamilyOf(text)
	if err != nil {
		return fmt.Errorf("the TOML of %T is not an experiment: %w", e, err)
	}
	back, err := ParseExperiment(text)
	if err == nil && back.Hash() != e.Hash() {
		err = errors.New(cmp.Or(strings.Join(Differences(back, e), "; "), "it lacks a setting that Hash includes"))
	}
	if err != nil {
		return fmt.Errorf("the TOML of %T, with family = %q, is not the same experiment when it is read back: %w", e, family, err)
	}
	return nil
}

// claim makes dir the directory of experiment e on set, unless it belongs to another experiment or
// another program trains in it. It removes the leftovers of a killed program. same reports whether the directory has the file
// of e, with its checksum, and not the file of an experiment that keeps other checkpoints or measures something else.
func claim(dir string, e Experiment, set *dataset.Set) (held *file.Held, same bool, err error) {
	if dir == "" {
		return nil, false, errNoDirectory
	}
	if err := refuseForeign(dir); err != nil {
		return nil, false, err
	}
	if held, err = hold(dir); err != nil {
		return nil, false, err
	}
	there, sealed, err := readExperiment(dir)
	switch {
	case err == nil:
		same, err = compare(dir, there, e)
		same = same && sealed
		if err == nil && !set.MadeFromRows() && !exists(held.Path(schemaFile)) { // an earlier version wrote none
			err = storeData(held, set)
		}
	case errors.Is(err, os.ErrNotExist):
		// The experiment is written last: if it exists, so do the data.
		if err = storeData(held, set); err == nil {
			err = held.WriteAside(experimentFile, sealText(e.TOML()))
		}
		same = true
	}
	if err == nil {
		err = held.RemoveLeftovers(isRunFile)
	}
	if err != nil {
		held.Release()
		return nil, false, notWritten(dir, err)
	}
	return held, same, nil
}

// hold locks a directory for this program. If another program holds it, the error is a *TakenError.
func hold(dir string) (*file.Held, error) {
	held, err := file.HoldShared(dir, lockFile)
	if errors.Is(err, file.ErrLocked) {
		return nil, takenBy(dir, err)
	}
	if err != nil {
		return nil, notWritten(dir, err)
	}
	return held, nil
}

func isRunFile(name string) bool {
	_, isKept := keptEpoch(name)
	return isKept || slices.Contains([]string{
		experimentFile, checkpointFile, bestFile, metricsFile, stepsFile, sessionsFile, clockFile, datasetFile, schemaFile, file.LeaseFile,
	}, name)
}

func keptEpoch(name string) (epoch int, is bool) {
	_, err := fmt.Sscanf(name, keptFile, &epoch)
	return epoch, err == nil && fmt.Sprintf(keptFile, epoch) == name
}

// notWritten adds a remedy to a write error. Only a directory with a run can be resumed. If there is no
// run yet, for example because a plan could not be written, the same command has to be repeated.
func notWritten(dir string, err error) error {
	intact, goesOn := "", "repeat the same command"
	if isRun(dir) {
		intact = "earlier checkpoints are intact; "
		goesOn = fmt.Sprintf("resume with train --resume %s or the same command", shell.Argument(dir))
	}
	switch {
	case errors.Is(err, file.ErrLost):
		return fmt.Errorf("%w: nothing more is written there; train again in a directory that nobody removes", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %sfree some space, then %s", err, intact, goesOn)
	case errors.As(err, new(*file.WriteError)):
		return fmt.Errorf("%w: %sonce the file can be written, %s", err, intact, goesOn)
	}
	return err
}

// ExperimentIn reads the experiment of the run in a directory. It refuses a file that was changed
// after training wrote it.
func ExperimentIn(dir string) (Experiment, error) {
	e, sealed, err := readExperiment(dir)
	if err == nil && !sealed {
		noteUnsealed(filepath.Join(dir, experimentFile))
	}
	return e, err
}

// readExperiment is like ExperimentIn, and reports whether the file has a checksum.
func readExperiment(dir string) (e Experiment, sealed bool, err error) {
	path := filepath.Join(dir, experimentFile)
	text, err := file.Read(path, file.Small)
	if err != nil {
		return nil, false, err
	}
	if sealed, err = verifyText(text); err != nil {
		return nil, sealed, fmt.Errorf("%s: %w: restore it from a copy, or, if it was changed on purpose, remove its line that begins with %q", path, err, strings.TrimSpace(textSeal))
	}
	if e, err = ParseExperiment(text); err != nil {
		return nil, sealed, fmt.Errorf("%s: %w", path, err)
	}
	return e, sealed, nil
}

func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: choose another directory", err)
	}
	foreign := ""
	for _, entry := range entries {
		name := entry.Name()
		of, left := file.Leftover(name) // of a killed program
		switch {
		case name == experimentFile:
			return nil
		case name != lockFile && name != file.LeaseFile && name != datasetFile && name != schemaFile && !(left && isRunFile(of)):
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is neither empty nor the directory of a run (it contains %s but no %s): choose another directory", dir, foreign, experimentFile)
	}
	return nil
}

// storeData writes the data, if dataset.FromRows made them, or else the schema of the data that the experiment names. It
// removes the schema that a killed program left beside other data.
func storeData(held *file.Held, set *dataset.Set) error {
	if !set.MadeFromRows() {
		of := set.Schema()
		of.Fingerprint = set.Fingerprint()
		return held.WriteAside(schemaFile, sealText(of.TOML()))
	}
	if err := os.Remove(held.Path(schemaFile)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return held.FillAside(datasetFile, set.Save)
}

// OpenDataset opens the data of an experiment for a run in the directory dir: the data stored in dir, if
// dataset.FromRows made them, or else the data that the experiment names. It refuses data that differ
// from the experiment's fingerprint.
func OpenDataset(e Experiment, dir string) (*dataset.Set, error) {
	h := e.Header()
	stored := filepath.Join(dir, datasetFile)
	return work.Interruptible(func() (*dataset.Set, error) {
		set, err := storedDataset(h.Dataset, stored)
		if set == nil && err == nil {
			if own := filepath.Join(dir, schemaFile); h.Dataset.Schema != "" && exists(own) {
				h.Dataset.Schema = own // which other programs do not change
			}
			if set, err = h.Dataset.Open(); errors.Is(err, os.ErrNotExist) && isRun(dir) {
				err = missingData(h.Dataset, dir, err)
			}
		}
		if err != nil {
			return nil, err
		}
		return set, h.checkData(set)
	})
}

// missingData adds a remedy to the error for missing data of the run in dir. The error for a named set has one already.
func missingData(of dataset.Spec, dir string, err error) error {
	remedy := "put it back there, or give its new path (--dataset)"
	if slices.ContainsFunc(of.Paths(), func(path *string) bool { return *path != "" && !filepath.IsAbs(*path) }) {
		remedy = fmt.Sprintf("the paths in %s are relative to the folder in which training was started: run the command in that folder, or put the data there", filepath.Join(dir, experimentFile))
	}
	switch {
	case of.Paths() == nil:
		return err
	case !of.IsFile():
		remedy += fmt.Sprintf("; if a program made the data from rows, restore %s from a copy", filepath.Join(dir, datasetFile))
	}
	return fmt.Errorf("%w; %s", err, remedy)
}

func isRun(dir string) bool { return exists(filepath.Join(dir, experimentFile)) }

// storedDataset loads a data set from a file. It returns nil if there is no file or if the data set in it
// does not match spec.
func storedDataset(spec dataset.Spec, path string) (*dataset.Set, error) {
	f, size, err := file.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	set, err := dataset.LoadFile(f, size)
	if err != nil {
		return nil, damaged(path, err)
	}
	if !reflect.DeepEqual(set.Spec(), spec.OpenedBefore()) {
		return nil, nil
	}
	return set, nil
}

// compare returns an error that names the differences if there, the experiment of a directory, would
// train differently from e. Otherwise it reports whether the two also agree in what they keep and
// measure.
func compare(dir string, there, e Experiment) (same bool, err error) {
	was, is := there.Header().Fingerprint, e.Header().Fingerprint
	differences := Differences(e, there)
	if there.Hash() == e.Hash() && was == is {
		return len(differences) == 0, nil
	}
	data := there.Header()
	if data.Fingerprint = is; there.WithHeader(data).Hash() == e.Hash() {
		return false, &dataError{fmt.Errorf("%s belongs to another experiment (the data have fingerprint %.12s there, %.12s here): restore the data, or choose another directory", dir, was, is)}
	}
	if len(differences) == 0 {
		return true, nil
	}
	remedy := "choose another directory, or remove it"
	const perEpoch = 10 // any number above 1 tells schedules apart
	if epochs := e.Header().Epochs; there.Header().Epochs < epochs && withEpochs(there, epochs).Hash() == e.Hash() && sameRates(there, e, perEpoch*there.Header().Epochs, perEpoch) {
		remedy = fmt.Sprintf("once it is finished, extend it with train --resume %s --epochs %d; or choose another directory", shell.Argument(dir), epochs)
	}
	if there.Header().Dataset.Rules != e.Header().Dataset.Rules {
		remedy = fmt.Sprintf("its file was read by other rules: resume it with train --resume %s, or choose another directory", shell.Argument(dir))
	}
	return false, fmt.Errorf("%s belongs to another experiment (%s): %s", dir, strings.Join(differences, "; "), remedy)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TakenError is the error for a directory in which another program trains.
type TakenError struct {
	Dir  string
	Host string // the last host that trained there, empty if unknown
	// Left is how long to wait for a sign of life from a program on another machine before that
	// program counts as ended. It is 0 if the program is known to be training.
	Left time.Duration
}

func (e *TakenError) Error() string {
	on := ""
	if e.Host != "" {
		on = " on " + e.Host
	}
	if e.Left > 0 {
		return fmt.Sprintf("another program trains in %s%s, or its machine stopped during training: choose another directory, or wait; training takes over after %s without a sign of life", e.Dir, on, e.Left.Round(time.Second))
	}
	return fmt.Sprintf("another program trains in %s%s: wait for it, stop it, or choose another directory", e.Dir, on)
}

// Taken returns a *TakenError if a program, possibly the current one, trains in a directory, and nil
// otherwise.
func Taken(dir string) error {
	if file.Locked(dir, lockFile) {
		return takenBy(dir, file.ErrLocked)
	}
	if leased := file.Leased(dir); leased != nil {
		return takenBy(dir, leased)
	}
	return nil
}

// Await returns nil once no program trains in a directory, and a *TakenError if a program is known to
// train there. If a machine stopped or restarted, a program may have left its lease behind: Await waits
// until the lease is renewed or expires, at most about a minute, and returns the context's error if ctx
// ends first. Before waiting, it calls the method Wait of every recorder that has one.
func Await(ctx context.Context, dir string, recorders ...Recorder) error {
	for said := false; ; said = true {
		err := Taken(dir)
		taken, is := errors.AsType[*TakenError](err)
		if !is || taken.Left == 0 {
			return err
		}
		for _, r := range recorders {
			if r, waits := r.(waiter); waits && !said {
				r.Wait(taken)
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
	}
}

// takenBy returns the error for a directory that could not be locked, with the host of the program that
// trains there.
func takenBy(dir string, err error) *TakenError {
	e := &TakenError{Dir: dir}
	if leased, is := errors.AsType[*file.LeasedError](err); is {
		e.Host = leased.Host
		if !leased.Alive {
			e.Left = leased.Left
		}
		return e
	}
	if run, err := look(dir, peekCheckpoint); err == nil {
		e.Host = run.session.Host
	}
	return e
}

// Sets opens data sets and caches the last one, because consecutive or parallel runs often share it. It is safe
// for concurrent use.
type Sets struct {
	mutex sync.Mutex
	spec  dataset.Spec
	set   *dataset.Set
}

// Open opens the data of an experiment for a run in the directory dir.
func (s *Sets) Open(e Experiment, dir string) (*dataset.Set, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	h := e.Header()
	if s.set == nil || !reflect.DeepEqual(s.spec, h.Dataset) {
		set, err := OpenDataset(e, dir)
		if err != nil {
			return nil, err
		}
		s.spec, s.set = h.Dataset, set
	}
	return s.set, h.checkData(s.set)
}

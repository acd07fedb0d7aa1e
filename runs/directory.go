package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
)

// The files of a run directory; FORMAT.md describes them.
const (
	experimentFile = "experiment.toml"
	checkpointFile = "checkpoint.safetensors"
	bestFile       = "best.safetensors"     // of the best validation measure
	keptFile       = "epoch-%d.safetensors" // of epochs to keep
	metricsFile    = "metrics.jsonl"        // a line an epoch
	stepsFile      = "steps.jsonl"          // a line every so many steps, where asked for
	sessionsFile   = "sessions.jsonl"       // where and by what it was trained
	clockFile      = "clock.json"           // time that training has taken
	datasetFile    = "dataset.bin"          // the data, where FromRows made them
	lockFile       = ".lock"
)

// Claim makes dir the directory of an experiment on set, for training that begins
// later: the experiment and, where FromRows made them, the data lie there from
// then on. It refuses a directory that Train refuses.
func Claim(e Experiment, set *dataset.Set, dir string) error {
	e, err := Resolve(e, set)
	if err != nil {
		return err
	}
	held, err := claim(dir, e, set)
	if err != nil {
		return err
	}
	held.Release()
	return nil
}

// Resolve returns the experiment with checksums of its data and of what else it
// refers to, as training writes it. It refuses one that cannot be trained on set.
func Resolve(e Experiment, set *dataset.Set) (Experiment, error) {
	if err := e.Check(set); err != nil {
		return nil, err
	}
	h := e.Header()
	h.Fingerprint = set.Fingerprint()
	e = e.WithHeader(h)
	if of, ok := e.(Resolver); ok {
		var err error
		if e, err = of.Resolve(set); err != nil {
			return nil, err
		}
	}
	return e, checkWritten(e)
}

// checkWritten refuses an experiment that is not read back as it is written: no run of it could
// be opened.
func checkWritten(e Experiment) error {
	text := e.TOML()
	family, err := FamilyOf(text)
	if err != nil {
		return fmt.Errorf("TOML of %T writes what is none: %w", e, err)
	}
	back, err := ParseExperiment(text)
	if err == nil && back.Hash() != e.Hash() {
		err = errors.New(cmp.Or(strings.Join(Differences(back, e), "; "), "it lacks a setting that Hash tells apart"))
	}
	if err != nil {
		return fmt.Errorf("what TOML of %T writes, with %q as the key family, is not the same experiment when it is read: %w", e, family, err)
	}
	return nil
}

// claim makes dir the directory of experiment e on set, unless it is that of
// another or another program trains in it. It removes what a killed program left.
func claim(dir string, e Experiment, set *dataset.Set) (*file.Held, error) {
	if dir == "" {
		return nil, errNoDirectory
	}
	if err := refuseForeign(dir); err != nil {
		return nil, err
	}
	held, err := hold(dir)
	if err != nil {
		return nil, err
	}
	there, _, err := readExperiment(dir)
	switch {
	case err == nil:
		_, err = compare(dir, there, e)
	case errors.Is(err, os.ErrNotExist):
		// The experiment comes last: where it is, the data are.
		if err = storeDataset(held, set); err == nil {
			err = held.WriteAside(experimentFile, sealText(e.TOML()))
		}
	}
	if err == nil {
		err = held.RemoveLeftovers(isRunFile)
	}
	if err != nil {
		held.Release()
		return nil, notWritten(dir, err)
	}
	return held, nil
}

// hold takes a directory for what this program trains or does, and says whose it is where it is taken.
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

// isRunFile says whether a file of this name is one of a run.
func isRunFile(name string) bool {
	_, isKept := keptEpoch(name)
	return isKept || slices.Contains([]string{
		experimentFile, checkpointFile, bestFile, metricsFile, stepsFile, sessionsFile, clockFile, datasetFile, file.LeaseFile,
	}, name)
}

// keptEpoch is the epoch of which a file of this name is the checkpoint, if it is one
// that is kept.
func keptEpoch(name string) (epoch int, is bool) {
	_, err := fmt.Sscanf(name, keptFile, &epoch)
	return epoch, err == nil && fmt.Sprintf(keptFile, epoch) == name
}

// notWritten says of the error of a file that could not be written how to go on. Only the
// directory of a run can be resumed: where there is none yet, as where a plan could not be
// written, the same command is what goes on.
func notWritten(dir string, err error) error {
	var failed *file.WriteError
	goesOn := "the same command again goes on"
	if isRun(dir) {
		goesOn = fmt.Sprintf("train --resume %s, or the same command again, goes on from there", shell.Argument(dir))
	}
	switch {
	case errors.Is(err, file.ErrLost):
		return fmt.Errorf("%w: nothing more is written there; train again, into a directory that stays", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: what was saved before is whole; make room, then %s", err, goesOn)
	case errors.As(err, &failed):
		return fmt.Errorf("%w: what was saved before is whole; once that can be written, %s", err, goesOn)
	}
	return err
}

// ExperimentIn reads the experiment of the run in a directory. It refuses a file that
// was changed since training wrote it.
func ExperimentIn(dir string) (Experiment, error) {
	e, sealed, err := readExperiment(dir)
	if err == nil && !sealed {
		noteUnsealed(filepath.Join(dir, experimentFile))
	}
	return e, err
}

// readExperiment is ExperimentIn, and says whether there is a checksum.
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

// adopt makes what the experiment keeps and measures on the way that of its directory,
// and gives it a checksum where it has none.
func adopt(held *file.Held, e Experiment) error {
	dir := held.Path("")
	there, sealed, err := readExperiment(dir)
	if err != nil {
		return err
	}
	same, err := compare(dir, there, e)
	if err != nil || same && sealed {
		return err
	}
	return held.WriteAside(experimentFile, sealText(e.TOML()))
}

// refuseForeign refuses a directory that holds something but no run.
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
		switch name := entry.Name(); {
		case name == experimentFile:
			return nil
		case name != lockFile && name != file.LeaseFile && name != datasetFile && !isLeftover(name):
			foreign = name
		}
	}
	if foreign != "" {
		return fmt.Errorf("%s is neither empty nor the directory of a run (it holds %s but no %s): choose another directory", dir, foreign, experimentFile)
	}
	return nil
}

// isLeftover says whether a killed program left a file of this name.
func isLeftover(name string) bool {
	of, is := file.Leftover(name)
	return is && isRunFile(of)
}

// storeDataset stores data that only the program that made them has.
func storeDataset(held *file.Held, set *dataset.Set) error {
	if !set.MadeFromRows() {
		return nil
	}
	var b bytes.Buffer
	if err := set.Save(&b); err != nil {
		return err
	}
	return held.WriteAside(datasetFile, b.Bytes())
}

// OpenDataset opens the data of an experiment, for a run in the directory dir:
// those that are stored there, where FromRows made them, else those that the
// experiment names. It refuses data other than those that the experiment was
// made for.
func OpenDataset(e Experiment, dir string) (*dataset.Set, error) {
	h := e.Header()
	stored := filepath.Join(dir, datasetFile)
	set, err := storedDataset(h.Dataset, stored)
	if set == nil && err == nil {
		if set, err = h.Dataset.Open(); errors.Is(err, os.ErrNotExist) && isRun(dir) {
			err = fmt.Errorf("%w; if the path is relative to another folder, run the command there; if a program made the data of rows, restore %s from a copy", err, stored)
		}
	}
	if err != nil {
		return nil, err
	}
	return set, h.CheckData(set)
}

// isRun says whether a directory holds an experiment.
func isRun(dir string) bool { return exists(filepath.Join(dir, experimentFile)) }

// storedDataset loads the data of a description from a file. It returns nil
// where there is none, or that of other data.
func storedDataset(spec dataset.Spec, path string) (*dataset.Set, error) {
	f, _, err := file.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	set, err := dataset.Load(f)
	if err != nil {
		return nil, damaged(path, err)
	}
	if !reflect.DeepEqual(set.Spec(), spec) {
		return nil, nil
	}
	return set, nil
}

// compare refuses the experiment of a directory that trains otherwise than e, and
// names what differs. Of one that trains alike it says whether it is the same in
// what is kept and measured on the way, too.
func compare(dir string, there, e Experiment) (same bool, err error) {
	was, is := there.Header().Fingerprint, e.Header().Fingerprint
	differences := Differences(e, there)
	if there.Hash() == e.Hash() && was == is {
		return len(differences) == 0, nil
	}
	data := there.Header()
	if data.Fingerprint = is; there.WithHeader(data).Hash() == e.Hash() {
		differences = []string{fmt.Sprintf("the data have fingerprint %.12s there, %.12s here", was, is)}
	}
	if len(differences) == 0 {
		return true, nil
	}
	remedy := "choose another directory, or remove it"
	if epochs := e.Header().Epochs; there.Header().Epochs < epochs && withEpochs(there, epochs).Hash() == e.Hash() {
		remedy = fmt.Sprintf("once it is finished, train --resume %s --epochs %d lets it go on; or choose another directory", shell.Argument(dir), epochs)
	}
	return false, fmt.Errorf("%s is the directory of another experiment (%s): %s", dir, strings.Join(differences, "; "), remedy)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// TakenError is the error of a directory in which another program trains.
type TakenError struct {
	Dir  string
	Host string // that trained there last, empty if it is not known
	// Left is the time in which a program on another machine gives a sign of life, or
	// is taken for ended; 0 where it is known to train.
	Left time.Duration
}

func (e *TakenError) Error() string {
	on := ""
	if e.Host != "" {
		on = " on " + e.Host
	}
	if e.Left > 0 {
		return fmt.Sprintf("another program trains in %s%s, or that machine stopped while it did: choose another directory, or let training wait, which takes over after %s without a sign of life", e.Dir, on, e.Left.Round(time.Second))
	}
	return fmt.Sprintf("another program trains in %s%s: wait for it, stop it, or choose another directory", e.Dir, on)
}

// Taken returns a *TakenError if a program, which may be this one, trains in a directory,
// and nil where none does.
func Taken(dir string) error {
	if file.Locked(dir, lockFile) {
		return takenBy(dir, file.ErrLocked)
	}
	if leased := file.Leased(dir); leased != nil {
		return takenBy(dir, leased)
	}
	return nil
}

// Await returns nil once no program trains in a directory, and a *TakenError if one is known to.
// A machine that stopped, or was restarted, may have left a program's lease: Await waits until
// the lease is renewed or runs out, about a minute at most. It tells recorders that are Waiters
// before.
func Await(ctx context.Context, dir string, recorders ...Recorder) error {
	for said := false; ; said = true {
		var taken *TakenError
		if err := Taken(dir); !errors.As(err, &taken) || taken.Left == 0 {
			return err
		}
		for _, r := range recorders {
			if r, waits := r.(Waiter); waits && !said {
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

// takenBy says who trains in a directory that could not be held.
func takenBy(dir string, err error) *TakenError {
	e := &TakenError{Dir: dir}
	var leased *file.LeasedError
	if errors.As(err, &leased) {
		e.Host = leased.Host
		if !leased.Alive {
			e.Left = leased.Left
		}
		return e
	}
	there, _, err := readExperiment(dir)
	if err != nil {
		return e
	}
	at, _ := readPosition(filepath.Join(dir, checkpointFile)) // there may be none yet
	run := Run{dir: dir, bound: bindingOf(there, at), position: at}
	if sessions, err := run.Provenance(); err == nil && len(sessions) > 0 {
		e.Host = sessions[len(sessions)-1].Host
	}
	return e
}

// Sets opens data sets, and keeps the last one: trainings that follow each other often
// share it.
type Sets struct {
	spec dataset.Spec
	set  *dataset.Set
}

// Open opens the data of an experiment, for a run in the directory dir.
func (s *Sets) Open(e Experiment, dir string) (*dataset.Set, error) {
	h := e.Header()
	if s.set == nil || !reflect.DeepEqual(s.spec, h.Dataset) {
		set, err := OpenDataset(e, dir)
		if err != nil {
			return nil, err
		}
		s.spec, s.set = h.Dataset, set
	}
	return s.set, h.CheckData(s.set)
}

package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/helmholtz-go/helmholtz/internal/file"
)

// sweepPlan is the file with the sweep in its directory.
const sweepPlan = "sweep.toml"

// Job is a run of a sweep.
type Job struct {
	Setting    string // name of the setting
	Seed       uint64
	Experiment Experiment // experiment with the seed
	Dir        string     // directory of the run
}

func (j Job) String() string { return fmt.Sprintf("%s, seed %d", j.Setting, j.Seed) }

// Jobs returns the runs of a sweep in a directory: the first seed of all settings, then the second, and
// so on, so that an interrupted sweep has results for every setting.
func (s *Sweep) Jobs(dir string) ([]Job, error) {
	settings, err := s.Settings()
	if err != nil {
		return nil, err
	}
	var jobs []Job
	for i := range s.Seeds {
		for _, setting := range settings {
			seed := setting.Experiment.Header().Seed + uint64(i)
			jobs = append(jobs, Job{setting.Name, seed, withSeed(setting.Experiment, seed), SeedDir(filepath.Join(dir, setting.Name), seed)})
		}
	}
	return jobs, nil
}

// Check opens the data of the sweep. It refuses a setting that cannot be trained on its data, and
// settings with different objectives, because their results cannot be ranked.
func (s *Sweep) Check() error { return s.check(&Sets{}) }

func (s *Sweep) check(sets *Sets) error {
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	for _, setting := range settings {
		set, err := sets.Open(setting.Experiment, "")
		if err != nil {
			return err
		}
		if err := setting.Experiment.Check(set); err != nil {
			return fmt.Errorf("%s: %w", setting.Name, err)
		}
		first, other := settings[0].Experiment.Measures()[0], setting.Experiment.Measures()[0]
		if other.Key != first.Key {
			return fmt.Errorf("%s is judged by its %s, %s by its %s, and these cannot be compared: make a separate sweep for each", settings[0].Name, first.Name, setting.Name, other.Name)
		}
	}
	return nil
}

// Distinct refuses settings that train identically because the values that differ have no effect.
func (s *Sweep) Distinct() error {
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	keys, alike := s.keys(), map[string]Setting{} // by the values that have an effect
	for _, setting := range settings {
		idle, acts := idle(setting.Experiment), slices.Clone(setting.Values)
		for i, key := range keys {
			if _, is := idle[key]; is {
				acts[i] = ""
			}
		}
		by := fmt.Sprintf("%q", acts)
		if other, taken := alike[by]; taken {
			vain := 0 // index of the first difference: Settings has no duplicates
			for other.Values[vain] == setting.Values[vain] {
				vain++
			}
			return fmt.Errorf("%s and %s train identically, because %s has no effect without %s: omit the values of %[3]s, or combine them with what they need in a table [[together]]", other.Name, setting.Name, keys[vain], idle[keys[vain]])
		}
		alike[by] = setting
	}
	return nil
}

// OpenSweep reads the sweep that is stored in a directory.
func OpenSweep(dir string) (*Sweep, error) {
	path := filepath.Join(dir, sweepPlan)
	text, err := file.Read(path, file.Small)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a sweep: it has no %s (sweep run --out names it)", dir, sweepPlan)
	}
	if err != nil {
		return nil, err
	}
	if _, err = verifyText(text); err != nil {
		return nil, fmt.Errorf("%s: %w: restore it from a copy, or start the sweep in another directory", path, err)
	}
	s, err := parseSweep(text, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Claim makes dir the directory of the sweep. If dir already contains a sweep, s replaces it and may add
// settings and seeds; Claim refuses to drop a run of the earlier sweep.
func (s *Sweep) Claim(dir string) error {
	jobs, err := s.Jobs(dir)
	if err != nil {
		return err
	}
	text, err := s.TOML()
	if err != nil {
		return err
	}
	text = sealText(text)
	opened := false
	return planIn(dir, "a sweep", sweepPlan, func() (bool, error) {
		claimed, err := hasPlan(dir, "a sweep", sweepPlan, text, func() error { return includes(dir, jobs) }, func(name string) bool {
			return slices.ContainsFunc(jobs, func(j Job) bool { return j.Setting == name }) && !begun(filepath.Join(dir, name))
		})
		if !claimed {
			err = errors.Join(s.Distinct(), err)
		}
		if claimed || err != nil || opened {
			return claimed, err
		}
		opened = true
		var sets Sets
		for _, j := range jobs { // before the directory is claimed
			if _, err := sets.Open(j.Experiment, j.Dir); err != nil {
				return false, err
			}
		}
		return false, nil
	}, func(held *file.Held) error {
		seeds := map[string][]uint64{} // by the directory of a setting
		for _, j := range jobs {
			of := filepath.Dir(j.Dir)
			seeds[of] = append(seeds[of], j.Seed)
		}
		for of, planned := range seeds {
			if _, err := writePlan(of, planned); err != nil {
				return err
			}
		}
		return notWritten(dir, held.WriteAside(sweepPlan, text)) // last: if the sweep exists, so do the plans of seeds
	})
}

// begun reports whether the directory of a setting contains more than the plan of its seeds.
func begun(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name, left := file.Leftover(e.Name())
		return e.Name() != planFile && e.Name() != lockFile && !(left && name == planFile)
	})
}

// includes returns an error if the sweep that dir already contains has a run that jobs lack or change.
func includes(dir string, jobs []Job) error {
	before, err := OpenSweep(dir)
	if err != nil {
		return err
	}
	planned, err := before.Jobs(dir)
	if err != nil {
		return err
	}
	hashes := map[string]string{}
	for _, j := range jobs {
		hashes[j.Dir] = j.Experiment.Hash()
	}
	for _, j := range planned {
		if hashes[j.Dir] != j.Experiment.Hash() {
			return fmt.Errorf("%s belongs to another sweep, with the run %v, which this sweep lacks or changes: choose another directory, or add to that sweep", dir, j)
		}
	}
	return nil
}

// A State is the state of a run.
type State string

const (
	Waiting     State = "waiting"     // the run has no checkpoint yet
	Running     State = "running"     // a program trains the run
	Interrupted State = "interrupted" // the run is unfinished and no program trains it, or it cannot be read
	Finished    State = "finished"
	Imported    State = "imported" // the run has parameters of another program, and no training
	Failed      State = "failed"   // the run failed; Sweep.Train skips it until Sweep.Retry
)

// States lists the states of a sweep's runs, in display order.
var States = [...]State{Finished, Running, Interrupted, Waiting, Failed}

// State returns the state of the job, its run if there is a checkpoint, and an error if the job failed or
// its files cannot be read. It does not read the tensors of the checkpoint: Open the run for its snapshot.
func (j Job) State() (State, *Run, error) { return j.stateWith(peekCheckpoint) }

// stateWith is like State for a run with the checkpoint that read returns for its path.
func (j Job) stateWith(read func(path string) (*checkpoint, error)) (State, *Run, error) {
	taken := Taken(j.Dir) != nil
	text, notFailed := file.Read(j.failure(), file.Small)
	run, err := look(j.Dir, read)
	if err != nil || !run.begun() {
		run = nil
	}
	switch {
	case taken:
		return Running, run, nil // it may have no checkpoint yet
	case notFailed != nil && !errors.Is(notFailed, os.ErrNotExist):
		return Failed, nil, notFailed
	case run != nil && run.Finished(): // another program finished it after it failed
		return Finished, run, nil
	case notFailed == nil:
		return Failed, run, errors.New(string(text))
	case !exists(filepath.Join(j.Dir, checkpointFile)):
		return Waiting, nil, nil
	}
	return Interrupted, run, err
}

// failure returns the path of the file that records the error of a failed job. It is next to the run's
// directory.
func (j Job) failure() string { return j.Dir + ".failed" }

// Train trains the jobs of a share until none is left. It first claims the directory as Claim does. It skips
// jobs that are finished, have failed or are being trained by another program. recorders, which may be
// nil, returns the recorders of a job. If a job fails, Train records the error next to the job's directory
// and skips the job until Retry. Train waits for jobs that programs on other machines may have abandoned.
// It returns the number of jobs that other programs are still training, and an error if a job failed, or if a run was
// extended beyond the epochs of its job.
func (s *Sweep) Train(ctx context.Context, dir string, share Shard, recorders func(Job) []Recorder) (elsewhere int, err error) {
	if err := share.Check(); err != nil {
		return 0, err
	}
	jobs, err := s.Jobs(dir)
	if err != nil {
		return 0, err
	}
	if err := s.Claim(dir); err != nil {
		return 0, err
	}
	elsewhere, failures, err := trainJobs(ctx, jobs, share, false, &Sets{}, recorders)
	if err != nil {
		return 0, err
	}
	for i, j := range jobs {
		if _, run, _ := j.State(); share.Has(i) && run != nil {
			failures = append(failures, j.checkEpochs(run))
		}
	}
	return elsewhere, errors.Join(failures...)
}

// trainJobs trains the jobs of a share as takeTurns does, and returns the failures that their settings cause.
func trainJobs(ctx context.Context, jobs []Job, share Shard, await bool, sets *Sets, recorders func(Job) []Recorder) (elsewhere int, failures []error, err error) {
	elsewhere, err = takeTurns(ctx, len(jobs), await, func(i int) (bool, error) {
		if !share.Has(i) {
			return false, nil
		}
		done, failure, err := jobs[i].attempt(ctx, sets, recorders)
		failures = append(failures, failure)
		return done, err
	})
	return elsewhere, failures, err
}

// attempt trains the job, unless it needs no training or another program trains it. It extends a finished run of fewer
// epochs, which is from a lower rung of a tuning. If the settings cause a failure, attempt records it next to the job's
// directory and returns it as failure. Any other error is returned as err.
func (j Job) attempt(ctx context.Context, sets *Sets, recorders func(Job) []Recorder) (done bool, failure, err error) {
	state, run, _ := j.State()
	if j.settled(state, run) {
		j.release()
		return false, nil, nil
	}
	if state == Finished {
		if _, err := Extend(j.Dir, j.Experiment.Header().Epochs); err != nil {
			return false, nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return false, nil, err
	}
	if err := Taken(j.Dir); err != nil {
		return false, nil, err
	}
	set, err := sets.Open(j.Experiment, j.Dir)
	if err != nil {
		return false, nil, &dataError{err}
	}
	var told []Recorder
	if recorders != nil {
		told = recorders(j)
	}
	defer func() {
		for _, r := range told {
			if r, ok := r.(interface{ JobEnded() }); ok {
				r.JobEnded()
			}
		}
	}()
	_, err = Train(ctx, j.Experiment, set, j.Dir, told...)
	switch {
	case err == nil:
		return true, nil, nil
	case errors.As(err, new(*TakenError)), errors.Is(err, file.ErrLost), ctx.Err() != nil && errors.Is(err, ctx.Err()):
		return false, nil, err
	case errors.As(err, new(*file.WriteError)), errors.As(err, new(*dataError)), errors.Is(err, file.ErrNoLocks), ofDevice(err):
		return false, nil, err // the settings are not the cause
	}
	failure = fmt.Errorf("%v: %w", j, err)
	if err := file.MkdirAll(filepath.Dir(j.Dir)); err != nil {
		return true, failure, err
	}
	return true, failure, file.WriteAside(j.failure(), []byte(failure.Error()))
}

// settled reports whether a job needs no more training, because it has done its epochs, patience has ended it, or it failed.
func (j Job) settled(state State, run *Run) bool {
	epochs := j.Experiment.Header().Epochs
	return state == Failed || run != nil && (run.Epochs() >= epochs || state == Finished && run.experiment.Header().Epochs >= epochs)
}

// release removes the lease and the temporary files of a program that was killed just after its run ended.
func (j Job) release() {
	if _, err := os.Stat(filepath.Join(j.Dir, file.LeaseFile)); err != nil {
		return
	}
	if held, err := file.HoldShared(j.Dir, lockFile); err == nil { // otherwise another program holds it
		_ = held.RemoveLeftovers(isRunFile) // the run is whole without this
		held.Release()
	}
}

type dataError struct{ error }

func (e *dataError) Unwrap() error { return e.error }

// Retry removes the records of failures of a share's jobs, so that Train tries these jobs again.
func (s *Sweep) Retry(dir string, share Shard) error {
	jobs, err := s.Jobs(dir)
	if err != nil {
		return err
	}
	return retry(jobs, share)
}

func retry(jobs []Job, share Shard) (err error) {
	for i, j := range jobs {
		if !share.Has(i) {
			continue
		}
		if failure := os.Remove(j.failure()); !errors.Is(failure, os.ErrNotExist) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

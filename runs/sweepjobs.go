package runs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
)

// sweepPlan is, in the directory of a sweep, the sweep.
const sweepPlan = "sweep.toml"

// Job is a run of a sweep.
type Job struct {
	Setting    string // its name
	Seed       uint64
	Experiment Experiment // with the seed
	Dir        string     // of the run
}

// String names the setting and the seed.
func (j Job) String() string { return fmt.Sprintf("%s, seed %d", j.Setting, j.Seed) }

// Jobs are the runs of a sweep in a directory, one seed of all settings before the
// next, so that a sweep that is interrupted has something of each.
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

// Check opens the data of the sweep and refuses a setting that cannot be trained on
// them, and settings that improve different measures, of which none is the best.
func (s *Sweep) Check() error {
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	var sets Sets
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
			return fmt.Errorf("%s is judged by its %s, %s by its %s, and neither is the better one: sweep over each by itself", settings[0].Name, first.Name, setting.Name, other.Name)
		}
	}
	return nil
}

// Distinct refuses settings that train alike, since what varies between them does nothing.
func (s *Sweep) Distinct() error {
	settings, err := s.Settings()
	if err != nil {
		return err
	}
	keys, alike := s.keys(), map[string]Setting{} // by what acts in them
	for _, setting := range settings {
		of, knows := setting.Experiment.(Idler)
		if !knows {
			continue
		}
		idle, acts := of.Idle(), slices.Clone(setting.Values)
		for i, key := range keys {
			if _, is := idle[key]; is {
				acts[i] = ""
			}
		}
		by := fmt.Sprintf("%q", acts)
		if other, taken := alike[by]; taken {
			vain := 0 // the first that differs: Settings has no two that are the same
			for other.Values[vain] == setting.Values[vain] {
				vain++
			}
			return fmt.Errorf("%s and %s train alike, since %s does nothing without %s: leave its values away, or put them beside what they need in a table [[together]]", other.Name, setting.Name, keys[vain], idle[keys[vain]])
		}
		alike[by] = setting
	}
	return nil
}

// OpenSweep reads the sweep of a directory.
func OpenSweep(dir string) (*Sweep, error) {
	path := filepath.Join(dir, sweepPlan)
	text, err := file.Read(path, file.Small)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s is not the directory of a sweep: it holds no %s", dir, sweepPlan)
	}
	if err != nil {
		return nil, err
	}
	if _, err = verifyText(text); err != nil {
		return nil, fmt.Errorf("%s: %w: restore it from a copy, or remove it and plan the sweep again, which keeps what is trained", path, err)
	}
	s, err := parseSweep(text, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return s, nil
}

// Claim makes dir the directory of the sweep. One that holds a sweep already is given
// the settings and seeds that are new, and refused where this sweep lacks any of its
// own.
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
	if claimed, err := s.claimed(dir, jobs, text); claimed || err != nil {
		return err
	}
	var sets Sets
	for _, j := range jobs { // before the directory is claimed
		if _, err := sets.Open(j.Experiment, j.Dir); err != nil {
			return err
		}
	}
	held, err := holdSoon(dir)
	if errors.Is(err, file.ErrLocked) {
		return fmt.Errorf("another program begins a sweep in %s: wait for it, or choose another directory", dir)
	}
	if err != nil {
		return notWritten(dir, err)
	}
	defer held.Release()
	if claimed, err := s.claimed(dir, jobs, text); claimed || err != nil { // once more: another program may have
		return err
	}
	seeds := map[string]map[uint64]bool{} // of the directories of settings
	for _, j := range jobs {
		of := filepath.Dir(j.Dir)
		if seeds[of] == nil {
			seeds[of] = map[uint64]bool{}
		}
		seeds[of][j.Seed] = false
	}
	for of, planned := range seeds {
		if err := writePlan(of, planned); err != nil {
			return err
		}
	}
	// The sweep comes last: where it is, its settings know of their seeds.
	return notWritten(dir, errors.Join(held.WriteAside(sweepPlan, text), held.RemoveLeftovers(func(name string) bool { return name == sweepPlan })))
}

// claimed says whether a directory is that of the sweep with this text and these jobs
// already, and refuses one that cannot become it.
func (s *Sweep) claimed(dir string, jobs []Job, text []byte) (bool, error) {
	there, err := file.Read(filepath.Join(dir, sweepPlan), file.Small)
	switch {
	case err == nil && string(there) == string(text):
		return true, nil
	case err == nil:
		return false, s.includes(dir, jobs)
	case !errors.Is(err, os.ErrNotExist):
		return false, err
	}
	err = errors.Join(s.Distinct(), refuseFilled(dir, jobs))
	if err != nil && exists(filepath.Join(dir, sweepPlan)) { // since a moment ago
		return s.claimed(dir, jobs, text)
	}
	return false, err
}

// refuseFilled refuses a directory that holds anything but what a program that was
// killed while it claimed it for these jobs has left.
func refuseFilled(dir string, jobs []Job) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		setting := slices.ContainsFunc(jobs, func(j Job) bool { return j.Setting == entry.Name() })
		if name, left := file.Leftover(entry.Name()); entry.Name() == lockFile || left && name == sweepPlan || setting && !begun(filepath.Join(dir, entry.Name())) {
			continue
		}
		return fmt.Errorf("%s is neither empty nor the directory of a sweep (it holds %s but no %s): choose another directory", dir, entry.Name(), sweepPlan)
	}
	return nil
}

// begun says whether the directory of a setting holds more than which seeds there are to
// be.
func begun(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err != nil || slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		name, left := file.Leftover(e.Name())
		return e.Name() != planFile && e.Name() != lockFile && !(left && name == planFile)
	})
}

// includes refuses a sweep that lacks a run of the one in a directory, whose jobs these
// would be.
func (s *Sweep) includes(dir string, jobs []Job) error {
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
			return fmt.Errorf("%s is the directory of another sweep, with %v, which this one has not or has otherwise: choose another directory, or add to that sweep", dir, j)
		}
	}
	return nil
}

// A State is how far a run has come.
type State string

const (
	Waiting     State = "waiting"     // it has no checkpoint yet
	Running     State = "running"     // a program trains it
	Interrupted State = "interrupted" // nobody does, and there are epochs left, or it cannot be read
	Finished    State = "finished"
	Failed      State = "failed" // training passes it over, until Sweep.Retry
)

// States are all states of runs, in the order in which they are told.
var States = [...]State{Finished, Running, Interrupted, Waiting, Failed}

// State is how far the job has come, its run where that has a checkpoint, and what
// made it fail, or why it cannot be read.
func (j Job) State() (State, *Run, error) {
	if Taken(j.Dir) != nil {
		run, _ := Open(j.Dir) // it may have no checkpoint yet
		return Running, run, nil
	}
	text, err := file.Read(j.failure(), file.Small)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return Failed, nil, err
	}
	failed := err == nil
	if _, err := os.Stat(filepath.Join(j.Dir, checkpointFile)); errors.Is(err, os.ErrNotExist) && !failed {
		return Waiting, nil, nil
	}
	run, err := Open(j.Dir)
	switch {
	case err == nil && run.Finished(): // by whatever program, since it failed
		return Finished, run, nil
	case failed:
		return Failed, run, errors.New(string(text))
	case err != nil:
		return Interrupted, nil, err
	}
	return Interrupted, run, nil
}

// failure is the file, beside the directory of the run, of what made it fail.
func (j Job) failure() string { return j.Dir + ".failed" }

// Train trains the jobs of a share that are neither finished, nor failed, nor trained
// by another program, and goes round until none is left. It claims a directory that is not
// that of a sweep yet. recorders, which may be nil, are those of a job. What fails is noted
// beside its directory and passed over, until Retry. It waits for jobs that programs on other
// machines may have left without ending them, and returns how many other programs still train.
func (s *Sweep) Train(ctx context.Context, dir string, share Shard, recorders func(Job) []Recorder) (elsewhere int, err error) {
	if err := share.Check(); err != nil {
		return 0, err
	}
	jobs, err := s.Jobs(dir)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(filepath.Join(dir, sweepPlan)); errors.Is(err, os.ErrNotExist) {
		if err := s.Claim(dir); err != nil {
			return 0, err
		}
	}
	var sets Sets
	var failures []error
	elsewhere, err = takeTurns(ctx, len(jobs), func(i int) (bool, error) {
		if !share.Has(i) {
			return false, nil
		}
		j := jobs[i]
		switch state, _, _ := j.State(); state {
		case Finished:
			j.release()
			return false, nil
		case Failed:
			return false, nil
		}
		told, err := j.train(ctx, &sets, recorders)
		defer func() {
			for _, r := range told {
				if r, ok := r.(JobRecorder); ok {
					r.JobEnded()
				}
			}
		}()
		var taken *TakenError
		switch {
		case err == nil:
			return true, nil
		case errors.As(err, &taken), errors.Is(err, file.ErrLost), ctx.Err() != nil && errors.Is(err, ctx.Err()), cannotGoOn(err):
			return false, err
		}
		err = fmt.Errorf("%v: %w", j, err)
		failures = append(failures, err)
		return true, j.fail(err)
	})
	if err != nil {
		return 0, err
	}
	return elsewhere, errors.Join(failures...)
}

// JobRecorder is a Recorder that follows the jobs of a sweep. JobEnded is called after End, once
// the directory of the job is free and a failure is noted: the states of all runs are then as
// the job has left them.
type JobRecorder interface {
	Recorder
	JobEnded()
}

// train trains the job, unless another program does. It returns the recorders that it told.
func (j Job) train(ctx context.Context, sets *Sets, recorders func(Job) []Recorder) (told []Recorder, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := Taken(j.Dir); err != nil {
		return nil, err
	}
	set, err := sets.Open(j.Experiment, j.Dir)
	if err != nil {
		return nil, &dataError{err}
	}
	if recorders != nil {
		told = recorders(j)
	}
	_, err = Train(ctx, j.Experiment, set, j.Dir, told...)
	return told, err
}

// release removes the lease of a program that was killed when its run had just ended.
func (j Job) release() {
	if _, err := os.Stat(filepath.Join(j.Dir, file.LeaseFile)); err != nil {
		return
	}
	if held, err := file.HoldShared(j.Dir, lockFile); err == nil { // or it is somebody's
		held.Release()
	}
}

// dataError is the error of data that cannot be opened, whatever the settings.
type dataError struct{ error }

func (e *dataError) Unwrap() error { return e.error }

// cannotGoOn says whether an error is of the file system, the data or a device, and not of
// the settings.
func cannotGoOn(err error) bool {
	var failed *file.WriteError
	var data *dataError
	return errors.As(err, &failed) || errors.As(err, &data) || errors.Is(err, file.ErrNoLocks) || ofDevice(err)
}

// fail notes beside the directory of the run what made it fail.
func (j Job) fail(err error) error {
	if err := file.MkdirAll(filepath.Dir(j.Dir)); err != nil {
		return err
	}
	return file.WriteAside(j.failure(), []byte(err.Error()))
}

// Retry forgets what failed.
func (s *Sweep) Retry(dir string) error {
	jobs, err := s.Jobs(dir)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if failure := os.Remove(j.failure()); !errors.Is(failure, os.ErrNotExist) {
			err = errors.Join(err, failure)
		}
	}
	return err
}

// StepTime measures how long a step of an experiment takes on set: the mean over as
// many steps as fit into a duration, one at least, of a training that leaves nothing. The first
// step, which may compute what many later ones use, such as a Fisher matrix, is not among them if
// an epoch has more.
func StepTime(ctx context.Context, e Experiment, set *dataset.Set, within time.Duration) (time.Duration, error) {
	e, err := Resolve(e, set)
	if err != nil {
		return 0, err
	}
	snapshot, err := e.Begin(set)
	if err != nil {
		return 0, err
	}
	learner, err := e.Learner(set, snapshot)
	if err != nil {
		return 0, err
	}
	defer learner.Close()
	perEpoch := e.Header().StepsPerEpoch(set.Train().Rows)
	start, steps, timed := time.Now(), 0, 0
	for steps < perEpoch && (timed == 0 || time.Since(start) < within) {
		first := steps
		done, err := learner.Steps(ctx, min(perEpoch-first, max(1, steps)), func(k int) float64 { return e.LearningRate(first+k, perEpoch) })
		if err != nil {
			return 0, err
		}
		steps += len(done)
		if timed += len(done); first == 0 && perEpoch > 1 {
			start, timed = time.Now(), 0
		}
	}
	return time.Since(start) / time.Duration(timed), nil
}

package reproduce

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Job is the training of one seed.
type Job struct {
	Training
	Seed uint64
	Dir  string // directory of its run
	from *Job   // the job whose run it starts from
}

// Jobs returns the jobs of trainings whose directories are in dir. The first seeds of all trainings
// come before any second seed.
func Jobs(trainings []Training, dir string, s Scale) []Job {
	var jobs []Job
	most := 0
	for _, t := range trainings {
		most = max(most, t.Seeds)
	}
	for i := range most {
		for _, t := range trainings {
			if i < t.Seeds {
				jobs = append(jobs, t.job(i, dir, s))
			}
		}
	}
	return jobs
}

// job returns the job of seed i of the training, counted from 0.
func (t Training) job(i int, dir string, s Scale) Job {
	seed := t.Experiment.Header().Seed + uint64(i)
	j := Job{Training: t, Seed: seed, Dir: runs.SeedDir(t.dir(dir, s), seed)}
	if t.From != nil {
		from := t.From.job(i, dir, s)
		j.from = &from
	}
	return j
}

func (t Training) dir(root string, s Scale) string {
	if s == Smoke {
		return filepath.Join(root, string(Smoke), t.Name)
	}
	return filepath.Join(root, t.Name)
}

func (j Job) experiment() runs.Experiment {
	h := j.Experiment.Header()
	h.Seed = j.Seed
	e := j.Experiment.WithHeader(h)
	if j.from != nil {
		e = j.Begin(e, j.from.Dir, j.from.Experiment.Header().Epochs)
	}
	return e
}

// there returns the experiment in the job's directory, or nil if there is none yet.
func (j Job) there() (runs.Experiment, error) {
	e, err := runs.ExperimentIn(j.Dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return e, err
}

func (j Job) open() (*runs.Run, error) {
	if _, err := os.Stat(filepath.Join(j.Dir, "checkpoint.safetensors")); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return runs.Open(j.Dir)
}

// Done returns the number of epochs that the job's run has done, or 0 if the run has not begun.
// enough is true if the run has all epochs of the job and a checkpoint of the last one, if the run
// ended early by patience, or if it diverged. Done refuses a run that the job cannot use.
func (j Job) Done() (epochs int, enough bool, err error) {
	run, err := j.open()
	if err == nil {
		err = j.check(run)
	}
	if err != nil {
		return 0, false, fmt.Errorf("the run in %s cannot be used: %w: move it elsewhere to train it again", j.Dir, err)
	}
	diverged, err := j.diverged()
	if run == nil || err != nil {
		return 0, diverged != nil, err
	}
	wanted := j.Experiment.Header().Epochs
	finished := run.Finished() && run.Experiment().Header().Epochs >= wanted // perhaps by patience
	return run.Epochs(), diverged != nil || run.Epochs() >= wanted || finished, nil
}

// check refuses a directory whose settings differ from the job's. It also refuses a run that did
// not keep a checkpoint that the job needs, if the run has done this epoch; run may be nil. check
// does not compare the parameters from which a run starts, because training does.
func (j Job) check(run *runs.Run) error {
	there, err := j.there()
	if there == nil || err != nil {
		return err
	}
	e := j.experiment()
	h := e.Header()
	h.Epochs, h.Fingerprint = there.Header().Epochs, there.Header().Fingerprint
	e = e.WithHeader(h)
	ours, theirs := e, there
	if j.from != nil && reflect.TypeOf(e) == reflect.TypeOf(there) {
		ours, theirs = j.Begin(e, "", 0), j.Begin(there, "", 0)
	}
	if ours.Hash() != theirs.Hash() {
		differences := strings.Join(runs.Differences(ours, theirs), "; ")
		if strings.HasPrefix(differences, `method.arithmetic is "fixed" there`) {
			differences += "; --backend cpu computes in fixed point"
		}
		return fmt.Errorf("it is another experiment (%s)", differences)
	}
	if run == nil {
		return nil
	}
	wanted := j.Experiment.Header().Epochs
	for _, epoch := range append(slices.Clone(j.Needs), wanted) {
		if epoch <= min(wanted, run.Epochs()) {
			if _, err := run.At(epoch); err != nil {
				return err
			}
		}
	}
	return nil
}

// Train trains the job's run from its current state to the job's number of epochs: it stops a run
// that is planned to be longer, and extends a shorter one. If the run starts from another run that
// is unfinished, the error is ErrWaits. If training diverges, the error is a runs.ErrDiverged, and
// Train records it for this run and for all runs that would start from it.
func (j Job) Train(ctx context.Context, sets *runs.Sets, recorders ...runs.Recorder) error {
	if j.from != nil {
		if d, err := j.from.diverged(); d != nil || err != nil {
			return cmp.Or[error](err, d)
		}
		if _, enough, err := j.from.Done(); !enough {
			return errors.Join(err, fmt.Errorf("%s, seed %d, %w %s", j.Name, j.Seed, ErrWaits, j.from.Name))
		}
	}
	if err := j.finish(ctx, sets, recorders); err != nil {
		return err
	}
	e, err := j.planned()
	if err != nil {
		return err
	}
	set, err := sets.Open(e, j.Dir)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	end := &ending{wanted: j.Experiment.Header().Epochs, stop: stop}
	_, err = runs.Train(ctx, e, set, j.Dir, append(recorders, end)...)
	if end.reached && errors.Is(err, context.Canceled) {
		return nil
	}
	return j.noted(err)
}

func (j Job) noted(err error) error {
	if errors.Is(err, runs.ErrDiverged) {
		return errors.Join(err, j.remember())
	}
	return err
}

// finish looks for a run that was planned to be shorter than the job. It trains this run to its
// end, and then extends it, because only a finished run can get more epochs.
func (j Job) finish(ctx context.Context, sets *runs.Sets, recorders []runs.Recorder) error {
	wanted := j.Experiment.Header().Epochs
	there, err := j.there()
	if there == nil || err != nil || there.Header().Epochs >= wanted {
		return err
	}
	set, err := sets.Open(there, j.Dir)
	if err != nil {
		return err
	}
	if _, err := runs.Train(ctx, there, set, j.Dir, recorders...); err != nil {
		return j.noted(err)
	}
	_, err = runs.Extend(j.Dir, wanted)
	return err
}

// ErrWaits is the error of a job whose run starts from an unfinished run.
var ErrWaits = errors.New("waits for the end of")

// planned returns the experiment that the job's directory has or will have. It has the larger
// number of epochs of the two experiments, the job's and the directory's, and keeps the checkpoints
// of both.
func (j Job) planned() (runs.Experiment, error) {
	e := j.experiment()
	there, err := j.there()
	if there == nil || err != nil {
		return e, err
	}
	h, was := e.Header(), there.Header()
	h.Epochs = max(h.Epochs, was.Epochs)
	h.Keep = Union(h.Keep, was.Keep)
	return e.WithHeader(h), nil
}

// ending stops training after an epoch.
type ending struct {
	wanted  int
	reached bool
	stop    func()
}

func (e *ending) Begin(runs.Plan)    {}
func (e *ending) Step(runs.Progress) {}
func (e *ending) End(error)          {}

func (e *ending) Epoch(epoch runs.Epoch) {
	if epoch.Epoch >= e.wanted {
		e.reached = true
		e.stop()
	}
}

// Diverged is the error of a result that needs a training run that has diverged. It is a
// runs.ErrDiverged.
type Diverged struct {
	Name   string `json:"name"` // of the training
	Seed   uint64 `json:"seed"`
	Epochs int    `json:"epochs"` // epochs done before the divergence
	Hash   string `json:"hash"`   // of the experiment
}

func (d *Diverged) Error() string {
	return fmt.Sprintf("training diverged after %d epochs: %s, seed %d", d.Epochs, d.Name, d.Seed)
}

// Is reports that the error is a runs.ErrDiverged.
func (d *Diverged) Is(target error) bool { return target == runs.ErrDiverged }

func (j Job) divergedFile() string { return j.Dir + ".diverged.json" }

// hash returns the hash of the job's experiment, independent of its number of epochs and of the
// location of the run that it starts from.
func (j Job) hash() string {
	e := j.experiment()
	if j.from != nil {
		e = j.Begin(e, "", 0)
	}
	h := e.Header()
	h.Epochs = 1
	return e.WithHeader(h).Hash()
}

func (j Job) remember() error {
	run, err := j.open()
	if err != nil {
		return err
	}
	d := Diverged{Name: j.Name, Seed: j.Seed, Hash: j.hash()}
	if run != nil {
		d.Epochs = run.Epochs()
	}
	return writeJSON(j.divergedFile(), d, "\t")
}

// diverged returns the divergence of the job's run, or of a run that it starts from, before the
// number of epochs that is needed. It returns nil if there is none.
func (j Job) diverged() (*Diverged, error) {
	if j.from != nil {
		if d, err := j.from.diverged(); d != nil || err != nil {
			return d, err
		}
	}
	text, err := os.ReadFile(j.divergedFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d Diverged
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w: remove it", j.divergedFile(), err)
	}
	if d.Hash != j.hash() || d.Epochs >= j.Experiment.Header().Epochs {
		return nil, nil
	}
	return &d, nil
}

package runs

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Run is the state of a training run in its directory: the experiment, the records and the last
// checkpoint.
type Run struct {
	dir        string
	experiment Experiment
	last, best Epoch                   // last and best epoch; the other epochs are read on demand
	epochs     func() ([]Epoch, error) // reads the history
	lost       error                   // error from reading the history or its baseline
	session    Provenance              // last session; zero if unknown
	baseline   *Baseline               // baseline of the last session that recorded one
	bound      binding
	position   position
	snapshot   Snapshot
}

// Open opens the run in a directory, finished or not.
func Open(dir string) (*Run, error) {
	if dir == "" {
		return nil, errNoDirectory
	}
	r, err := look(dir, loadCheckpoint)
	switch {
	case err == nil && r.begun():
		return r, nil
	case err == nil:
		return nil, fmt.Errorf("the run in %s has no checkpoint yet (no %s): train it longer or, if it has diverged, again at a lower learning rate", dir, checkpointFile)
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	if seeds, err := ReadSeeds(dir); err == nil && len(seeds) > 0 {
		return nil, fmt.Errorf("%s is the directory of several seeds: name the run of one seed, such as %s", dir, SeedDir(dir, seeds[0].Header().Seed))
	}
	if last := lastRunIn(dir); last != "" {
		return nil, fmt.Errorf("%s is not the directory of one run: name a run in it, such as the last, %s", dir, last)
	}
	return nil, fmt.Errorf("%s is not the directory of a run: it has no %s (helmholtz runs lists runs)", dir, experimentFile)
}

// look opens a run, which may have no checkpoint, with the checkpoint that read returns for its path. The error is
// os.ErrNotExist if the directory has no experiment.
func look(dir string, read func(path string) (*checkpoint, error)) (*Run, error) {
	e, err := ExperimentIn(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, checkpointFile)
	c, err := read(path)
	if errors.Is(err, os.ErrNotExist) {
		c, err = &checkpoint{}, refuseLostCheckpoint(dir, e)
	}
	if err != nil {
		return nil, err
	}
	r := &Run{dir: dir, experiment: e, bound: bindingOf(e, c.position)}
	if c.position.Format > 0 {
		if err := c.checkExperiment(e); err != nil {
			return nil, damaged(path, err)
		}
	}
	r.position, r.snapshot = c.position, c.snapshot
	ends, lost := readHistory(r.path(metricsFile), r.bound, r.position, 0)
	r.last, r.lost = lastOf(ends), lost
	for _, e := range ends {
		if e.Epoch == r.position.BestEpoch {
			r.best = e
		}
	}
	r.epochs = sync.OnceValues(func() ([]Epoch, error) { return readHistory(r.path(metricsFile), r.bound, r.position, math.MaxInt) })
	sessions, err := r.Provenance()
	r.lost = cmp.Or(r.lost, err)
	for _, s := range sessions {
		if r.session = s; s.Baseline != nil {
			r.baseline = s.Baseline
		}
	}
	return r, nil
}

// begun reports whether there is a checkpoint.
func (r *Run) begun() bool { return r.position.Format > 0 }

// lastRunIn returns the run directory in dir whose name sorts last, or "" if there is none.
func lastRunIn(dir string) (last string) {
	entries, _ := os.ReadDir(dir)
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), ".") && isRun(filepath.Join(dir, entry.Name())) {
			last = filepath.Join(dir, entry.Name())
		}
	}
	return last
}

// readHistory reads at most max(most, 3) epochs: the first, the last, the best, and other epochs at equal distances. It
// verifies the other epochs. It stops at the epoch of the checkpoint, because a crash can leave the line of one more epoch.
func readHistory(path string, bound binding, at position, most int) ([]Epoch, error) {
	every := 1
	if most = max(most, 3); at.Epoch > most {
		every = (at.Epoch + most - 3) / (most - 2)
	}
	n, epochs, err := readSome(path, bound, at.Epoch, func(n int) bool { return (n-1)%every == 0 || n == at.Epoch || n == at.BestEpoch })
	if err == nil && n < at.Epoch {
		err = lostEpochs(path, n, at.Epoch)
	}
	if err != nil {
		return nil, err
	}
	return epochs, nil
}

// String describes the run: its experiment, its progress and the measures of its last epoch.
func (r *Run) String() string {
	h := r.experiment.Header()
	text := fmt.Sprintf("%s: %v, seed %d, on %s; ", r.dir, r.experiment, h.Seed, h.Dataset.Name)
	if r.Imported() {
		return text + string(Imported)
	}
	text += fmt.Sprintf("%d of %d epochs", r.Epochs(), h.Epochs)
	if r.Finished() {
		text += ", finished"
	}
	if r.last.Epoch > 0 {
		text += "; " + describe(r.without(), r.last)
	}
	return text
}

// Dir returns the directory of the run.
func (r *Run) Dir() string { return r.dir }

// Dataset opens the data set of the run. It refuses data that differ from the training data.
func (r *Run) Dataset() (*dataset.Set, error) { return OpenDataset(r.experiment, r.dir) }

// DatasetAt is like Dataset, for data that have moved to another path. Further files of the data, such as test rows, may be
// beside it. An empty path is the path of the experiment. DatasetAt refuses another path for a set that has a name.
func (r *Run) DatasetAt(path string) (*dataset.Set, error) {
	h := r.experiment.Header()
	switch named := h.Dataset.Paths() == nil; {
	case named && path != "" && path != h.Dataset.Name:
		return nil, fmt.Errorf("%s: the data of the run are the set %s, which the program finds by its name: omit the path (--dataset)", path, h.Dataset.Name)
	case named || path == "":
		return r.Dataset()
	}
	for _, other := range h.Dataset.Paths()[1:] {
		if beside := filepath.Join(filepath.Dir(path), filepath.Base(*other)); *other != "" && !exists(*other) && exists(beside) {
			*other = beside
		}
	}
	h.Dataset.Name = path
	return OpenDataset(r.experiment.WithHeader(h), r.dir)
}

// Experiment returns the experiment of the run.
func (r *Run) Experiment() Experiment { return r.experiment }

// History returns the records of all epochs. They belong to the run and must not be changed. If they are
// damaged, Err is set; the model can still be evaluated.
func (r *Run) History() History { return r.with(r.epochs()) }

// ThinHistory returns a history of at most max(most, 3) epochs: the first, the last, the epoch with the
// best validation objective, and other epochs at equal distances. The memory that it needs does not
// grow with the length of the history.
func (r *Run) ThinHistory(most int) History {
	return r.with(readHistory(r.path(metricsFile), r.bound, r.position, most))
}

// with returns the history with the given epochs and the error from reading them.
func (r *Run) with(epochs []Epoch, err error) History {
	h := r.without()
	h.Epochs, h.Err = epochs, cmp.Or(r.lost, err)
	return h
}

func (r *Run) without() History {
	return History{Name: r.experiment.String(), Measures: r.experiment.Measures(), Baseline: r.baseline}
}

// Warning returns the warning that training has diverged by its last epoch, or "" if it has not.
func (r *Run) Warning() string { return r.without().Warning(r.last) }

// Shortfall returns History.Shortfall of the last epoch.
func (r *Run) Shortfall() string { return r.without().Shortfall(r.last) }

// Last returns the last epoch, whose measures must not be changed. Its number is 0 if no epoch is done or
// the history is damaged.
func (r *Run) Last() Epoch { return r.last }

// Steps returns the records of single steps, or ErrNoSteps if there are none. Each record is an Epoch: its
// number is the epoch of the step, and Train holds the measures of the step's minibatch.
func (r *Run) Steps() (History, error) {
	h := r.without()
	_, recorded, seen, err := r.steps()
	if err != nil {
		return h, err
	}
	if h.Epochs = recorded[:seen]; seen == 0 {
		return h, fmt.Errorf("the run in %s %w: train it with record_steps, which is %d", r.dir, ErrNoSteps, r.experiment.Header().RecordSteps)
	}
	return h, nil
}

// steps returns the clock, or nil if there is none, the records of steps, and the number of records up to the step of the
// checkpoint. A crash can leave records of later steps.
func (r *Run) steps() (c *clock, recorded []Epoch, seen int, err error) {
	if c, err = readClock(r.path(clockFile), r.position.Step, r.bound); err != nil {
		return nil, nil, 0, err
	}
	if recorded, err = readMetrics(r.path(stepsFile), r.bound, math.MaxInt); err != nil {
		return nil, nil, 0, err
	}
	if seen = slices.IndexFunc(recorded, func(e Epoch) bool { return e.Step > r.position.Step }); seen < 0 {
		seen = len(recorded)
	}
	if c != nil && seen < c.Recorded {
		err = damaged(r.path(stepsFile), fmt.Errorf("it has %d recorded steps, but there were %d", seen, c.Recorded))
	}
	return c, recorded, seen, err
}

// ErrNoSteps is the error for a run without records of single steps.
var ErrNoSteps = errors.New("has recorded no steps")

// Imported reports whether the run has the parameters of another program and has not been trained since.
func (r *Run) Imported() bool {
	e, is := r.experiment.(interface{ IsImported() bool })
	return is && e.IsImported() && r.position.Step == 0
}

// Finished reports whether training has finished.
func (r *Run) Finished() bool { return r.position.Finished }

// Epochs returns the number of epochs done.
func (r *Run) Epochs() int { return r.position.Epoch }

// BestEpoch returns the epoch with the best objective on the validation rows, or 0 if there is
// none.
func (r *Run) BestEpoch() int { return r.position.BestEpoch }

// Snapshot returns the state saved in the last checkpoint.
func (r *Run) Snapshot() Snapshot { return r.snapshot }

// Best returns the snapshot of the epoch with the best objective on the validation rows. A run
// without validation rows has none.
func (r *Run) Best() (Snapshot, error) {
	c, err := loadCheckpoint(r.path(bestFile))
	if errors.Is(err, os.ErrNotExist) && r.position.BestEpoch > 0 {
		return Snapshot{}, damaged(r.path(bestFile), fmt.Errorf("it is missing, but epoch %d is the best", r.position.BestEpoch))
	}
	if errors.Is(err, os.ErrNotExist) {
		return Snapshot{}, fmt.Errorf("the run in %s has no best checkpoint: it has no validation rows, or has not finished an epoch", r.dir)
	}
	if err != nil {
		return Snapshot{}, err
	}
	// The file may be ahead of the run: by one epoch after a crash, by any number during training.
	if c.position.Epoch <= r.position.Epoch && c.position.Epoch != r.position.BestEpoch {
		return Snapshot{}, damaged(r.path(bestFile), fmt.Errorf("it is from epoch %d, but epoch %d is the best", c.position.Epoch, r.position.BestEpoch))
	}
	if !r.took(c) {
		return Snapshot{}, damaged(r.path(bestFile), errOfAnother)
	}
	return c.snapshot, nil
}

// At returns the snapshot after an epoch whose checkpoint the experiment keeps, or after the last epoch.
// For other epochs, the error lists the available checkpoints.
func (r *Run) At(epoch int) (Snapshot, error) {
	path := r.path(fmt.Sprintf(keptFile, epoch))
	c, err := loadCheckpoint(path)
	if errors.Is(err, os.ErrNotExist) {
		if r.position.Epoch == epoch && r.position.Rows == 0 {
			return r.snapshot, nil
		}
		if epoch <= r.position.Epoch && slices.Contains(r.experiment.Header().Keep, epoch) {
			return Snapshot{}, fmt.Errorf("%s is missing, although training kept it: restore it from a copy", path)
		}
		has := fmt.Sprintf("the last (epoch %d)", r.position.Epoch)
		if r.position.BestEpoch > 0 {
			has = fmt.Sprintf("the best (epoch %d) and %s", r.position.BestEpoch, has)
		}
		if kept := r.Kept(); len(kept) > 0 {
			has = fmt.Sprintf("epochs %v, %s", kept, has)
		}
		remedy := fmt.Sprintf("to keep it when training reaches it, set keep = [%d] in its experiment, or --keep %[1]d", epoch)
		switch {
		case epoch < 1:
			remedy = "epochs are numbered from 1"
		case epoch <= r.position.Epoch:
			remedy = fmt.Sprintf("train again in another directory with keep = [%d], or --keep %[1]d", epoch)
		}
		return Snapshot{}, fmt.Errorf("the run in %s keeps no checkpoint of epoch %d: it has %s; %s", r.dir, epoch, has, remedy)
	}
	switch {
	case err != nil:
	case c.position.Epoch != epoch:
		err = damaged(path, fmt.Errorf("it is from epoch %d", c.position.Epoch))
	case !r.took(c):
		err = damaged(path, errOfAnother)
	}
	if err != nil {
		return Snapshot{}, err
	}
	return c.snapshot, nil
}

var errOfAnother = errors.New("it is from another experiment")

// took reports whether a checkpoint belongs to the run's experiment. The checkpoint may name a smaller
// number of epochs, from before the run was extended. A checkpoint newer than the opened run passes,
// because the run may have been extended since it was opened.
func (r *Run) took(c *checkpoint) bool {
	for epochs := r.experiment.Header().Epochs; epochs >= c.position.Epoch; epochs-- {
		if withEpochs(r.experiment, epochs).Hash() == c.position.Experiment {
			return true
		}
	}
	return c.position.Epoch > r.position.Epoch
}

// Checkpoint returns the snapshot of a named checkpoint: last, best, or the number of an epoch.
func (r *Run) Checkpoint(name string) (Snapshot, error) {
	switch name {
	case "", "last":
		return r.snapshot, nil
	case "best":
		return r.Best()
	}
	epoch, err := strconv.Atoi(name)
	if err != nil {
		return Snapshot{}, fmt.Errorf("checkpoint %q: use last, best, or the number of an epoch", name)
	}
	return r.At(epoch)
}

func (r *Run) path(file string) string { return filepath.Join(r.dir, file) }

// Kept returns the epochs whose checkpoints are kept, sorted. It omits the best and the last checkpoint.
func (r *Run) Kept() []int {
	entries, _ := os.ReadDir(r.dir) // if it cannot be read, nothing can be opened
	epochs := []int{}
	for _, entry := range entries {
		if epoch, is := keptEpoch(entry.Name()); is {
			epochs = append(epochs, epoch)
		}
	}
	slices.Sort(epochs)
	return epochs
}

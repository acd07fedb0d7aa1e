package general

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Train trains a machine on set and keeps the run in the directory dir, as runs.Train does: a
// directory that holds the same experiment is resumed, and training that is cancelled or diverges
// returns the run beside its error. runs.TrainSeeds trains several seeds.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(runs.Train(ctx, e, set, dir, recorders...))
}

// Run is a run of training as its directory holds it, with the model of the last checkpoint.
type Run struct {
	*runs.Run
	*Model
	experiment Experiment
}

// OpenRun opens the run in a directory, finished or not.
func OpenRun(dir string) (*Run, error) { return opened(runs.Open(dir)) }

// opened adds the model to a run. Where there is no run, or an error beside it, it returns what
// there is.
func opened(run *runs.Run, failure error) (*Run, error) {
	if run == nil {
		return nil, failure
	}
	e, ok := run.Experiment().(Experiment)
	if !ok {
		return nil, fmt.Errorf("%s is a run of %v, not of a general Boltzmann machine: open it by the package of its family", run.Dir(), run.Experiment())
	}
	r := &Run{Run: run, experiment: e}
	var err error
	if r.Model, err = r.modelOf(run.Snapshot(), nil); err != nil {
		return nil, err
	}
	return r, failure
}

// Experiment is what the run trains.
func (r *Run) Experiment() Experiment { return r.experiment }

// Checkpoint returns the model of a checkpoint by its name: last, best, or the number of an epoch
// whose checkpoint the experiment keeps.
func (r *Run) Checkpoint(name string) (*Model, error) { return r.modelOf(r.Run.Checkpoint(name)) }

func (r *Run) modelOf(at runs.Snapshot, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	s, err := r.experiment.readSnapshot(at)
	if err != nil {
		return nil, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", r.Dir(), err)
	}
	return s.model, nil
}

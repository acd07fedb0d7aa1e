package boltzmann

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Train trains a machine on set and keeps the run in the directory dir. A directory that
// holds the same experiment is resumed, and returned at once if it is finished; one that
// holds another is refused. Cancelling the context stops training within a step, with a
// checkpoint, and returns a runs.Interruption beside the run. So does training that
// diverges, with runs.ErrDiverged.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return m.Experiment(machine, set).Train(ctx, set, dir, recorders...)
}

// Train trains as Method.Train does. runs.OpenDataset opens the set of an experiment that was
// read; runs.TrainSeeds trains several seeds.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(runs.Train(ctx, e, set, dir, recorders...))
}

// Run is a run of training as its directory holds it, with the model of the last
// checkpoint.
type Run struct {
	*runs.Run
	*Model
	experiment Experiment
}

// OpenRun opens the run in a directory, finished or not. Its model is that of the last
// checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(runs.Open(dir)) }

// opened adds the model to a run. Where there is no run, or an error beside it, it
// returns what there is.
func opened(run *runs.Run, failure error) (*Run, error) {
	if run == nil {
		return nil, failure
	}
	e, ok := run.Experiment().(Experiment)
	if !ok {
		return nil, fmt.Errorf("%s is a run of %v, not of a Boltzmann machine: open it by the package of its family", run.Dir(), run.Experiment())
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

// Best returns the model of the epoch with the best validation objective.
func (r *Run) Best() (*Model, error) { return r.modelOf(r.Run.Best()) }

// At returns the model after an epoch whose checkpoint the experiment keeps, or after
// the last.
func (r *Run) At(epoch int) (*Model, error) { return r.modelOf(r.Run.At(epoch)) }

// Checkpoint returns the model of a checkpoint by its name: last, best, or the number of
// an epoch.
func (r *Run) Checkpoint(name string) (*Model, error) { return r.modelOf(r.Run.Checkpoint(name)) }

func (r *Run) modelOf(at runs.Snapshot, err error) (*Model, error) {
	if err != nil {
		return nil, err
	}
	s, shape, err := readSnapshot(at)
	if err == nil {
		err = r.experiment.checkState(s, shape)
	}
	if err != nil {
		return nil, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", r.Dir(), err)
	}
	return r.experiment.model(s, shape), nil
}

// model is that of the state of a machine for images of a shape.
func (e Experiment) model(s state, shape dataset.Shape) *Model {
	return &Model{shape: shape, parameters: s.parameters, encoding: encoding{e.Dataset.Binarization, s.standard}, below: s.below, seed: e.Seed}
}

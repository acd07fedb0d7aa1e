package hm

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Train trains a machine on set and stores the run in the directory dir. If dir holds the same
// experiment, Train resumes it, or returns it immediately if it is finished; it returns an error for
// another experiment. Train also stores the rows of a set made by FromRows in dir. If the context is
// cancelled, training stops within a step, with a checkpoint, and Train returns the run and a
// runs.Interruption. If training diverges, Train returns the run and runs.ErrDiverged; the run is nil
// if it has no checkpoint yet.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return m.Experiment(machine, set).Train(ctx, set, dir, recorders...)
}

// Train trains like Method.Train. runs.OpenDataset opens the set of an experiment that was read
// from a file.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(kind.Train(ctx, e, set, dir, recorders...))
}

// TrainSeeds trains like Train, once with each of n consecutive seeds, the first of which is the method's
// seed. It stores each run in a directory within dir, as runs.TrainSeeds does.
func (m Method) TrainSeeds(ctx context.Context, machine Machine, set *dataset.Set, n int, dir string, recorders ...runs.Recorder) (*Seeds, error) {
	return openedSeeds(runs.TrainSeeds(ctx, m.Experiment(machine, set), set, n, dir, recorders...))
}

// Tune searches for a better learning rate and damping of the method within a budget of epochs. It uses
// runs.Tuning with the candidates of runs.UsualAxes, and stores the search in the directory dir. It returns
// the best run, whose Experiment has the settings found. The same call resumes an interrupted search.
func (m Method) Tune(ctx context.Context, machine Machine, set *dataset.Set, budget int, dir string, recorders ...runs.Recorder) (*Run, error) {
	e := m.Experiment(machine, set)
	tuning := runs.Tuning{Sweep: &runs.Sweep{Base: e.TOML(), Axes: runs.UsualAxes(e), Seeds: 1}, Budget: budget, Set: set}
	report, err := tuning.Train(ctx, dir, func(runs.Job) []runs.Recorder { return recorders })
	if err != nil {
		return nil, err
	}
	return OpenRun(report.Candidates[0].Seeds[0].Dir)
}

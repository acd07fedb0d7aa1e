package hm

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Train trains a machine on set and keeps the run in the directory dir. A
// directory that holds the same experiment is resumed, and returned at once if
// it is finished; one that holds another is refused. Rows that FromRows made a
// set of are stored there, too. Cancelling the context stops training within a
// step, with a checkpoint, and returns a runs.Interruption beside the run. So does
// training that diverges, with runs.ErrDiverged, but for a run that has no checkpoint
// yet, which is nil.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return m.Experiment(machine, set).Train(ctx, set, dir, recorders...)
}

// Train trains as Method.Train does. runs.OpenDataset opens the set of an experiment that was
// read.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(kind.Train(ctx, e, set, dir, recorders...))
}

// TrainSeeds trains as Train does with n seeds, that of the method and those that
// follow it, one after the other, each into a directory within dir, as
// runs.TrainSeeds does.
func (m Method) TrainSeeds(ctx context.Context, machine Machine, set *dataset.Set, n int, dir string, recorders ...runs.Recorder) (*Seeds, error) {
	return openedSeeds(runs.TrainSeeds(ctx, m.Experiment(machine, set), set, n, dir, recorders...))
}

package general

import (
	"context"
	"io"

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
	*runs.Typed[Experiment, *Model]
	*Model
}

// OpenRun opens the run in a directory, finished or not.
func OpenRun(dir string) (*Run, error) { return opened(runs.Open(dir)) }

// opened adds the model to a run. Where there is no run, or an error beside it, it returns
// what there is.
func opened(run *runs.Run, failure error) (*Run, error) {
	typed, model, err := runs.As(run, failure, aMachine, Experiment.model)
	if typed == nil {
		return nil, err
	}
	return &Run{typed, model}, err
}

// aMachine is what messages call a machine of this family.
const aMachine = "a general Boltzmann machine"

// LoadModel reads what SaveModel of a run wrote. Of a file its errors say the name.
func LoadModel(r io.Reader) (*Model, error) { return runs.LoadModel(r, aMachine, Experiment.model) }

// String says what the run trains, how far it has come, and what its last epoch measured.
func (r *Run) String() string { return r.Typed.String() }

// model is that of a snapshot.
func (e Experiment) model(at runs.Snapshot) (*Model, error) {
	s, err := e.readSnapshot(at)
	return s.model, err
}

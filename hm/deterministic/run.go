package deterministic

import (
	"context"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Train trains a machine on set and keeps the run in the directory dir, as
// runs.Train does: a directory that holds the same experiment is resumed, and
// training that is cancelled or diverges returns the run beside its error.
// runs.TrainSeeds trains several seeds.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(runs.Train(ctx, e, set, dir, recorders...))
}

// Run is a run of training as its directory holds it, with the machine of the last
// checkpoint.
type Run struct {
	*runs.Typed[Experiment, *Machine]
	*Machine
}

// OpenRun opens the run in a directory, finished or not. Its machine is that of the
// last checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(runs.Open(dir)) }

// opened adds the machine to a run. Where there is no run, or an error beside it, it returns
// what there is.
func opened(run *runs.Run, failure error) (*Run, error) {
	typed, machine, err := runs.As(run, failure, aMachine, Experiment.machine)
	if typed == nil {
		return nil, err
	}
	return &Run{typed, machine}, err
}

// aMachine is what messages call a machine of this family.
const aMachine = "a deterministic machine"

// LoadModel reads what SaveModel of a run wrote. Of a file its errors say the name.
func LoadModel(r io.Reader) (*Machine, error) { return runs.LoadModel(r, aMachine, Experiment.machine) }

// String says what the run trains, how far it has come, and what its last epoch measured.
func (r *Run) String() string { return r.Typed.String() }

// machine is that of a snapshot.
func (e Experiment) machine(s runs.Snapshot) (*Machine, error) {
	m, _, err := readSnapshot(s)
	if err != nil {
		return nil, err
	}
	return m, e.checkMachine(m)
}

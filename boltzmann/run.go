package boltzmann

import (
	"context"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
)

// Train trains a machine on set and keeps the run in the directory dir. A directory that
// holds the same experiment is resumed, and returned at once if it is finished; one that
// holds another is refused. Cancelling the context stops training within a step, with a
// checkpoint, and returns a runs.Interruption beside the run. So does training that
// diverges, with runs.ErrDiverged, but for a run that has no checkpoint yet, which is nil.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return m.Experiment(machine, set).Train(ctx, set, dir, recorders...)
}

// Train trains as Method.Train does. runs.OpenDataset opens the set of an experiment that was
// read; runs.TrainSeeds trains several seeds.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(kind.Train(ctx, e, set, dir, recorders...))
}

// Run is a run of training as its directory holds it, with the model of the last
// checkpoint.
type Run struct {
	*runs.Typed[Experiment, *Model]
	*Model
}

var kind = runs.Kind[Experiment, *Model]{Name: family, Noun: "a Boltzmann machine", Parse: ParseExperiment, Model: Experiment.modelOf}.Registered()

// OpenRun opens the run in a directory, finished or not. Its model is that of the last
// checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(kind.Open(dir)) }

// OpenPretrained opens a pretrained machine by its name, such as "mnist-rbm"; "helmholtz pretrained list"
// lists all. It looks in the folders of package pretrained and fetches nothing.
func OpenPretrained(name string) (*Run, error) {
	m, err := pretrained.Find(name)
	if err != nil {
		return nil, err
	}
	return OpenRun(m.Dir)
}

// opened returns a run with its model, and the error beside it.
func opened(run *runs.Typed[Experiment, *Model], err error) (*Run, error) {
	if run == nil {
		return nil, err
	}
	return &Run{run, run.Model()}, err
}

// LoadModel reads what SaveModel of a run wrote. Its errors name the file, if r is one.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }

// String says what the run trains, how far it has come, and what its last epoch measured.
func (r *Run) String() string { return r.Typed.String() }

// modelOf is the model of a snapshot.
func (e Experiment) modelOf(at runs.Snapshot) (*Model, error) {
	s, shape, err := readSnapshot(at)
	if err == nil {
		err = e.checkState(s, shape)
	}
	if err != nil {
		return nil, err
	}
	return e.model(s, shape), nil
}

// model is that of the state of a machine for images of a shape.
func (e Experiment) model(s state, shape dataset.Shape) *Model {
	return &Model{shape: shape, parameters: s.parameters, encoding: encoding{e.Dataset.Binarization, s.standard}, below: s.below, seed: e.Seed, rungs: s.rungs, chains: s.persistent}
}

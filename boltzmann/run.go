package boltzmann

import (
	"context"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
)

// Train trains a machine on set and keeps the run in the directory dir. If the directory holds the same
// experiment, training resumes, or Train immediately returns the finished run. Train refuses a directory with
// another experiment. If ctx is cancelled, training stops within a step: Train writes a checkpoint and
// returns the run with a runs.Interruption. If training diverges, Train returns the run with
// runs.ErrDiverged. In both cases the run is nil if it has no checkpoint.
func (m Method) Train(ctx context.Context, machine Machine, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return m.Experiment(machine, set).Train(ctx, set, dir, recorders...)
}

// Train trains like Method.Train. runs.OpenDataset opens the set of an experiment that was read from a file;
// runs.TrainSeeds trains several seeds.
func (e Experiment) Train(ctx context.Context, set *dataset.Set, dir string, recorders ...runs.Recorder) (*Run, error) {
	return opened(kind.Train(ctx, e, set, dir, recorders...))
}

// Run is a training run in its directory, with the model of the last checkpoint.
type Run struct {
	*runs.Typed[Experiment, *Model]
	*Model
}

var kind = runs.Kind[Experiment, *Model]{Name: family, Noun: "a Boltzmann machine", Parse: ParseExperiment, Model: Experiment.modelOf, Draft: newDraft}.Registered()

// OpenRun opens the run in a directory, finished or not, with the model of the last checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(kind.Open(dir)) }

// OpenPretrained opens a pretrained machine by its name, such as "mnist-rbm"; "helmholtz pretrained list" lists
// all machines. It looks in the folders of package pretrained and downloads nothing.
func OpenPretrained(name string) (*Run, error) {
	m, err := pretrained.Find(name)
	if err != nil {
		return nil, err
	}
	return OpenRun(m.Dir)
}

func opened(run *runs.Typed[Experiment, *Model], err error) (*Run, error) {
	if run == nil {
		return nil, err
	}
	return &Run{run, run.Model()}, err
}

// LoadModel reads a model that a run's SaveModel wrote. If r is a file, its errors name it.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }

// String describes what the run trains, its progress and the measures of its last epoch.
func (r *Run) String() string { return r.Typed.String() }

func (e Experiment) modelOf(at runs.Snapshot) (*Model, error) {
	s, shape, err := e.restore(at)
	if err != nil {
		return nil, err
	}
	return e.model(s, shape), nil
}

func (e Experiment) model(s state, shape dataset.Shape) *Model {
	return &Model{shape: shape, parameters: s.parameters, encoding: encoding{e.Dataset.Binarization, s.standard, e.Dataset.Standardize}, below: s.below, seed: e.Seed, rungs: s.rungs, chains: s.persistent}
}

package hm

import (
	"context"
	"errors"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
)

// Run is a training run as stored in its directory, with the model of the last checkpoint.
type Run struct {
	*runs.Typed[Experiment, *Model]
	*Model
}

var kind = runs.Kind[Experiment, *Model]{Name: family, Noun: "a Helmholtz machine", Parse: ParseExperiment, Model: newModel, Draft: draft}.Registered()

// OpenRun opens the run in a directory, whether or not it is finished, with the model of its last
// checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(kind.Open(dir)) }

// OpenPretrained opens a pretrained machine by name, such as "glyphs-nrws"; "helmholtz pretrained
// list" lists all names. It looks in the folders of package pretrained and downloads nothing.
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

// String returns the run's experiment, its progress, and the measures of its last epoch.
func (r *Run) String() string { return r.Run.String() }

func newModel(e Experiment, s runs.Snapshot) (*Model, error) {
	state, shape, err := readSnapshot(s)
	if err != nil {
		return nil, err
	}
	if err := e.checkMachine(state.Parameters, shape); err != nil {
		return nil, err
	}
	p := state.Parameters
	return &Model{experiment: e, shape: shape, parameters: p, engine: &evaluator{parameters: p, arithmetic: e.Method.Arithmetic}, seed: e.Seed}, nil
}

// Seeds holds the runs of one experiment with several seeds, with their models.
type Seeds struct {
	*runs.Seeds
	Runs []*Run // the runs that have a checkpoint, sorted by seed
}

// Over returns the spread of value over the runs of the seeds.
func (s *Seeds) Over(value func(*Run) float64) runs.Spread { return runs.SpreadOf(s.Runs, value) }

// OpenSeeds opens the runs with several seeds that TrainSeeds stored in a directory, whether or not they
// are finished. If the directory holds a single run, it opens that run.
func OpenSeeds(dir string) (*Seeds, error) { return openedSeeds(runs.OpenSeeds(dir)) }

func openedSeeds(seeds *runs.Seeds, failure error) (*Seeds, error) {
	if seeds == nil {
		return nil, failure
	}
	s := &Seeds{Seeds: seeds}
	for _, run := range seeds.Runs {
		r, err := opened(kind.Opened(run, nil))
		if err != nil {
			return nil, err
		}
		s.Runs = append(s.Runs, r)
	}
	return s, failure
}

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

// Save writes the model in safetensors format, with the tensors generative.N and recognition.N of a checkpoint
// (runs/FORMAT.md), but without the state that only training needs. The metadata contains the experiment as TOML.
func (m *Model) Save(w io.Writer) error {
	if m.parameters == nil {
		return errors.New("the model is empty: use the model of a run or of a file")
	}
	s, err := newSnapshot(&engine.State{Parameters: m.parameters}, m.shape)
	if err != nil {
		return err
	}
	b, err := runs.MarshalModel(m.experiment, s)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// LoadModel reads a file written by Save, or by SaveModel of a run. It returns an error if the file is damaged or
// contains a model of another family. If r is an *os.File, the error names the file.
func LoadModel(r io.Reader) (*Model, error) { return kind.LoadModel(r) }

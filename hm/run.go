package hm

import (
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

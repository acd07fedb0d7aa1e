package hm

import (
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
)

// Run is a run of training as its directory holds it, with the model of the last
// checkpoint.
type Run struct {
	*runs.Typed[Experiment, *Model]
	*Model
}

var kind = runs.Kind[Experiment, *Model]{Name: family, Noun: "a Helmholtz machine", Parse: ParseExperiment, Model: newModel}.Registered()

// OpenRun opens the run in a directory, finished or not. Its model is that of
// the last checkpoint.
func OpenRun(dir string) (*Run, error) { return opened(kind.Open(dir)) }

// OpenPretrained opens a pretrained machine by its name, such as "glyphs-nrws"; "helmholtz pretrained list"
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

// String says what the run trains, how far it has come, and what its last epoch measured.
func (r *Run) String() string { return r.Run.String() }

// newModel returns the model of a snapshot of the experiment.
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

// Seeds are the runs of one experiment with several seeds, with their models.
type Seeds struct {
	*runs.Seeds
	Runs []*Run // by seed, those that have a checkpoint
}

// Over is the spread of a value over the seeds.
func (s *Seeds) Over(value func(*Run) float64) runs.Spread { return runs.SpreadOf(s.Runs, value) }

// OpenSeeds opens the runs of the seeds in a directory, finished or not, or the
// one run whose directory it is.
func OpenSeeds(dir string) (*Seeds, error) { return openedSeeds(runs.OpenSeeds(dir)) }

// openedSeeds adds the models to seeds, as opened does to a run.
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

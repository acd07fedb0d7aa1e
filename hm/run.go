package hm

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Run is a run of training as its directory holds it: the experiment, what was
// recorded, and the model of the last checkpoint.
type Run struct {
	*Model
	dir        string
	experiment Experiment
	history    []Epoch
	position   position
}

// OpenRun opens the run in a directory, finished or not. Its model is that of
// the last checkpoint.
func OpenRun(dir string) (*Run, error) {
	e, err := ReadExperiment(filepath.Join(dir, experimentFile))
	if errors.Is(err, os.ErrNotExist) {
		if seeds, err := ReadSeeds(dir); err == nil && len(seeds) > 0 {
			return nil, fmt.Errorf("%s is the directory of several seeds: name the run of one, such as %s", dir, SeedDir(dir, seeds[0].Seed))
		}
		return nil, fmt.Errorf("%s is not the directory of a run: it holds no %s", dir, experimentFile)
	}
	if err != nil {
		return nil, err
	}
	r := &Run{dir: dir, experiment: e}
	r.Model, r.position, err = loadModel(e, filepath.Join(dir, checkpointFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the run in %s has no checkpoint yet: train it for longer", dir)
	}
	if err != nil {
		return nil, err
	}
	if r.history, err = readMetrics(filepath.Join(dir, metricsFile)); err != nil {
		return nil, err
	}
	// A crash can leave an epoch that the checkpoint has not seen.
	r.history = r.history[:min(len(r.history), r.position.Epoch)]
	return r, nil
}

// Best returns the model of the epoch with the highest validation log p.
func (r *Run) Best() (*Model, error) {
	m, _, err := loadModel(r.experiment, filepath.Join(r.dir, bestFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the run in %s has no best checkpoint: it holds out no validation rows, or has not finished an epoch", r.dir)
	}
	return m, err
}

// Dir is the directory of the run.
func (r *Run) Dir() string { return r.dir }

// Dataset opens the data set of the run. It refuses data other than those that
// the run was trained on.
func (r *Run) Dataset() (*dataset.Set, error) {
	return r.experiment.OpenDataset(r.dir)
}

// Experiment is what the run trains.
func (r *Run) Experiment() Experiment { return r.experiment }

// History is what training recorded of each epoch.
func (r *Run) History() History {
	return History{Name: r.experiment.Method.String(), Epochs: r.history}
}

// Finished says whether training has come to its end.
func (r *Run) Finished() bool { return r.position.Finished }

// Epochs is the number of epochs done.
func (r *Run) Epochs() int { return r.position.Epoch }

// BestEpoch is the epoch of the highest validation log p, 0 if there is none.
func (r *Run) BestEpoch() int { return r.position.BestEpoch }

// loadModel reads the model of a checkpoint of experiment e, and its place in
// training.
func loadModel(e Experiment, path string) (*Model, position, error) {
	c, err := loadCheckpoint(path)
	if err != nil {
		return nil, position{}, err
	}
	if err := checkMachine(c, e); err != nil {
		return nil, position{}, fmt.Errorf("%s: %w: restore the file from a copy", path, err)
	}
	return newModel(e, c), c.position, nil
}

// newModel returns the model of a checkpoint.
func newModel(e Experiment, c *checkpoint) *Model {
	p := c.state.Parameters
	return &Model{experiment: e, shape: c.position.Shape, parameters: p, engine: &evaluator{parameters: p}, seed: e.Seed}
}

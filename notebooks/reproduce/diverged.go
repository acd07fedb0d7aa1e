package reproduce

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/runs"
)

// Diverged is the error of a result that needs a training which has diverged. It is a
// runs.ErrDiverged.
type Diverged struct {
	Name   string `json:"name"` // of the training
	Seed   uint64 `json:"seed"`
	Epochs int    `json:"epochs"` // done before
	Hash   string `json:"hash"`   // of the experiment
}

func (d *Diverged) Error() string {
	return fmt.Sprintf("training diverged after %d epochs: %s, seed %d", d.Epochs, d.Name, d.Seed)
}

// Is says that it is a runs.ErrDiverged.
func (d *Diverged) Is(target error) bool { return target == runs.ErrDiverged }

func (j Job) divergedFile() string { return j.Dir + ".diverged.json" }

// hash is that of the job's experiment, whatever its number of epochs and wherever the run is
// that it starts from.
func (j Job) hash() string {
	e := j.experiment()
	if j.from != nil {
		e = j.Begin(e, "", 0)
	}
	h := e.Header()
	h.Epochs = 1
	return e.WithHeader(h).Hash()
}

// remember keeps that the job's training has diverged.
func (j Job) remember() error {
	run, err := j.open()
	if err != nil {
		return err
	}
	d := Diverged{Name: j.Name, Seed: j.Seed, Hash: j.hash()}
	if run != nil {
		d.Epochs = run.Epochs()
	}
	return writeJSON(j.divergedFile(), d, "\t")
}

// diverged is how the job's training diverged, or that of the run that it starts from,
// nil if neither did before the epochs that the job has.
func (j Job) diverged() (*Diverged, error) {
	if j.from != nil {
		if d, err := j.from.diverged(); d != nil || err != nil {
			return d, err
		}
	}
	text, err := os.ReadFile(j.divergedFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d Diverged
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("%s: %w: remove it", j.divergedFile(), err)
	}
	if d.Hash != j.hash() || d.Epochs >= j.Experiment.Header().Epochs {
		return nil, nil
	}
	return &d, nil
}

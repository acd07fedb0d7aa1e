package runs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Typed is a run of experiments of one type, with models of one type. A family embeds it in its
// own type of run, beside the model of the last checkpoint.
type Typed[E Experiment, M any] struct {
	*Run
	experiment E
	model      func(E, Snapshot) (M, error)
}

// As is a run whose experiment is of a type, and the model of its last checkpoint as model reads
// it; what says of what the type's runs are, such as "a Boltzmann machine". It takes what Open and
// Train return: where there is no run it returns nil with the error, and of one beside a run both.
func As[E Experiment, M any](run *Run, failure error, what string, model func(E, Snapshot) (M, error)) (typed *Typed[E, M], last M, err error) {
	if run == nil {
		return nil, last, failure
	}
	e, is := run.experiment.(E)
	if !is {
		return nil, last, fmt.Errorf("%s is a run of %v, not of %s: open it by the package of its family", run.dir, run.experiment, what)
	}
	if last, err = model(e, run.snapshot); err != nil {
		return nil, last, fmt.Errorf("%s: %w: restore the file from a copy", filepath.Join(run.dir, checkpointFile), err)
	}
	return &Typed[E, M]{run, e, model}, last, failure
}

// Experiment is what the run trains.
func (t *Typed[E, M]) Experiment() E { return t.experiment }

// Best is the model of the epoch with the best validation measure.
func (t *Typed[E, M]) Best() (M, error) { return t.of(t.Run.Best()) }

// At is the model after an epoch whose checkpoint the experiment keeps, or after the last.
func (t *Typed[E, M]) At(epoch int) (M, error) { return t.of(t.Run.At(epoch)) }

// Checkpoint is the model of a checkpoint by its name: last, best, or the number of an epoch.
func (t *Typed[E, M]) Checkpoint(name string) (M, error) { return t.of(t.Run.Checkpoint(name)) }

func (t *Typed[E, M]) of(s Snapshot, err error) (model M, _ error) {
	if err != nil {
		return model, err
	}
	if model, err = t.model(t.experiment, s); err != nil {
		return model, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", t.dir, err)
	}
	return model, nil
}

// SaveModel writes the model of the last checkpoint, with the experiment that it comes from: a
// file that LoadModel of its family's package reads anywhere.
func (r *Run) SaveModel(w io.Writer) error {
	b, err := MarshalModel(r.experiment, r.snapshot)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// LoadModel reads a model file whose experiment is of a type, by model as As does; what says of what
// the type's models are. Of a file its errors say the name.
func LoadModel[E Experiment, M any](r io.Reader, what string, model func(E, Snapshot) (M, error)) (m M, err error) {
	defer func() {
		if file, ok := r.(*os.File); ok && err != nil {
			err = fmt.Errorf("%s: %w: restore the file from a copy, or save the model again", file.Name(), err)
		}
	}()
	family, s, err := ReadModel(r)
	if err != nil {
		return m, err
	}
	e, is := family.(E)
	if !is {
		return m, fmt.Errorf("a model of %v, not of %s: load it by the package of its family", family, what)
	}
	return model(e, s)
}

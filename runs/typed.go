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
	last       M
	model      func(E, Snapshot) (M, error)
}

// typed is the typed run of what Open or Train returned: nil beside the error if there is no run.
// noun names the type's models in messages.
func typed[E Experiment, M any](run *Run, failure error, noun string, model func(E, Snapshot) (M, error)) (*Typed[E, M], error) {
	if run == nil {
		return nil, failure
	}
	e, is := run.experiment.(E)
	if !is {
		return nil, fmt.Errorf("%s is a run of %v, not of %s: open it by the package of its family", run.dir, run.experiment, noun)
	}
	last, err := model(e, run.snapshot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy", filepath.Join(run.dir, checkpointFile), err)
	}
	return &Typed[E, M]{run, e, last, model}, failure
}

// Model returns the model of the last checkpoint.
func (t *Typed[E, M]) Model() M { return t.last }

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

// loadModel reads a model file whose experiment is of a type. noun names the type's models.
func loadModel[E Experiment, M any](r io.Reader, noun string, model func(E, Snapshot) (M, error)) (m M, err error) {
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
		return m, fmt.Errorf("a model of %v, not of %s: load it by the package of its family", family, noun)
	}
	return model(e, s)
}

package runs

import (
	"fmt"
	"io"
)

// Typed is a run of experiments of one type, with models of one type. A family embeds it in its
// own type of run, beside the model of the last checkpoint.
type Typed[E Experiment, M any] struct {
	*Run
	experiment E
	last       M
	kind       Kind[E, M]
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
	if model, err = t.kind.Model(t.experiment, s); err != nil {
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

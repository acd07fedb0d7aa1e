package kernelext

import (
	"context"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// States of a run in a session, in addition to the states of package runs.
const (
	Paused    = session.Paused    // until Resume
	Stopped   = session.Stopped   // by Stop
	Elsewhere = session.Elsewhere // another program trains it
)

// Status describes a run: its name, state and directory, where it trains and its progress.
type Status = session.Info

// Run is a training run in a session. If Start or Session.Run failed, its methods return that
// error.
type Run struct {
	backend backend
	name    string
	err     error
}

// Err returns the error of Start or Session.Run, or nil.
func (r *Run) Err() error { return r.err }

// Status returns the state and the progress of the run.
func (r *Run) Status() (Status, error) {
	if r.err != nil {
		return Status{}, r.err
	}
	return r.backend.Info(r.name)
}

// Show shows the run in the notebook, below the running cell: progress, curves and samples, kept up
// to date after the cell has ended. It prints the error, if any.
func (r *Run) Show() {
	if err := r.do(r.backend.Show); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Wait returns the run when it has ended. It returns an error if the run failed or ctx is
// cancelled, which does not end the run. A stopped run is not an error. The package of the run's
// family opens its model, for example hm.OpenRun(run.Dir()).
func (r *Run) Wait(ctx context.Context) (*runs.Run, error) {
	if err := r.do(func(run string) error { return r.backend.Wait(ctx, run) }); err != nil {
		return nil, err
	}
	return r.open()
}

// History returns what training has recorded so far.
func (r *Run) History() (runs.History, error) {
	run, err := r.open()
	if err != nil {
		return runs.History{}, err
	}
	h := run.History()
	return h, h.Err
}

// Save returns the run in its current state: a training run saves a checkpoint after the current
// step and continues. The package of its family opens the model, for example
// boltzmann.OpenRun(run.Dir()).
func (r *Run) Save() (*runs.Run, error) {
	if err := r.do(r.backend.Save); err != nil {
		return nil, err
	}
	return r.open()
}

// Model returns the Helmholtz machine in its current state, after saving a checkpoint as Save does.
// For a run that is not training, it returns the model of the last checkpoint.
func (r *Run) Model() (*hm.Model, error) {
	saved, err := r.Save()
	if err != nil {
		return nil, err
	}
	run, err := hm.OpenRun(saved.Dir())
	if err != nil {
		return nil, err
	}
	return run.Model, nil
}

// open opens the directory of the run.
func (r *Run) open() (*runs.Run, error) {
	status, err := r.Status()
	if err != nil {
		return nil, err
	}
	return runs.Open(status.Dir)
}

// Stop ends training within a step, with a checkpoint, and returns once it has ended. Resume
// continues it.
func (r *Run) Stop() error { return r.do(r.backend.Stop) }

// Pause interrupts training within a step, with a checkpoint, until Resume. The next run of the
// queue trains meanwhile, and Wait keeps waiting.
func (r *Run) Pause() error { return r.do(r.backend.Pause) }

// Resume continues a run that was paused, stopped, or interrupted by the end of its session, as if
// it had never ended. A paused run is the next to train.
func (r *Run) Resume() error { return r.do(r.backend.Resume) }

func (r *Run) do(action func(run string) error) error {
	if r.err != nil {
		return r.err
	}
	return action(r.name)
}

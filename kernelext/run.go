package kernelext

import (
	"context"
	"fmt"
	"os"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// States of a run in a session, beside those of package runs.
const (
	Paused    = session.Paused    // until Resume
	Stopped   = session.Stopped   // by Stop
	Elsewhere = session.Elsewhere // another program trains it
)

// Status describes a run: its name, state and directory, where it trains and how far it has come.
type Status = session.Info

// Run is a run of training in a session. Where Start or Session.Run failed, its
// methods return the error.
type Run struct {
	backend backend
	name    string
	err     error
}

// Err is what was wrong with Start or Session.Run, nil if nothing was.
func (r *Run) Err() error { return r.err }

// Status says what the run does and how far it has come.
func (r *Run) Status() (Status, error) {
	if r.err != nil {
		return Status{}, r.err
	}
	return r.backend.Info(r.name)
}

// Show shows the run in the notebook, below the cell that is running: progress,
// curves and samples, kept up to date after the cell has ended. It prints what
// was wrong, if anything.
func (r *Run) Show() {
	if err := r.do(r.backend.Show); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// Wait returns the run when it has ended, or an error when it failed or ctx
// has ended, which does not end the run. A run that was stopped is no error. Its
// model is opened by the package of its family, as by hm.OpenRun(run.Dir()).
func (r *Run) Wait(ctx context.Context) (*runs.Run, error) {
	if err := r.do(func(run string) error { return r.backend.Wait(ctx, run) }); err != nil {
		return nil, err
	}
	return r.open()
}

// History is what training has recorded so far.
func (r *Run) History() (runs.History, error) {
	run, err := r.open()
	if err != nil {
		return runs.History{}, err
	}
	h := run.History()
	return h, h.Err
}

// Save returns the run as training has it: one that trains saves a checkpoint after the
// step under way and goes on. The package of its family opens the model, as
// boltzmann.OpenRun(run.Dir()) does.
func (r *Run) Save() (*runs.Run, error) {
	if err := r.do(r.backend.Save); err != nil {
		return nil, err
	}
	return r.open()
}

// Model is the Helmholtz machine as training has it, of which a checkpoint is saved as
// Save does. That of a run that does not train is of the last checkpoint.
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

// Stop ends training within a step, with a checkpoint, and returns when it has
// ended. Resume continues it.
func (r *Run) Stop() error { return r.do(r.backend.Stop) }

// Pause ends training within a step, with a checkpoint, until Resume. The next
// run of the queue trains meanwhile, and Wait waits on.
func (r *Run) Pause() error { return r.do(r.backend.Pause) }

// Resume continues a run that was paused, stopped, or interrupted by the end of
// its session, as if it had never ended. A paused run is the next to train.
func (r *Run) Resume() error { return r.do(r.backend.Resume) }

func (r *Run) do(action func(run string) error) error {
	if r.err != nil {
		return r.err
	}
	return action(r.name)
}

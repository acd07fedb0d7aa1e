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
	Stopped   = session.Stopped   // by Stop
	Elsewhere = session.Elsewhere // another program trains it
)

// Status describes a run: its name, state and directory, where it trains and its progress.
type Status = session.Info

// Run is a training run in a session. If Start or Session.Run failed, all methods of the returned Run return that
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

// Show displays the progress, the curves and the samples of the run below the running cell, and keeps them up to
// date after the cell has ended. It prints errors to standard error; in the kernel the cell then fails at its end.
func (r *Run) Show() {
	if err := r.act(session.Show); err != nil {
		fmt.Fprintln(os.Stderr, err)
		r.backend.Fail(err)
	}
}

// Wait waits until the run has ended, and returns it. It returns an error if the run failed or was stopped before
// it trained, but not if it was stopped later. It also returns an error if ctx is cancelled; the run then
// continues. The package of the run's family opens the model of the last checkpoint, for example
// hm.OpenRun(run.Dir()).
func (r *Run) Wait(ctx context.Context) (*runs.Run, error) {
	if r.err != nil {
		return nil, r.err
	}
	if err := r.backend.Wait(ctx, r.name); err != nil {
		return nil, err
	}
	return r.open()
}

// History returns what training has recorded so far. It returns an error if the run has no checkpoint yet.
func (r *Run) History() (runs.History, error) {
	run, err := r.open()
	if err != nil {
		return runs.History{}, err
	}
	h := run.History()
	return h, h.Err
}

// Save makes a run that is training save a checkpoint after the current step, and returns the run with this
// checkpoint. Training continues. The package of its family opens the model, for example
// boltzmann.OpenRun(run.Dir()).
func (r *Run) Save() (*runs.Run, error) {
	if err := r.act("save"); err != nil {
		return nil, err
	}
	return r.open()
}

// Model saves a checkpoint as Save does, and returns the Helmholtz machine in it. If the run is not training,
// Model returns the machine in the last checkpoint.
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

// open opens the directory of the run, which needs a checkpoint.
func (r *Run) open() (*runs.Run, error) {
	status, err := r.Status()
	if err != nil {
		return nil, err
	}
	run, err := runs.Open(status.Dir)
	if err == nil || status.Step > 0 {
		return run, err
	}
	switch status.State {
	case session.Waiting:
		return nil, fmt.Errorf("the run %s is waiting and has not trained yet: wait until it trains", r.name)
	case Stopped:
		return nil, fmt.Errorf("the run %s is %s and has not trained yet: resume it first", r.name, status.State)
	}
	return nil, err
}

// Stop ends training with a checkpoint, at the latest after the current step, and then returns. Resume continues
// the run.
func (r *Run) Stop() error { return r.act("stop") }

// Resume continues a run that was stopped, or interrupted by the end of its session. The result is the
// same as without the interruption.
func (r *Run) Resume() error { return r.act("resume") }

func (r *Run) act(action string) error {
	if r.err != nil {
		return r.err
	}
	return r.backend.Act(action, r.name)
}

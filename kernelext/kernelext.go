// Package kernelext provides a session: experiments keep training after the cell that started them
// has ended.
//
// In a notebook with the kernel "Go (Helmholtz)", the session belongs to the kernel:
//
//	session := kernelext.Open()
//	session.Start("mnist", experiment).Show()
//
// returns immediately and shows the progress of training, even after the cell has ended. Any later
// cell continues with
//
//	run := kernelext.Open().Run("mnist")
//	model, err := run.Model()
//
// or, for other families than Helmholtz machines, with
//
//	saved, err := run.Save()
//	rbm, err := boltzmann.OpenRun(saved.Dir())
//
// The session cannot open a data set that a cell made from rows, so the cell stores it in the directory of the run:
//
//	err := runs.Claim(experiment, set, "runs/own")
//	session.Start("own", experiment)
//
// Outside the kernel, for example in a program run by go run, the session belongs to the program
// and ends with it; instead of displays it prints lines on standard error. In both cases runs are
// run directories in the folder runs of the working directory, so each session finds the runs of
// earlier ones.
package kernelext

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Session holds runs by name.
type Session struct{ backend backend }

// backend is a session in this process or in the process of the kernel.
type backend interface {
	Start(run string, e runs.Experiment) error
	Info(run string) (session.Info, error)
	Runs() ([]session.Info, error)
	Wait(ctx context.Context, run string) error
	Act(action, run string) error // one of session.Actions, or show
	// Fail makes the running cell fail, if there is one.
	Fail(err error)
}

// Open returns the session of the kernel, or the session of this program if there is no kernel.
func Open() *Session {
	if dir := os.Getenv(session.Environment); dir != "" {
		return &Session{newRemote(dir)}
	}
	return &Session{inProcess()}
}

// inProcess returns the session of this program, always the same one. In a notebook cell of GoNB's
// own kernel it warns that the session ends with the cell.
var inProcess = sync.OnceValue(func() backend {
	if os.Getenv("GONB_PIPE") != "" { // set by GoNB for the programs of cells
		fmt.Fprintln(os.Stderr, `kernelext: this kernel keeps no session, so a run ends with the cell that starts it: switch to the kernel "Go (Helmholtz)", or end the cell with Wait`)
	}
	return local{session.New(session.Folder, nil)}
})

// Start queues an experiment under a name and returns immediately. If a run of this name is being
// stopped, Start first waits until it has stopped. The experiment trains after the runs queued
// before it, in the directory runs/NAME. A run with the same name and experiment resumes where it
// stopped, or stays as it is if it is finished. Data made by FromRows must first be stored
// in this directory by runs.Claim. If Start fails, the Run remembers the error, and in the kernel the cell fails at its end.
func (s *Session) Start(name string, e runs.Experiment) *Run {
	err := fmt.Errorf("the run %s: the experiment is nil: make one, such as hm.RWS().Experiment(machine, set)", name)
	if e != nil {
		err = s.backend.Start(name, e)
	}
	if err != nil {
		s.backend.Fail(err)
	}
	return &Run{s.backend, name, err}
}

// Run returns the run of this name, started in this session or in an earlier one. If there is none, Err and all
// other methods of the Run return the error.
func (s *Session) Run(name string) *Run {
	_, err := s.backend.Info(name)
	return &Run{s.backend, name, err}
}

// Runs describes all runs, sorted by name.
func (s *Session) Runs() ([]Status, error) { return s.backend.Runs() }

// local is a session in this process.
type local struct{ *session.Session }

func (local) Fail(error) {}

func (l local) Runs() ([]session.Info, error) { return l.Session.Runs(), nil }

// Act prints one line in place of a notebook's display.
func (l local) Act(action, run string) error {
	if action != session.Show {
		return session.Actions[action](l.Session, run)
	}
	i, err := l.Info(run)
	if err == nil {
		fmt.Fprintf(os.Stderr, "kernelext: %s is %s, epoch %d of %d, in %s\n", i.Name, i.Does(), i.Epoch, i.Epochs, i.Dir)
	}
	return err
}

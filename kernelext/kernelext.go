// Package kernelext is a session in which experiments go on after the cell that
// started them has ended, and models and data sets are kept from cell to cell.
//
// In a notebook with the kernel "Go (Helmholtz)" the session is the kernel's:
//
//	session := kernelext.Open()
//	session.Start("mnist", experiment).Show()
//
// returns at once and shows how training goes, also when the cell has ended. Any
// later cell continues with
//
//	run := kernelext.Open().Run("mnist")
//	model, err := run.Model()
//
// or, of another family than that of Helmholtz machines, with
//
//	saved, err := run.Save()
//	rbm, err := boltzmann.OpenRun(saved.Dir())
//
// No later cell can open a data set that a cell made from rows, so the session keeps
// it:
//
//	session.KeepData("rows", set)
//	session.Start("own", rws.Experiment(machine, set))
//
// Elsewhere, as in a program that go run runs, the session is that of the
// program, and ends with it; what it showed in a notebook it says in a line on
// standard error. Runs are run directories in the folder runs of the working
// directory in either case, so each session finds those of the ones before.
package kernelext

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Session is a set of runs, models and data sets under names.
type Session struct{ backend backend }

// backend is a session in this process or in the kernel's.
type backend interface {
	Start(run string, e runs.Experiment) error
	Info(run string) (session.Info, error)
	Runs() ([]session.Info, error)
	Wait(ctx context.Context, run string) error
	Stop(run string) error
	Pause(run string) error
	Resume(run string) error
	Save(run string) error
	Show(run string) error
	Keep(name string, model []byte) error
	Model(name string) ([]byte, error)
	KeepData(name string, set *dataset.Set) error
	Data(name string) (*dataset.Set, error)
}

// Open returns the session of the kernel, or that of this program where there
// is no kernel.
func Open() *Session {
	if dir := os.Getenv(session.Environment); dir != "" {
		return &Session{newRemote(dir)}
	}
	return &Session{inProcess()}
}

// inProcess returns the session of this program, always the same one. In a notebook cell of GoNB's own
// kernel it warns that the session ends with the cell.
var inProcess = sync.OnceValue(func() backend {
	if os.Getenv("GONB_PIPE") != "" { // set by GoNB for the programs of cells
		fmt.Fprintln(os.Stderr, `kernelext: this kernel keeps no session, so a run ends with the cell that starts it: change to the kernel "Go (Helmholtz)", or end the cell with Wait`)
	}
	return local{session.New(session.Folder, nil)}
})

// Start puts an experiment into the session's queue, under a name, and returns
// at once, or when the run, if it is being stopped, has. It trains, once those
// before it have, into the directory runs/NAME. A run of the same name and
// experiment goes on where it stopped, or stays as it is where it is finished. Data
// that FromRows made have to be kept first, by KeepData. The Run remembers what was
// wrong.
func (s *Session) Start(name string, e runs.Experiment) *Run {
	return &Run{s.backend, name, s.backend.Start(name, e)}
}

// Run returns the run of a name, of this session or of an earlier one.
func (s *Session) Run(name string) *Run {
	_, err := s.backend.Info(name)
	return &Run{s.backend, name, err}
}

// Runs describes all runs, by name.
func (s *Session) Runs() ([]Status, error) { return s.backend.Runs() }

// KeepModel keeps a model under a name until the session ends, or the line %hm drop
// forgets it; one that was kept under the name is forgotten.
func (s *Session) KeepModel(name string, m *hm.Model) error {
	var b bytes.Buffer
	if err := m.Save(&b); err != nil {
		return fmt.Errorf("model %s: %w", name, err)
	}
	return s.backend.Keep(name, b.Bytes())
}

// Model returns the model that was kept under a name.
func (s *Session) Model(name string) (*hm.Model, error) {
	b, err := s.backend.Model(name)
	if err != nil {
		return nil, err
	}
	return hm.LoadModel(bytes.NewReader(b))
}

// KeepData keeps a data set under a name until the session ends, or the line
// %hm drop forgets it; one that was kept under the name is forgotten. Experiments
// on a set that FromRows made can be started once it is kept. A run holds such data
// in its directory from its start, and needs the session for them no more.
func (s *Session) KeepData(name string, set *dataset.Set) error {
	if set == nil {
		return fmt.Errorf("data %s: there is no set", name)
	}
	return s.backend.KeepData(name, set)
}

// Data returns the data set that was kept under a name.
func (s *Session) Data(name string) (*dataset.Set, error) { return s.backend.Data(name) }

// local is a session in this process.
type local struct{ *session.Session }

func (l local) Runs() ([]session.Info, error) { return l.Session.Runs(), nil }

// Show says in a line what a notebook would show.
func (l local) Show(run string) error {
	i, err := l.Info(run)
	if err == nil {
		fmt.Fprintf(os.Stderr, "kernelext: %s is %s, epoch %d of %d, in %s\n", i.Name, i.Does(), i.Epoch, i.Epochs, i.Dir)
	}
	return err
}

// Package session holds the runs that outlive a cell, each under a name. They train in the background, one after another.
//
// Runs are ordinary run directories: the next session finds them, including the waiting ones, with the data that they need.
package session

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Session is a set of runs in a folder. Its methods may be called from
// several goroutines.
type Session struct {
	folder  string
	observe func(run string) runs.Recorder
	ended   func(run string)

	mu      sync.Mutex
	closed  bool
	runs    map[string]*run
	queue   []*run // waiting runs, the next one first
	current *run   // the training run
	idle    chan struct{}
	opened  map[string]weak.Pointer[dataset.Set] // data sets in use by runs, by fingerprint
}

// New returns a session whose runs are in a folder, each in a subdirectory with its name. observe,
// which may be nil, returns a recorder for the training of a run.
func New(folder string, observe func(run string) runs.Recorder) *Session {
	if observe == nil {
		observe = func(string) runs.Recorder { return nil }
	}
	return &Session{
		folder: folder, observe: observe, ended: func(string) {},
		runs: map[string]*run{}, opened: map[string]weak.Pointer[dataset.Set]{},
	}
}

// OnEnd sets a function that is called with the name of a run that has stopped training or waiting, even if the run
// ended before its recorders began. Call OnEnd before the first run.
func (s *Session) OnEnd(ended func(run string)) { s.ended = ended }

// validName matches the names of runs that are at most longest bytes long. A
// name of a run is also the name of its directory.
var validName = regexp.MustCompile(`^[\pL\pN][\pL\pN._+-]{0,99}$`)

// longest is the size in bytes of the longest name of a directory.
const longest = 255

// CheckName refuses an invalid name. what is the kind of the thing that it names.
func CheckName(what, name string) error {
	if len(name) > longest || !validName.MatchString(name) {
		return fmt.Errorf("the name %q for a %s: use up to 100 letters, digits and . _ + -, at most %d bytes, and begin with a letter or digit", name, what, longest)
	}
	return nil
}

// Start queues an experiment under a name and returns immediately. If a run of this name is being
// stopped, Start first waits until it has stopped. A run of this name that has ended resumes where
// it stopped, if its experiment is the same.
func (s *Session) Start(name string, e runs.Experiment) error {
	if err := CheckName("run", name); err != nil {
		return err
	}
	set, err := s.dataOf(name, e)
	if err != nil {
		return err
	}
	if e, err = runs.Resolve(e, set, s.Dir(name)); err != nil {
		return err
	}
	s.settle(name)
	return s.enqueue(name, e, set)
}

// settle waits while a run is being stopped, so that the next request takes effect.
func (s *Session) settle(name string) {
	s.mu.Lock()
	idle := s.idle
	r := s.runs[name]
	halting := r != nil && r.halting
	s.mu.Unlock()
	if halting {
		<-idle
	}
}

// Dir returns the directory of a run.
func (s *Session) Dir(name string) string { return filepath.Join(s.folder, name) }

// enqueue puts a run at the end of the queue.
func (s *Session) enqueue(name string, e runs.Experiment, set *dataset.Set) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosed
	}
	r := s.runs[name]
	if r != nil && ended(r.state) {
		r = nil // a new run resumes from its directory
	}
	if r != nil && r.experiment.Hash() != e.Hash() {
		return fmt.Errorf("the run %s of another experiment is %s: choose another name, or stop it", name, r.state)
	}
	if r != nil && r.state == Running {
		if differences := runs.Differences(e, r.experiment); len(differences) > 0 {
			return fmt.Errorf("the run %s trains with other settings (%s): stop it, and start it again", name, strings.Join(differences, "; "))
		}
		return nil
	}
	// The next session has to know about a waiting run, too.
	if err := runs.Claim(e, set, s.Dir(name)); err != nil {
		return fmt.Errorf("the run %s cannot be started: %w; or choose another name for the run", name, err)
	}
	if r != nil {
		r.experiment = e // it may keep other checkpoints and measure differently
		return nil
	}
	r = &run{name: name, experiment: e, set: set, state: Waiting, done: make(chan struct{})}
	s.runs[name], s.queue = r, append(s.queue, r)
	s.advance()
	return nil
}

var errClosed = errors.New("the session has ended")

// advance starts the next run if none is training. The caller holds the lock.
func (s *Session) advance() {
	if s.current != nil || len(s.queue) == 0 || s.closed {
		return
	}
	r := s.queue[0]
	s.queue = s.queue[1:]
	s.current, s.idle = r, make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	r.state, r.cancel = Running, cancel
	go s.train(ctx, r, s.idle)
}

// train trains a run and then starts the next one.
func (s *Session) train(ctx context.Context, r *run, idle chan struct{}) {
	err := r.train(ctx, s)
	defer s.ended(r.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cancel()
	r.halting = false
	var taken *runs.TakenError
	switch {
	case err == nil:
		r.state = Finished
	case errors.As(err, &taken): // another program has started it since it was queued
		r.state, r.err = Elsewhere, err
		delete(s.runs, r.name) // its directory has its further state
	case errors.Is(err, context.Canceled):
		r.state = Stopped
	default:
		r.state, r.err = Failed, err
	}
	r.release()
	s.current = nil
	close(idle)
	s.advance()
}

// Save makes a training run save a checkpoint after the current step. It returns once the
// checkpoint is saved, or with the error that ended the run.
func (s *Session) Save(name string) error {
	if _, err := s.Info(name); err != nil {
		return err
	}
	s.mu.Lock()
	r, idle := s.runs[name], s.idle
	training := r != nil && r.state == Running
	s.mu.Unlock()
	if !training {
		return nil
	}
	select {
	case <-r.progress.checkpoint():
		return nil
	case <-idle:
		return s.failure(r)
	}
}

// failure returns the error that ended a run, or nil.
func (s *Session) failure(r *run) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.err
}

// Stop ends a run with a checkpoint. It returns once the run has ended, with an error if the
// checkpoint failed. Resume continues the run.
func (s *Session) Stop(name string) error {
	info, err := s.Info(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	r := s.runs[name]
	if r == nil || ended(r.state) {
		s.mu.Unlock()
		if info, err = s.Info(name); err != nil {
			return err
		}
		if info.State == Elsewhere {
			return fmt.Errorf("the run %s is %s: stop it there", name, info.Does())
		}
		return fmt.Errorf("the run %s is %s: there is nothing to stop", name, info.State)
	}
	if r.state == Running {
		r.halting = true
		r.cancel()
		idle := s.idle
		s.mu.Unlock()
		<-idle
		return s.failure(r)
	}
	defer s.ended(name)
	defer s.mu.Unlock()
	s.queue = slices.DeleteFunc(s.queue, func(q *run) bool { return q == r })
	r.state = Stopped
	r.release()
	return nil
}

// Resume continues a run of this or of an earlier session that was stopped or interrupted.
func (s *Session) Resume(name string) error {
	s.settle(name)
	info, err := s.Info(name)
	if err != nil {
		return err
	}
	switch info.State {
	case Finished:
		return fmt.Errorf("the run %s is finished: there is nothing to resume", name)
	case Elsewhere:
		return fmt.Errorf("the run %s is %s: stop it there, or wait for its end", name, info.Does())
	case Running, Waiting:
		return nil
	}
	e, err := runs.ExperimentIn(s.Dir(name))
	if err != nil {
		return err
	}
	set, err := s.dataOf(name, e)
	if err != nil {
		return err
	}
	return s.enqueue(name, e, set)
}

// Wait returns when a run has ended, with the error that ended it, or when ctx is cancelled.
func (s *Session) Wait(ctx context.Context, name string) error {
	for {
		s.mu.Lock()
		r := s.runs[name]
		var here runs.State
		if r != nil {
			here = r.state
		}
		s.mu.Unlock()
		info, err := s.Info(name)
		switch {
		case err != nil:
			return err
		case info.State == Elsewhere:
			return fmt.Errorf("the run %s is %s: wait for it there", name, info.Does())
		case r != nil && !ended(here):
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-r.done:
				return s.failure(r)
			}
		case r != nil && info.State == here:
			return s.failure(r)
		case info.State == Running, info.State == Waiting: // resumed meanwhile
		case info.State != Finished:
			return fmt.Errorf("the run %s was %s: resume it first", name, info.State)
		default:
			return nil
		}
	}
}

// Close stops the training run with a checkpoint. Waiting runs are not started. The first Close returns the runs that
// it kept from finishing.
func (s *Session) Close() (left []Info) {
	s.mu.Lock()
	under := slices.Clone(s.queue)
	if s.current != nil {
		s.current.cancel()
		under = slices.Insert(under, 0, s.current)
	}
	if s.closed {
		under = nil
	}
	s.closed = true
	idle := s.idle
	s.mu.Unlock()
	if idle != nil {
		<-idle
	}
	for _, r := range under {
		if i, _ := s.described(r.name, s.Dir(r.name)); i.State != Finished {
			left = append(left, i)
		}
	}
	return left
}

// Environment is the environment variable with the directory through which a cell reaches the
// session of its kernel. The directory holds a socket, SocketFile, and in TokenFile the token that
// requests on the socket must present.
const (
	Environment = "HELMHOLTZ_SESSION"
	SocketFile  = "session.sock"
	TokenFile   = "token"
)

// Name and Directory are the parameters of a cell's request: the run, and the working directory of
// the cell, to which the paths of the data of an experiment are relative.
const (
	Name      = "name"
	Directory = "directory"
)

// Show is the action that shows a run. A session does not have it.
const Show = "show"

// Actions are the actions on a run by the names under which cells ask for them.
var Actions = map[string]func(s *Session, run string) error{
	"stop": (*Session).Stop, "resume": (*Session).Resume, "save": (*Session).Save,
}

// Folder is the folder of runs, relative to the working directory, which is the folder of the
// notebook.
const Folder = "runs"

// experimentFile is the file with the experiment in a run directory.
const experimentFile = "experiment.toml"

package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The states of a run: the states of package runs, and the session's own.
const (
	Waiting     = runs.Waiting     // in the queue
	Running     = runs.Running     // it is training
	Failed      = runs.Failed      // training returned an error
	Finished    = runs.Finished    // the last epoch is done
	Interrupted = runs.Interrupted // its session or program ended before training did

	Stopped   runs.State = "stopped" // by Stop
	Elsewhere runs.State = "training in another program"
)

func ended(s runs.State) bool {
	return s == Stopped || s == Failed || s == Finished || s == Elsewhere
}

// run is a run of this session.
type run struct {
	name string

	// Session.mu guards these fields. The experiment of a training run does not change.
	experiment runs.Experiment
	set        *dataset.Set // nil once the run has ended
	state      runs.State
	err        error
	cancel     context.CancelFunc
	halting    bool          // it has been cancelled and is saving its checkpoint
	done       chan struct{} // closed when the run has ended

	progress progress
}

// release frees the data of a run that has ended. The caller holds the lock.
func (r *run) release() {
	close(r.done)
	r.set = nil // it may be large, and can be opened again
}

// Info describes a run.
type Info struct {
	Name  string     `json:"name"`
	State runs.State `json:"state"`
	Dir   string     `json:"dir"`
	Host  string     `json:"host,omitempty"` // where it is training, if Elsewhere
	Error string     `json:"error,omitempty"`
	// Method is the method and its settings.
	Method string `json:"method"`
	Epochs int    `json:"epochs"` // planned epochs
	Epoch  int    `json:"epoch"`  // epochs done
	Step   int    `json:"step"`   // steps done, or 0 if unknown
	// Objective is the measure that training improves. Value is its mean over the current or the
	// last epoch, or nil if there is none.
	Objective runs.Measure `json:"objective"`
	Value     *float64     `json:"value,omitempty"`
	// Warning says that the last epoch is far from the baseline, and gives a remedy. It is empty
	// if there is no problem.
	Warning string `json:"warning,omitempty"`
}

// train trains the run. A panic ends the run, not the kernel.
func (r *run) train(ctx context.Context, s *Session) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("training panicked: %v", p)
		}
	}()
	s.mu.Lock()
	set := r.set
	s.mu.Unlock()
	_, err = runs.Train(ctx, r.experiment, set, s.Dir(r.name), &r.progress, s.observe(r.name)) // which may be nil
	return err
}

// Info returns the state of a run. Info knows the runs of this session, and all runs whose
// directories are in the folder of the session.
func (s *Session) Info(name string) (Info, error) {
	if err := CheckName("run", name); err != nil {
		return Info{}, err
	}
	i, err := s.info(name, absolute(s.Dir(name)))
	if errors.Is(err, os.ErrNotExist) {
		err = s.noRun(name)
	}
	return i, err
}

// absolute returns an absolute path, or the path as it is if the working directory is unknown.
func absolute(path string) string {
	if found, err := filepath.Abs(path); err == nil {
		return found
	}
	return path
}

// info is like Info, for a run with the directory dir.
func (s *Session) info(name, dir string) (Info, error) {
	i, here := s.described(name, dir)
	var taken *runs.TakenError
	elsewhere := !i.trains() && errors.As(runs.Taken(dir), &taken)
	if elsewhere {
		i, here = s.described(name, dir) // it may have been resumed here meanwhile
	}
	was := i.State
	switch {
	case i.trains():
		if i.Step == 0 { // it has not begun in this session
			i.recorded()
		}
		i.State = was
		return i, nil
	case here && !elsewhere:
		if _, err := os.Stat(filepath.Join(dir, experimentFile)); errors.Is(err, os.ErrNotExist) {
			s.forget(name)
			return Info{}, err
		}
		i.recorded()
		return i, nil
	}
	e, err := runs.ExperimentIn(dir)
	if err != nil {
		return Info{}, err
	}
	i = Info{Name: name, State: Interrupted, Dir: dir, Method: e.String(), Epochs: e.Header().Epochs, Objective: e.Measures()[0]}
	i.recorded()
	if elsewhere {
		i.State, i.Host = Elsewhere, taken.Host
	}
	return i, nil
}

// forget forgets a run that has ended, because its directory was removed.
func (s *Session) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[name]; r != nil && ended(r.state) {
		delete(s.runs, name)
	}
}

// trains reports whether the run is training or will train.
func (i Info) trains() bool { return i.State == Running || i.State == Waiting }

// described describes a run from this session's own records, and reports whether the session has
// any.
func (s *Session) described(name, dir string) (i Info, here bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.runs[name]
	if r == nil {
		return i, false
	}
	i = Info{Name: name, State: r.state, Dir: dir, Method: r.experiment.String(), Epochs: r.experiment.Header().Epochs, Objective: r.experiment.Measures()[0]}
	if r.err != nil {
		i.Error = r.err.Error()
	}
	r.progress.describe(&i)
	return i, true
}

// Does returns what the run is doing and, if another program trains it, where.
func (i Info) Does() string {
	if i.Host == "" {
		return string(i.State)
	}
	return string(i.State) + " on " + i.Host
}

// recorded updates a description from the directory of the run, which another program may have changed since the run
// trained in this session.
func (i *Info) recorded() {
	run, err := runs.Open(i.Dir)
	if err != nil {
		return
	}
	further := run.Epochs() > i.Epoch
	i.Epochs = run.Experiment().Header().Epochs
	if further || i.Step == 0 {
		i.Epoch, i.Warning = run.Epochs(), run.Warning()
		if last := run.Last(); last.Epoch > 0 {
			i.Step, i.Value = last.Step, valueOf(last.Train, i.Objective)
		}
	}
	switch {
	case run.Finished():
		i.State, i.Error = Finished, ""
	case i.State == Interrupted && run.Imported():
		i.State = runs.Imported
	case i.State == Finished, further && ended(i.State): // it was extended, or another program trained it
		i.State, i.Error = Interrupted, ""
	}
}

// noRun returns the error for a name without a run.
func (s *Session) noRun(name string) error {
	folder, runs := absolute(s.folder), s.names()
	if len(runs) == 0 {
		return fmt.Errorf("there is no run %q and no other in %s: session.Start starts one", name, folder)
	}
	return fmt.Errorf("there is no run %q%s: the runs in %s are %s", name, names.Meant(name, runs...), folder, strings.Join(runs, ", "))
}

// names returns the names of all runs.
func (s *Session) names() []string {
	known := map[string]bool{}
	s.mu.Lock()
	for name, r := range s.runs {
		if r.state == Running || r.state == Waiting { // others may have been removed
			known[name] = true
		}
	}
	s.mu.Unlock()
	entries, _ := os.ReadDir(s.folder) // there is no folder before the first run
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(s.folder, e.Name(), experimentFile)); err == nil && validName.MatchString(e.Name()) {
			known[e.Name()] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// Runs describes all runs, sorted by name. A run that cannot be read is Failed with the error.
func (s *Session) Runs() []Info {
	var infos []Info
	for _, name := range s.names() {
		dir := absolute(s.Dir(name))
		i, err := s.info(name, dir)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			i = Info{Name: name, State: Failed, Dir: dir, Error: err.Error()}
		}
		infos = append(infos, i)
	}
	return infos
}

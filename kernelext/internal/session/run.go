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
	"github.com/helmholtz-go/helmholtz/runs"
)

// The states of a run: those of package runs, and those of a session.
const (
	Waiting     = runs.Waiting     // in the queue
	Running     = runs.Running     // it trains
	Failed      = runs.Failed      // training returned an error
	Finished    = runs.Finished    // the last epoch is done
	Interrupted = runs.Interrupted // an earlier session or program ended before it did

	Paused    runs.State = "paused"  // until Resume
	Stopped   runs.State = "stopped" // by Stop
	Elsewhere runs.State = "training in another program"
)

func ended(s runs.State) bool {
	return s == Stopped || s == Failed || s == Finished || s == Elsewhere
}

// run is a run of this session.
type run struct {
	name string

	// Session.mu guards these. The experiment of a run that trains stays as it is.
	experiment runs.Experiment
	set        *dataset.Set // nil when the run has ended
	state      runs.State
	then       runs.State // what the run is when it has been cancelled
	err        error
	cancel     context.CancelFunc
	halting    bool          // it has been cancelled, and saves its checkpoint
	done       chan struct{} // closed when the run has ended

	progress progress
}

// release lets go of a run that has ended. The caller holds the lock.
func (r *run) release() {
	if ended(r.state) {
		close(r.done)
		r.set = nil // it may be large, and lies with the run or where it was
	}
}

// Info describes a run.
type Info struct {
	Name  string     `json:"name"`
	State runs.State `json:"state"`
	Dir   string     `json:"dir"`
	Host  string     `json:"host,omitempty"` // where it trains, if Elsewhere
	Error string     `json:"error,omitempty"`
	// Method names the method and its settings.
	Method string `json:"method"`
	Epochs int    `json:"epochs"` // epochs there will be
	Epoch  int    `json:"epoch"`  // epochs done
	Step   int    `json:"step"`   // steps done, 0 if it is not known
	// Objective is the measure that training improves, and Value its mean over the
	// epoch under way or the last one, nil if there is none.
	Objective runs.Measure `json:"objective"`
	Value     *float64     `json:"value,omitempty"`
	// Warning says that the last epoch is far from the baseline, and what to do; it
	// is empty where it is not.
	Warning string `json:"warning,omitempty"`
}

// train trains the run. A panic ends the run, not the kernel.
func (r *run) train(ctx context.Context, s *Session) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("training panicked: %v", p)
		}
	}()
	recorders := []runs.Recorder{&r.progress}
	if o := s.observe(r.name); o != nil {
		recorders = append(recorders, o)
	}
	s.mu.Lock()
	set := r.set
	s.mu.Unlock()
	_, err = runs.Train(ctx, r.experiment, set, s.Dir(r.name), recorders...)
	return err
}

// Info returns what a run does. It knows the runs of this session and those
// whose directories are in its folder.
func (s *Session) Info(name string) (Info, error) {
	if err := checkName("run", name); err != nil {
		return Info{}, err
	}
	dir, err := filepath.Abs(s.Dir(name))
	if err != nil {
		return Info{}, err
	}
	i, err := s.info(name, dir)
	if errors.Is(err, os.ErrNotExist) {
		err = s.noRun(name)
	}
	return i, err
}

// info is Info of a run whose directory is dir.
func (s *Session) info(name, dir string) (Info, error) {
	i, here := s.described(name, dir)
	var taken *runs.TakenError
	elsewhere := !i.trains() && errors.As(runs.Taken(dir), &taken)
	if elsewhere {
		i, here = s.described(name, dir) // it may have been resumed here since
	}
	if i.trains() {
		if i.Step == 0 { // it has not begun in this session
			i.recorded()
		}
		return i, nil
	}
	if here && !elsewhere {
		i.since()
		return i, nil
	}
	e, err := runs.ExperimentIn(dir)
	if err != nil {
		return Info{}, err
	}
	i = Info{Name: name, State: Interrupted, Dir: dir, Method: e.String(), Epochs: e.Header().Epochs, Objective: e.Measures()[0]}
	if i.recorded() {
		i.State = Finished
	}
	if elsewhere {
		i.State, i.Host = Elsewhere, taken.Host
	}
	return i, nil
}

// trains says whether the run trains, or will.
func (i Info) trains() bool { return i.State == Running || i.State == Waiting }

// described is what this session itself knows of a run, if it has had it.
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

// Does says what the run does, and where if another program trains it.
func (i Info) Does() string {
	if i.Host == "" {
		return string(i.State)
	}
	return string(i.State) + " on " + i.Host
}

// recorded adds the progress that the directory of the run has recorded, and
// says whether the run is finished.
func (i *Info) recorded() (finished bool) {
	run, err := runs.Open(i.Dir)
	if err != nil {
		return false
	}
	i.takeOver(run)
	return run.Finished()
}

// takeOver adds the progress of a run as its directory has it.
func (i *Info) takeOver(run *runs.Run) {
	i.Epoch, i.Warning = run.Epochs(), run.Warning()
	if last := run.Last(); last.Epoch > 0 {
		i.Step, i.Value = last.Step, valueOf(last.Train, i.Objective)
	}
}

// since takes over what has become of a run in its directory since it trained in this session.
func (i *Info) since() {
	run, err := runs.Open(i.Dir)
	if err != nil {
		return
	}
	further := run.Epochs() > i.Epoch
	i.Epochs = run.Experiment().Header().Epochs
	if further || i.Step == 0 {
		i.takeOver(run)
	}
	switch {
	case run.Finished():
		i.State, i.Error = Finished, ""
	case i.State == Finished, further && ended(i.State): // it has been given more epochs, or trained by another program
		i.State, i.Error = Interrupted, ""
	}
}

// noRun is the error of a name that no run has.
func (s *Session) noRun(name string) error {
	folder, err := filepath.Abs(s.folder)
	if err != nil {
		return err
	}
	runs := s.names()
	if len(runs) == 0 {
		return fmt.Errorf("no run %q, nor any other in %s: session.Start starts one", name, folder)
	}
	return fmt.Errorf("no run %q: those in %s are %s", name, folder, strings.Join(runs, ", "))
}

// names are those of all runs.
func (s *Session) names() []string {
	known := map[string]bool{}
	s.mu.Lock()
	for name := range s.runs {
		known[name] = true
	}
	s.mu.Unlock()
	entries, _ := os.ReadDir(s.folder) // there is none before the first run
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(s.folder, e.Name(), experimentFile)); err == nil && names.MatchString(e.Name()) {
			known[e.Name()] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// Runs describes all runs, by name.
func (s *Session) Runs() []Info {
	var infos []Info
	for _, name := range s.names() {
		if i, err := s.Info(name); err == nil {
			infos = append(infos, i)
		}
	}
	return infos
}

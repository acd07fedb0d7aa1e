package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
)

// tiny is an experiment whose training takes a moment, or does not end for a
// long while.
func tiny(t *testing.T, epochs int, seed uint64) hm.Experiment {
	t.Helper()
	set, err := dataset.Spec{Name: "3by3", Subset: 32}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return hm.RWS().BatchSize(8).Epochs(epochs).Seed(seed).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
}

const long = 1_000_000

func TestRunsTrainOneAfterAnother(t *testing.T) {
	var mu sync.Mutex
	var order []string
	s := New(t.TempDir(), func(run string) runs.Recorder {
		return recorder{end: func(error) {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, run)
		}}
	})
	defer s.Close()
	for _, name := range []string{"c", "a", "b"} {
		if err := s.Start(name, tiny(t, 3, 1)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := s.Wait(t.Context(), name); err != nil {
			t.Fatal(err)
		}
		run, err := hm.OpenRun(s.Dir(name))
		if err != nil || !run.Finished() || run.Epochs() != 3 {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if got := strings.Join(order, " "); got != "c a b" {
		t.Errorf("trained in the order %s", got)
	}
	for _, i := range s.Runs() {
		if i.State != Finished || i.Epoch != 3 || i.Value == nil {
			t.Errorf("%+v", i)
		}
	}
}

// recorder tells of the first step and of the end.
type recorder struct {
	step func()
	end  func(error)
}

func (r recorder) Begin(runs.Plan)  {}
func (r recorder) Epoch(runs.Epoch) {}
func (r recorder) Step(runs.Progress) {
	if r.step != nil {
		r.step()
	}
}
func (r recorder) End(err error) {
	if r.end != nil {
		r.end(err)
	}
}

// begun returns a session in a folder and a channel that has a value after
// each step of which the test takes notice.
func begun(folder string) (*Session, chan struct{}) {
	steps := make(chan struct{}, 1)
	return New(folder, func(string) runs.Recorder {
		return recorder{step: func() {
			select {
			case steps <- struct{}{}:
			default:
			}
		}}
	}), steps
}

// closesItself returns a session in a folder that ends with the first step of a
// run, and a channel that is closed when it has.
func closesItself(folder string) (s *Session, closed chan struct{}) {
	closed = make(chan struct{})
	var once sync.Once
	s = New(folder, func(string) runs.Recorder {
		return recorder{step: func() {
			once.Do(func() {
				go func() {
					s.Close()
					close(closed)
				}()
				for !s.ends() { // the step goes on when the run is cancelled
					runtime.Gosched()
				}
			})
		}}
	})
	return s, closed
}

func (s *Session) ends() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func TestStoppedAndResumedEndsInTheSameBytes(t *testing.T) {
	const epochs = 40
	whole, parts := New(t.TempDir(), nil), t.TempDir()
	defer whole.Close()
	e := tiny(t, epochs, 7)
	if err := errors.Join(whole.Start("run", e), whole.Wait(t.Context(), "run")); err != nil {
		t.Fatal(err)
	}
	s, steps := begun(parts)
	if err := s.Start("run", e); err != nil {
		t.Fatal(err)
	}
	<-steps
	for _, halt := range []func(string) error{s.Stop, s.Save, s.Stop} {
		if err := halt("run"); err != nil && state(t, s) != Finished {
			t.Fatal(err)
		}
		if err := s.Resume("run"); err != nil && state(t, s) != Finished {
			t.Fatal(err)
		}
	}
	s.Close() // as the end of the kernel does
	next := New(parts, nil)
	defer next.Close()
	if i, err := next.Info("run"); err != nil || i.State == Running {
		t.Fatalf("the next session finds %+v, %v", i, err)
	}
	if err := next.Start("run", e); err != nil {
		t.Fatal(err)
	}
	if err := next.Wait(t.Context(), "run"); err != nil {
		t.Fatal(err)
	}
	wantSameFiles(t, whole.Dir("run"), next.Dir("run"))
}

func state(t *testing.T, s *Session) runs.State {
	t.Helper()
	i, err := s.Info("run")
	if err != nil {
		t.Fatal(err)
	}
	return i.State
}

func TestStopAndSave(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	if err := s.Start("run", tiny(t, long, 1)); err != nil {
		t.Fatal(err)
	}
	if err := s.Start("next", tiny(t, 1, 2)); err != nil {
		t.Fatal(err)
	}
	<-steps
	if err := s.Save("run"); err != nil {
		t.Fatal(err)
	}
	if _, err := hm.OpenRun(s.Dir("run")); err != nil {
		t.Fatalf("after Save: %v", err)
	}
	if got := state(t, s); got != Running {
		t.Fatalf("after Save the run is %s", got)
	}
	if err := s.Stop("run"); err != nil {
		t.Fatal(err)
	}
	if got := state(t, s); got != Stopped {
		t.Fatalf("after Stop the run is %s", got)
	}
	if err := s.Wait(t.Context(), "next"); err != nil {
		t.Fatalf("the next run of the queue: %v", err)
	}
	if err := s.Resume("run"); err != nil {
		t.Fatal(err)
	}
	<-steps
	ended := make(chan error, 1)
	go func() { ended <- s.Wait(context.Background(), "run") }()
	if err := s.Stop("run"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("waiting for a run that was stopped: %v", err)
	}
	if got := state(t, s); got != Stopped {
		t.Errorf("after Stop the run is %s", got)
	}
	if err := s.Stop("run"); err == nil {
		t.Error("a run was stopped twice")
	}
}

// TestACheckpointThatFailsIsTold puts a directory in the place of the checkpoint
// before the run is asked for one, which then cannot be written.
func TestACheckpointThatFailsIsTold(t *testing.T) {
	for name, do := range map[string]func(*Session, string) error{"Save": (*Session).Save, "Stop": (*Session).Stop} {
		var s *Session
		told := make(chan error, 1)
		s = New(t.TempDir(), func(string) runs.Recorder {
			return recorder{step: sync.OnceFunc(func() {
				if err := os.Mkdir(filepath.Join(s.Dir("run"), "checkpoint.safetensors"), 0o755); err != nil {
					t.Error(err)
				}
				s.mu.Lock()
				r := s.runs["run"]
				s.mu.Unlock()
				go func() { told <- do(s, "run") }()
				for !s.asked(r) { // the step goes on when the run is asked
					runtime.Gosched()
				}
			})}
		})
		if err := s.Start("run", tiny(t, long, 1)); err != nil {
			t.Fatal(err)
		}
		if err := <-told; err == nil || !strings.Contains(err.Error(), "checkpoint.safetensors") {
			t.Errorf("%s: error %v", name, err)
		}
		if got := state(t, s); got != Failed {
			t.Errorf("after %s the run is %s", name, got)
		}
	}
}

// asked says whether a run is to save or to stop.
func (s *Session) asked(r *run) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	return r.halting || r.progress.wanted != nil
}

// ownRows is a data set that nothing but its rows opens.
func ownRows(t *testing.T, name string, b dataset.Binarization) *dataset.Set {
	t.Helper()
	rows := make([][]float64, 20)
	for i := range rows {
		for j := range 9 {
			rows[i] = append(rows[i], float64((i+j)%5)/4)
		}
	}
	set, err := dataset.Spec{Name: name, Binarization: b}.FromRows(dataset.Shape{Height: 3, Width: 3}, rows, nil)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func onRows(set *dataset.Set, epochs int) hm.Experiment {
	return hm.RWS().BatchSize(8).Epochs(epochs).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
}

// TestRowsStayWithTheirRun ends a session whose run trains on rows of one's
// own; the next session ends the run in the same
// bytes as one that trained at once.
func TestRowsStayWithTheirRun(t *testing.T) {
	const epochs = 6
	set := ownRows(t, "own", dataset.Stochastic)
	whole, parts := t.TempDir(), t.TempDir()
	if _, err := onRows(set, epochs).Train(t.Context(), set, filepath.Join(whole, "run")); err != nil {
		t.Fatal(err)
	}
	s, closed := closesItself(parts)
	err := s.Start("run", onRows(set, epochs))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("runs.Claim(experiment, set, %q)", s.Dir("run"))) {
		t.Fatalf("a run on data that are not kept: %v", err)
	}
	if err := errors.Join(runs.Claim(onRows(set, epochs), set, s.Dir("run")), s.Start("run", onRows(set, epochs))); err != nil {
		t.Fatal(err)
	}
	<-closed
	next := New(parts, nil)
	defer next.Close()
	if i, err := next.Info("run"); err != nil || i.State != Interrupted {
		t.Fatalf("the next session finds %+v, %v", i, err)
	}
	if err := errors.Join(next.Resume("run"), next.Wait(t.Context(), "run")); err != nil {
		t.Fatal(err)
	}
	run, err := hm.OpenRun(next.Dir("run"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := run.Dataset(); err != nil || got.Fingerprint() != set.Fingerprint() {
		t.Errorf("the run has other data: %v", err)
	}
	wantSameFiles(t, filepath.Join(whole, "run"), next.Dir("run"))
}

// TestTheQueueOutlivesTheSession ends a session while runs wait; the next one
// finds them, with their rows, and trains them.
func TestTheQueueOutlivesTheSession(t *testing.T) {
	folder, set := t.TempDir(), ownRows(t, "own", dataset.Stochastic)
	s, steps := begun(folder)
	if err := errors.Join(runs.Claim(onRows(set, 2), set, s.Dir("run")), s.Start("first", tiny(t, long, 1)),
		s.Start("run", onRows(set, 2)), s.Start("stopped", tiny(t, 2, 2)), s.Stop("stopped")); err != nil {
		t.Fatal(err)
	}
	<-steps
	if _, err := hm.OpenRun(s.Dir("run")); err == nil || !strings.Contains(err.Error(), "has no checkpoint yet") {
		t.Errorf("the model of a run that waits: %v", err)
	}
	left := s.Close()
	if len(left) != 2 || left[0].Name != "first" || left[0].State != Stopped || left[1].Name != "run" || left[1].State != Waiting || left[1].Epochs != 2 {
		t.Errorf("left are %+v", left)
	}
	if left := s.Close(); left != nil {
		t.Errorf("left again are %+v", left)
	}
	next := New(folder, nil)
	defer next.Close()
	for _, name := range []string{"run", "stopped"} {
		if i, err := next.Info(name); err != nil || i.State != Interrupted || i.Epoch != 0 || i.Epochs != 2 {
			t.Fatalf("the next session finds %+v, %v", i, err)
		}
		if err := errors.Join(next.Resume(name), next.Wait(t.Context(), name)); err != nil {
			t.Fatal(err)
		}
		if i, err := next.Info(name); err != nil || i.State != Finished {
			t.Errorf("the next session ends with %+v, %v", i, err)
		}
	}
}

func wantSameFiles(t *testing.T, one, other string) {
	t.Helper()
	for _, file := range []string{"checkpoint.safetensors", experimentFile} {
		a, err := os.ReadFile(filepath.Join(one, file))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(other, file))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs between a run and one that was stopped and resumed", file)
		}
	}
}

// TestEqualRowsAreNotConfused trains on sets of equal values that train differently.
func TestEqualRowsAreNotConfused(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	rounded := ownRows(t, "one", dataset.Fixed)
	rows := make([][]float64, 0, rounded.Train().Rows)
	for i := range rounded.Train().Rows {
		row := make([]float64, 9)
		for j, v := range rounded.Train().Row(i) {
			row[j] = float64(v) / 255
		}
		rows = append(rows, row)
	}
	if err := s.Start("first", tiny(t, long, 1)); err != nil {
		t.Fatal(err)
	}
	<-steps
	for _, b := range []dataset.Binarization{dataset.Fixed, dataset.Stochastic} {
		set, err := dataset.Spec{Name: "own", Binarization: b}.FromRows(rounded.Shape(), rows, rows[:1])
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(runs.Claim(onRows(set, 1), set, s.Dir(b.String())), s.Start(b.String(), onRows(set, 1))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stop("first"); err != nil {
		t.Fatal(err)
	}
	for _, b := range []dataset.Binarization{dataset.Fixed, dataset.Stochastic} {
		if err := s.Wait(t.Context(), b.String()); err != nil {
			t.Fatal(err)
		}
		run, err := hm.OpenRun(s.Dir(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if set, err := run.Dataset(); err != nil || set.Spec().Binarization != b {
			t.Errorf("the run %v has other data: %v", b, err)
		}
	}
}

func TestAWaitingRunCanBeStopped(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	if err := errors.Join(s.Start("run", tiny(t, long, 1)), s.Start("next", tiny(t, 2, 2))); err != nil {
		t.Fatal(err)
	}
	<-steps
	if err := s.Stop("next"); err != nil {
		t.Fatal(err)
	}
	if err := s.Resume("next"); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Stop("run"), s.Wait(t.Context(), "next")); err != nil {
		t.Fatal(err)
	}
}

// TestAWaitingRunKeepsItsProgress resumes a run behind one that trains.
func TestAWaitingRunKeepsItsProgress(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	if err := s.Start("run", tiny(t, long, 1)); err != nil {
		t.Fatal(err)
	}
	for trained := (Info{}); trained.Epoch < 2; {
		<-steps
		var err error
		if trained, err = s.Info("run"); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(s.Start("next", tiny(t, long, 2)), s.Stop("run"), s.Resume("run")); err != nil {
		t.Fatal(err)
	}
	i, err := s.Info("run")
	if err != nil || i.State != Waiting || i.Epoch < 2 || i.Value == nil {
		t.Errorf("%+v, %v", i, err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	if err := s.Start("run", tiny(t, long, 1)); err != nil {
		t.Fatal(err)
	}
	<-steps
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Wait(ctx, "run"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if got := state(t, s); got != Running {
		t.Errorf("the run is %s, though only the one who waited was interrupted", got)
	}
}

// TestACellAgainWhileItsRunEnds starts a run again and again until it has ended
// and forgotten its data.
func TestACellAgainWhileItsRunEnds(t *testing.T) {
	s := New(t.TempDir(), nil)
	defer s.Close()
	e := tiny(t, 3, 1)
	if err := s.Start("run", e); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait(context.Background(), "run") }()
	for {
		if err := s.Start("run", e); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return
		default:
		}
	}
}

func TestRefusals(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	e := tiny(t, long, 1)
	for _, name := range []string{"", "..", ".hidden", "a/b", `a\b`, "a b", "a\x00", strings.Repeat("a", 101), strings.Repeat("字", 86)} {
		if err := s.Start(name, e); err == nil || !strings.Contains(err.Error(), "use up to 100 letters") {
			t.Errorf("a run is named %q: %v", name, err)
		}
		if _, err := s.Info(name); err == nil {
			t.Errorf("there is a run %q", name)
		}
	}
	wrong := e
	wrong.Method.BatchSize = 0
	if err := s.Start("wrong", wrong); err == nil {
		t.Error("a wrong experiment was started")
	}
	if err := s.Start("run", e); err != nil {
		t.Fatal(err)
	}
	<-steps
	if err := s.Start("run", e); err != nil {
		t.Errorf("the same cell again: %v", err)
	}
	if err := s.Start("run", tiny(t, long, 2)); err == nil || !strings.Contains(err.Error(), "another") {
		t.Errorf("another experiment under the same name: %v", err)
	}
	if err := s.Stop("run"); err != nil {
		t.Fatal(err)
	}
	if err := s.Start("run", tiny(t, long, 2)); err == nil || !strings.Contains(err.Error(), "seed is 1 there, 2 here") || !strings.HasSuffix(err.Error(), "or choose another name for the run") {
		t.Errorf("another experiment in the same directory: %v", err)
	}
	for _, do := range []func(string) error{s.Stop, s.Resume, s.Save} {
		if err := do("none"); err == nil || !strings.Contains(err.Error(), `no run "none": the runs in `) || !strings.HasSuffix(err.Error(), " are run") {
			t.Errorf("error %v", err)
		}
	}
	s.Close()
	if err := s.Start("late", e); !errors.Is(err, errClosed) {
		t.Errorf("a run was started in a session that has ended: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestAPanicEndsTheRunAlone(t *testing.T) {
	s := New(t.TempDir(), func(run string) runs.Recorder {
		return recorder{step: func() {
			if run == "bad" {
				panic("no room")
			}
		}}
	})
	defer s.Close()
	if err := errors.Join(s.Start("bad", tiny(t, 2, 1)), s.Start("good", tiny(t, 2, 1))); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context(), "bad"); err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("error %v", err)
	}
	if err := s.Wait(t.Context(), "good"); err != nil {
		t.Error(err)
	}
}

// A run that ends far from its baseline is finished with a warning, in this session
// and in the next.
func TestDivergenceIsTold(t *testing.T) {
	set, err := dataset.Spec{Name: "miniglyphs", Subset: 64, Validation: new(10)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	s := New(folder, nil)
	defer s.Close()
	for name, rate := range map[string]float64{"good": 0.05, "bad": 50} {
		e := hm.RWS().LearningRate(rate).BatchSize(8).Epochs(2).Experiment(hm.New(set.Shape()).Dense(10), set)
		if err := errors.Join(s.Start(name, e), s.Wait(t.Context(), name)); err != nil {
			t.Fatal(err)
		}
	}
	next := New(folder, nil)
	defer next.Close()
	for _, s := range []*Session{s, next} {
		for name, warned := range map[string]bool{"good": false, "bad": true} {
			if i, err := s.Info(name); err != nil || i.State != Finished || strings.Contains(i.Warning, "training has diverged") != warned {
				t.Errorf("%s is %+v (%v)", name, i, err)
			}
		}
	}
}

// halts says whether a run is being stopped or paused.
func (s *Session) halts(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.runs[name].halting
}

// What is asked of a run that is being stopped is done once it has.
func TestResumedWhileItIsStopped(t *testing.T) {
	for name, again := range map[string]func(*Session) error{
		"Resume": func(s *Session) error { return s.Resume("run") },
		"Start":  func(s *Session) error { return s.Start("run", tiny(t, long, 1)) },
	} {
		var s *Session
		var once sync.Once
		stopped, resumed := make(chan error, 1), make(chan error, 1)
		s = New(t.TempDir(), func(string) runs.Recorder {
			return recorder{step: func() {
				once.Do(func() {
					go func() { stopped <- s.Stop("run") }()
					for !s.halts("run") { // the step goes on when the run is cancelled
						runtime.Gosched()
					}
					go func() { resumed <- again(s) }()
				})
			}}
		})
		if err := s.Start("run", tiny(t, long, 1)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(<-stopped, <-resumed); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := state(t, s); got != Running {
			t.Errorf("after %s the run is %s", name, got)
		}
		s.Close()
	}
}

// A paused run that is started again keeps the epochs that it is then to keep, and one that trains
// is not asked for others in vain.
func TestStartedAgainToKeepMore(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	e := tiny(t, long, 1)
	if err := s.Start("run", e); err != nil {
		t.Fatal(err)
	}
	<-steps
	keeps := e
	keeps.Keep = []int{long - 1}
	if err := s.Start("run", keeps); err == nil || !strings.Contains(err.Error(), "keep") || !strings.Contains(err.Error(), "stop it") {
		t.Errorf("while it trains: %v", err)
	}
	if err := errors.Join(s.Start("run", e), s.Stop("run"), s.Start("run", keeps), s.Stop("run")); err != nil {
		t.Fatal(err)
	}
	there, err := runs.ExperimentIn(s.Dir("run"))
	if err != nil || !slices.Equal(there.Header().Keep, keeps.Keep) {
		t.Errorf("the run keeps the epochs %v, %v", there.Header().Keep, err)
	}
}

// A run that has ended is told of as its directory has it, and goes on from there.
func TestRunsThatAreGivenMoreEpochs(t *testing.T) {
	s := New(t.TempDir(), nil)
	defer s.Close()
	if err := errors.Join(s.Start("run", tiny(t, 2, 1)), s.Wait(t.Context(), "run")); err != nil {
		t.Fatal(err)
	}
	if _, err := runs.Extend(s.Dir("run"), 4); err != nil {
		t.Fatal(err)
	}
	if i, err := s.Info("run"); err != nil || i.State != Interrupted || i.Epoch != 2 || i.Epochs != 4 {
		t.Errorf("%+v, %v", i, err)
	}
	if err := s.Wait(t.Context(), "run"); err == nil || !strings.Contains(err.Error(), "resume it first") {
		t.Errorf("waiting for it: %v", err)
	}
	if err := errors.Join(s.Resume("run"), s.Wait(t.Context(), "run")); err != nil {
		t.Fatal(err)
	}
	if i, err := s.Info("run"); err != nil || i.State != Finished || i.Epoch != 4 {
		t.Errorf("%+v, %v", i, err)
	}
}

// A run whose directory is removed is gone, and its name begins anew.
func TestRunsWhoseDirectoryIsRemoved(t *testing.T) {
	s, steps := begun(t.TempDir())
	defer s.Close()
	for name, end := range map[string]func(string) error{
		"finished": func(name string) error { return s.Wait(t.Context(), name) }, "stopped": s.Stop,
	} {
		epochs := long
		if name == "finished" {
			epochs = 2
		}
		forget(steps)
		if err := s.Start(name, tiny(t, epochs, 1)); err != nil {
			t.Fatal(err)
		}
		<-steps
		if err := errors.Join(end(name), os.RemoveAll(s.Dir(name))); err != nil {
			t.Fatal(err)
		}
		if all := s.Runs(); len(all) > 0 {
			t.Errorf("%s: the runs are %+v", name, all)
		}
		for what, err := range map[string]error{"info": second(s.Info(name)), "resume": s.Resume(name), "wait": s.Wait(t.Context(), name)} {
			if err == nil || !strings.Contains(err.Error(), "there is no run") {
				t.Errorf("%s: %s: %v", name, what, err)
			}
		}
	}
}

// A run that cannot be read is listed with the error.
func TestDamagedRunsAreListed(t *testing.T) {
	s := New(t.TempDir(), nil)
	defer s.Close()
	if err := errors.Join(os.Mkdir(s.Dir("bad"), 0o755), os.WriteFile(filepath.Join(s.Dir("bad"), experimentFile), []byte("x"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if all := s.Runs(); len(all) != 1 || all[0].Name != "bad" || all[0].State != Failed || !strings.Contains(all[0].Error, experimentFile) {
		t.Errorf("%+v", all)
	}
}

// What a run has opened is let go when it ends, since it may be large.
func TestDataAreLetGo(t *testing.T) {
	s := New(t.TempDir(), nil)
	defer s.Close()
	if err := errors.Join(s.Start("run", tiny(t, 1, 1)), s.Wait(t.Context(), "run")); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	for _, set := range s.opened {
		if set.Value() != nil {
			t.Error("the data of a run that has ended are held")
		}
	}
	if len(s.opened) != 1 {
		t.Errorf("%d sets were opened", len(s.opened))
	}
}

package session

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// TestRunsThatTrainElsewhere has two sessions, as those of two kernels, in one folder.
func TestRunsThatTrainElsewhere(t *testing.T) {
	folder := t.TempDir()
	there, steps := begun(folder)
	defer there.Close()
	here := New(folder, nil)
	defer here.Close()
	e := tiny(t, long, 1)
	if err := there.Start("run", e); err != nil {
		t.Fatal(err)
	}
	<-steps
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	i, err := here.Info("run")
	if err != nil || i.State != Elsewhere || i.Host != host || i.Epochs != long || i.Error != "" {
		t.Errorf("%+v, %v", i, err)
	}
	for what, err := range map[string]error{
		"start": here.Start("run", e), "stop": here.Stop("run"), "pause": here.Pause("run"), "resume": here.Resume("run"), "wait": here.Wait(t.Context(), "run"),
	} {
		if err == nil || !strings.Contains(err.Error(), "another program") || !strings.Contains(err.Error(), host) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := here.Save("run"); err != nil {
		t.Error(err)
	}
	if err := there.Stop("run"); err != nil {
		t.Fatal(err)
	}
	if i, err := here.Info("run"); err != nil || i.State != Interrupted {
		t.Errorf("once it has stopped there: %+v, %v", i, err)
	}

	// A run that waits here may have begun elsewhere when it is its turn, and one that
	// has stopped here may go on elsewhere.
	forget(steps)
	if err := errors.Join(here.Start("first", tiny(t, long, 2)), here.Start("run", e), there.Resume("run")); err != nil {
		t.Fatal(err)
	}
	<-steps
	waits := make(chan error)
	go func() { waits <- here.Wait(t.Context(), "run") }()
	if err := here.Stop("first"); err != nil {
		t.Fatal(err)
	}
	var taken *runs.TakenError
	if err := <-waits; !errors.As(err, &taken) && !strings.Contains(err.Error(), string(Elsewhere)) {
		t.Errorf("who waits hears %v", err)
	}
	if i, err := here.Info("run"); err != nil || i.State != Elsewhere {
		t.Errorf("after its turn: %+v, %v", i, err)
	}
	if err := there.Stop("run"); err != nil {
		t.Fatal(err)
	}
	forget(steps)
	if err := there.Resume("first"); err != nil {
		t.Fatal(err)
	}
	<-steps
	if i, err := here.Info("first"); err != nil || i.State != Elsewhere {
		t.Errorf("a run that stopped here is %+v, %v", i, err)
	}
}

// A run that is paused here may train elsewhere, to its end.
func TestPausedRunsThatTrainElsewhere(t *testing.T) {
	var here *Session
	paused := make(chan error)
	here = New(t.TempDir(), func(string) runs.Recorder {
		return recorder{step: sync.OnceFunc(func() {
			go func() { paused <- here.Pause("run") }()
			for !here.halts("run") {
				runtime.Gosched()
			}
		})}
	})
	defer here.Close()
	e := tiny(t, 3, 1)
	set, err := e.Dataset.Open()
	if err := errors.Join(err, here.Start("run", e), <-paused); err != nil {
		t.Fatal(err)
	}
	began := make(chan struct{})
	waits := make(chan error, 1)
	go func() { waits <- here.Wait(t.Context(), "run") }()
	trains, goesOn := make(chan error), make(chan struct{})
	go func() {
		_, err := runs.Train(t.Context(), e, set, here.Dir("run"), recorder{step: sync.OnceFunc(func() {
			close(began)
			<-goesOn
		})})
		trains <- err
	}()
	<-began
	for what, err := range map[string]error{"pause": here.Pause("run"), "stop": here.Stop("run"), "wait": here.Wait(t.Context(), "run"), "a wait that began before": <-waits} {
		if err == nil || !strings.Contains(err.Error(), "in another program") {
			t.Errorf("%s while it trains elsewhere: %v", what, err)
		}
	}
	close(goesOn)
	if err := <-trains; err != nil {
		t.Fatal(err)
	}
	if err := here.Wait(t.Context(), "run"); err != nil {
		t.Errorf("wait after its end elsewhere: %v", err)
	}
	if err := here.Stop("run"); err == nil || !strings.Contains(err.Error(), "is finished") {
		t.Errorf("stop after its end elsewhere: %v", err)
	}
}

// forget forgets a step of a run that has stopped.
func forget(steps chan struct{}) {
	select {
	case <-steps:
	default:
	}
}

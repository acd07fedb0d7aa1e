package session

import (
	"errors"
	"os"
	"strings"
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
		"start": here.Start("run", e), "stop": here.Stop("run"), "resume": here.Resume("run"), "wait": here.Wait(t.Context(), "run"),
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

// forget forgets a step of a run that has stopped.
func forget(steps chan struct{}) {
	select {
	case <-steps:
	default:
	}
}

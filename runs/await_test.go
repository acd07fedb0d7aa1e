package runs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// waiter is a recorder that keeps what training waits for.
type waiter struct {
	watcher
	waits []*runs.TakenError
}

func (w *waiter) Wait(until *runs.TakenError) { w.waits = append(w.waits, until) }

// A run on a restarted machine still has the lease from before the restart. The next training
// reports that it waits for a sign of life, and then takes the run over.
func TestTrainingTakesOverAfterARestart(t *testing.T) {
	set := overlapping(t)
	whole := filepath.Join(t.TempDir(), "whole")
	mustTrain(t, brief(set), set, whole)
	dir := filepath.Join(t.TempDir(), "run")
	trainUntil(t, brief(set), set, dir, atStep(5))
	leaveLease(t, dir, "before-the-restart")
	synctest.Test(t, func(t *testing.T) {
		w, start := &waiter{}, time.Now()
		run, err := runs.Train(t.Context(), brief(set), set, dir, w)
		if err != nil || !run.Finished() {
			t.Fatalf("after a restart: %v, %v", run, err)
		}
		if len(w.waits) != 1 || w.waits[0].Dir != dir || w.waits[0].Host != "there" || w.waits[0].Left != time.Minute {
			t.Errorf("training says that it waits for %v", w.waits)
		}
		if waited := time.Since(start); waited < time.Minute || waited > time.Minute+2*time.Second {
			t.Errorf("training waited for %v", waited)
		}
	})
	runstest.SameRun(t, whole, dir)
}

// A program that shows a sign of life while training waits keeps its directory.
func TestTrainingDoesNotTakeOverFromTheLiving(t *testing.T) {
	set := overlapping(t)
	dir := filepath.Join(t.TempDir(), "run")
	trainUntil(t, brief(set), set, dir, atStep(5))
	leaveLease(t, dir, "another")
	synctest.Test(t, func(t *testing.T) {
		time.AfterFunc(10*time.Second, func() {
			path := filepath.Join(dir, file.LeaseFile)
			text, err := os.ReadFile(path)
			next := strings.Replace(string(text), `"beat":0`, `"beat":1`, 1)
			if err = errors.Join(err, os.WriteFile(path+".new", []byte(next), 0o600), os.Rename(path+".new", path)); err != nil {
				t.Error(err)
			}
		})
		_, err := runs.Train(t.Context(), brief(set), set, dir)
		var taken *runs.TakenError
		if !errors.As(err, &taken) || taken.Left != 0 || taken.Host != "there" {
			t.Errorf("%v", err)
		}
	})
}

// Cancelling the context ends the wait.
func TestWaitingEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	leaveLease(t, dir, "before-the-restart")
	ctx, cancel := context.WithCancel(t.Context())
	err := runs.Await(ctx, dir, &cancelling{cancel: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ended with %v", err)
	}
}

// cancelling is a recorder that cancels training when it has to wait.
type cancelling struct {
	watcher
	cancel func()
}

func (c *cancelling) Wait(*runs.TakenError) { c.cancel() }

// leaveLease leaves the lease of a program in a directory; system identifies the boot of its
// machine.
func leaveLease(t *testing.T, dir, system string) {
	t.Helper()
	text := `{"holder":"somebody","host":"there","system":"` + system + `","beat":0}`
	if err := os.WriteFile(filepath.Join(dir, file.LeaseFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// After a restart, repeating a command that extends a run does not extend it twice.
func TestExtendedRunsOfARestartedMachine(t *testing.T) {
	set := overlapping(t)
	dir := filepath.Join(t.TempDir(), "run")
	mustTrain(t, brief(set), set, dir)
	if _, err := runs.Extend(dir, 6); err != nil {
		t.Fatal(err)
	}
	leaveLease(t, dir, "before-the-restart")
	if e, err := runs.Extend(dir, 6); err != nil || e.Header().Epochs != 6 {
		t.Errorf("once more: %v, %v", e, err)
	}
}

//go:build unix

package kernel

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// board returns live displays, and what they show last.
func board() (b *live, last *string) {
	last = new(string)
	b = newLive("", func(_, html string, _ bool) { *last = html })
	return b, last
}

// drawn returns the recorder of a run that has a display and has taken a step,
// while samples of the first checkpoint are drawn until goOn is closed.
func drawn(b *live) (w *watched, goOn chan struct{}) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := true
	w = b.watch("run", func() string {
		if !first {
			return "later"
		}
		first = false
		close(begun)
		<-goOn
		return "earlier"
	})
	b.add("run")
	w.Begin(runs.Plan{Epochs: 2, StepsPerEpoch: 1})
	w.Step(runs.Progress{Epoch: 1, Step: 1})
	<-begun
	return w, goOn
}

func TestCheckpointsDuringDrawingAreDrawn(t *testing.T) {
	b, last := board()
	w, goOn := drawn(b)
	w.Epoch(runs.Epoch{Epoch: 1, Step: 1})
	w.Step(runs.Progress{Epoch: 2, Step: 2})
	done := w.drawing
	close(goOn)
	<-done
	if w.samples != "earlier" || strings.Contains(*last, "earlier") || !w.newer {
		t.Errorf("the samples are those of the %s checkpoint, and a newer one is to be drawn: %v", w.samples, w.newer)
	}
	w.unshown, w.took = false, 0 // shown, and long ago
	w.Step(runs.Progress{Epoch: 2, Step: 3})
	within := time.After(10 * time.Second)
	for {
		w.mu.Lock()
		samples := w.samples
		w.mu.Unlock()
		if samples == "later" {
			return
		}
		select {
		case <-within:
			t.Fatalf("the samples are those of the %s checkpoint", samples)
		default:
		}
	}
}

func TestNothingIsDrawnWhileADrawingWaits(t *testing.T) {
	b, _ := board()
	w, goOn := drawn(b)
	done := w.drawing
	close(goOn)
	<-done
	w.took = 0
	w.Epoch(runs.Epoch{Epoch: 1, Step: 1})
	w.Step(runs.Progress{Epoch: 2, Step: 2})
	if !w.newer || w.samples != "earlier" {
		t.Error("samples are drawn although nobody sees the earlier ones yet")
	}
}

func TestDrawingTakesATenthOfTheTime(t *testing.T) {
	b, _ := board()
	w, goOn := drawn(b)
	done := w.drawing
	close(goOn)
	<-done
	w.unshown, w.took = false, time.Hour
	w.Epoch(runs.Epoch{Epoch: 1, Step: 1})
	w.Step(runs.Progress{Epoch: 2, Step: 2})
	if w.drawing != nil || w.samples != "earlier" {
		t.Error("samples are drawn right after a drawing of an hour")
	}
	w.drawn = w.drawn.Add(-10 * time.Hour)
	w.Step(runs.Progress{Epoch: 2, Step: 3})
	if w.newer {
		t.Error("samples are not drawn after ten hours")
	}
	w.End(nil)
}

func TestTheLastDisplayShowsTheLastModel(t *testing.T) {
	b, last := board()
	w, goOn := drawn(b)
	close(goOn)
	w.End(nil)
	if !strings.Contains(*last, "finished") || !strings.Contains(*last, "later<") || !strings.Contains(*last, "%hm show run</code> shows it as it is") {
		t.Errorf("the last display is %s", *last)
	}
}

func TestSamplesAreDrawnForThoseWhoSeeThem(t *testing.T) {
	b, last := board()
	drawings := 0
	w := b.watch("run", func() string {
		drawings++
		return "samples"
	})
	w.Begin(runs.Plan{Epochs: 2, StepsPerEpoch: 2})
	w.Step(runs.Progress{Epoch: 1, Step: 1})
	w.Epoch(runs.Epoch{Epoch: 1, Step: 2})
	w.Step(runs.Progress{Epoch: 2, Step: 3})
	if w.drawing != nil || drawings > 0 {
		t.Error("samples were drawn for nobody")
	}
	b.add("run")
	w.Step(runs.Progress{Epoch: 2, Step: 4})
	w.End(nil)
	if !strings.Contains(*last, "samples<") {
		t.Errorf("a display shows %s", *last)
	}
}

// after is a recorder that does something after an epoch.
type after struct {
	runs.Recorder
	epoch int
	do    func()
}

func (a after) Epoch(e runs.Epoch) {
	if e.Epoch == a.epoch {
		a.do()
	}
}

func afterEpoch(epoch int, do func()) runs.Recorder {
	return after{plotting.LiveHTML(func() bool { return false }, func(string) {}), epoch, do}
}

// TestShowDescribesTheRunAsItIs shows a run again whenever another program has
// trained it for some epochs.
func TestShowDescribesTheRunAsItIs(t *testing.T) {
	b, last := board()
	s := session.New(t.TempDir(), func(string) runs.Recorder {
		return afterEpoch(2, func() { panic("no <room>") })
	})
	defer s.Close()
	l := b
	set, err := dataset.Spec{Name: "3by3", Subset: 32}.Open()
	if err != nil {
		t.Fatal(err)
	}
	e := hm.RWS().BatchSize(8).Epochs(4).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
	for _, c := range []struct {
		epoch int
		shown string
	}{{1, "interrupted, epoch 1 of 4"}, {3, "interrupted, epoch 3 of 4"}, {4, "finished, epoch 4 of 4"}} {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := e.Train(ctx, set, s.Dir("run"), afterEpoch(c.epoch, cancel)); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if err := l.show(s, "run"); err != nil || !strings.Contains(*last, c.shown) {
			t.Errorf("after epoch %d: %.200s, %v", c.epoch, *last, err)
		}
	}
	wild := hm.RWS().LearningRate(1e4).BatchSize(8).Epochs(1).Experiment(hm.New(set.Shape()).Dense(6, 4), set)
	if _, err := wild.Train(t.Context(), set, s.Dir("wild")); err != nil {
		t.Fatal(err)
	}
	if err := l.show(s, "wild"); err != nil || !strings.Contains(*last, "finished, epoch 1 of 1") || !strings.Contains(*last, "training has diverged") {
		t.Errorf("a run that has diverged: %.400s, %v", *last, err)
	}
	var listed strings.Builder
	if err := (magics{session: s}).runs(nil, &listed); err != nil || !strings.Contains(listed.String(), "\nwild  finished  1 of 1  ") || !strings.Contains(listed.String(), "\nwild: log p -") {
		t.Errorf("runs are listed as\n%s(%v)", &listed, err)
	}
	if err := s.Start("bad", e); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(t.Context(), "bad"); err == nil {
		t.Fatal("a panic is no error")
	}
	if err := l.show(s, "bad"); err != nil || !strings.Contains(*last, "failed, epoch 2 of 4") || !strings.Contains(*last, "no &lt;room&gt;") {
		t.Errorf("after a failure: %.200s, %v", *last, err)
	}
}

// A display of a waiting run shows that the run has failed before its recorder began, or has been stopped.
func TestDisplaysOfWaitingRunsShowTheirEnd(t *testing.T) {
	folder, shown := t.TempDir(), make(chan string, 10)
	l := newLive(folder, func(_, html string, _ bool) { shown <- html })
	s := session.New(folder, func(string) runs.Recorder { return nil })
	s.OnEnd(func(run string) { l.ended(s, run) })
	defer s.Close()
	for _, name := range []string{"long", "damaged", "stopped"} {
		if err := s.Start(name, experiment(t, 1_000_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.Dir("damaged"), "checkpoint.safetensors"), []byte("garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ run, stop, state string }{{"stopped", "stopped", "stopped"}, {"damaged", "long", "failed"}} {
		if err := l.show(s, c.run); err != nil {
			t.Fatal(err)
		}
		if html := <-shown; !strings.Contains(html, "waiting") {
			t.Fatalf("the display of %s begins with %s", c.run, html)
		}
		if err := s.Stop(c.stop); err != nil {
			t.Fatal(err)
		}
		select {
		case html := <-shown:
			if !strings.Contains(html, c.state) {
				t.Errorf("%s is shown as %s", c.run, html)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("the display of %s is not updated", c.run)
		}
	}
}

// A line that panics says so, and the kernel and what it trains go on.
func TestMagicsThatPanic(t *testing.T) {
	_, err := magics{show: func(string) error { panic("no figure") }}.Run(t.Context(), "show run")
	if err == nil || err.Error() != "%hm show: panic: no figure" {
		t.Errorf("it says %v", err)
	}
}

func TestTheLatestDisplaysAreKeptUpToDate(t *testing.T) {
	updated := map[string]int{}
	b := newLive("", func(id, html string, update bool) {
		if update {
			updated[id]++
		}
	})
	for range 100 {
		b.add("run")
	}
	b.update("run", "x", false)
	b.update("other", "y", false)
	if len(updated) != mostDisplays {
		t.Errorf("%d displays were updated, not %d", len(updated), mostDisplays)
	}
}

package kernel

import (
	"strings"
	"testing"
	"time"

	"github.com/helmholtz-go/helmholtz/hm"
)

// slow returns a board whose displays are updated once and then not again of
// their own, and what they show last.
func slow() (b *board, last *string) {
	last = new(string)
	b = newBoard(func(_, html string, _ bool) { *last = html })
	b.after = func(time.Duration, func()) {}
	return b, last
}

// drawn returns the recorder of a run that has a display and has taken a step,
// while samples of the first checkpoint are drawn until goOn is closed.
func drawn(b *board) (w *watched, goOn chan struct{}) {
	begun, goOn := make(chan struct{}), make(chan struct{})
	first := true
	w = watch(b, "run", func() string {
		if !first {
			return "later"
		}
		first = false
		close(begun)
		<-goOn
		return "earlier"
	})
	b.show("run")
	w.Begin(hm.Plan{Epochs: 2, StepsPerEpoch: 1})
	w.Step(hm.Progress{Epoch: 1, Step: 1})
	<-begun
	return w, goOn
}

func TestCheckpointsDuringDrawingAreDrawn(t *testing.T) {
	b, _ := slow()
	w, goOn := drawn(b)
	w.Epoch(hm.Epoch{Epoch: 1, Step: 1})
	w.Step(hm.Progress{Epoch: 2, Step: 2})
	done := w.drawing
	close(goOn)
	<-done
	if w.samples != "later" {
		t.Errorf("the samples are those of the %s checkpoint", w.samples)
	}
}

func TestTheLastDisplayShowsTheLastModel(t *testing.T) {
	b, last := slow()
	w, goOn := drawn(b)
	close(goOn)
	w.End(nil)
	if !strings.Contains(*last, "finished") || !strings.HasSuffix(*last, "later") {
		t.Errorf("the last display is %s", *last)
	}
}

func TestSamplesAreDrawnForThoseWhoSeeThem(t *testing.T) {
	b, last := slow()
	drawings := 0
	w := watch(b, "run", func() string {
		drawings++
		return "samples"
	})
	w.Begin(hm.Plan{Epochs: 2, StepsPerEpoch: 2})
	w.Step(hm.Progress{Epoch: 1, Step: 1})
	w.Epoch(hm.Epoch{Epoch: 1, Step: 2})
	w.Step(hm.Progress{Epoch: 2, Step: 3})
	if w.drawing != nil || drawings > 0 {
		t.Error("samples were drawn for nobody")
	}
	b.show("run")
	w.Step(hm.Progress{Epoch: 2, Step: 4})
	w.End(nil)
	if !strings.HasSuffix(*last, "samples") {
		t.Errorf("a display shows %s", *last)
	}
}

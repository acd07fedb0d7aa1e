package plotting

import (
	"errors"
	"os"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
)

// Live returns a recorder that keeps one display of the notebook cell up to
// date while training runs: progress, rate, time left, the measures of the
// epoch under way and of the last validation, and the curves so far. Outside a
// notebook it is runs.Printer of standard error.
func Live() runs.Recorder {
	if !gonbui.IsNotebook {
		return runs.Printer(os.Stderr)
	}
	id := "helmholtz-live-" + gonbui.UniqueId()
	return &live{
		now:  time.Now,
		seen: func() bool { return true },
		show: func(html string) { gonbui.UpdateHTML(id, html) },
		sync: gonbui.Sync,
	}
}

// LiveHTML returns a recorder that hands the display of Live to show, as HTML,
// whenever it changes. Curves are drawn only while seen says that somebody sees
// them. Both are called from the goroutine that trains.
func LiveHTML(seen func() bool, show func(html string)) runs.Recorder {
	return &live{now: time.Now, seen: seen, show: show, sync: func() {}}
}

// betweenUpdates is how long a display stays: a notebook that is sent more
// falls behind, and drawing takes time from training.
const betweenUpdates = 500 * time.Millisecond

// live is the state of a display.
type live struct {
	now  func() time.Time
	seen func() bool
	show func(html string)
	sync func() // returns when the notebook has what was shown

	plan     runs.Plan
	begun    time.Time
	updated  time.Time
	progress runs.Progress
	history  runs.History
	curve    string // image of the curves, as far as drawn is
	drawn    int    // epochs in curve
}

// Begin implements runs.Recorder.
func (l *live) Begin(p runs.Plan) {
	l.plan, l.begun = p, l.now()
	l.progress = runs.Progress{Step: p.Start}
	l.history = runs.History{Measures: p.History.Measures, Epochs: slices.Clone(p.History.Epochs), Baseline: p.History.Baseline}
	if n := len(l.history.Epochs); n > 0 {
		l.progress.Epoch = l.history.Epochs[n-1].Epoch
	}
	l.curve, l.drawn = "", 0
	l.update("")
}

// Step implements runs.Recorder.
func (l *live) Step(p runs.Progress) {
	l.progress = p
	l.updateIfDue()
}

// Epoch implements runs.Recorder.
func (l *live) Epoch(e runs.Epoch) {
	l.history.Epochs = append(l.history.Epochs, e)
	l.progress = runs.Progress{Epoch: e.Epoch, Step: e.Step, LearningRate: e.LearningRate, Measures: e.Train}
	l.updateIfDue()
}

// End implements runs.Recorder. It shows the last state, whatever the time since
// the one before, and returns when the notebook has it.
func (l *live) End(err error) {
	ending := "finished"
	if l.history.LastWarning() != "" {
		ending = "ended"
	}
	var interruption *runs.Interruption
	switch {
	case errors.As(err, &interruption):
		ending = "stopped, with a checkpoint: training it again goes on from there"
	case err != nil:
		ending = "stopped: " + err.Error()
	}
	l.update(ending)
	l.sync()
}

func (l *live) updateIfDue() {
	if l.now().Sub(l.updated) >= betweenUpdates {
		l.update("")
	}
}

// update shows the state; ending says how training ended, if it did.
func (l *live) update(ending string) {
	l.updated = l.now()
	if len(l.history.Epochs) > l.drawn && l.seen() {
		l.curve, l.drawn = curveImage(l.history), len(l.history.Epochs)
	}
	l.show(l.html(ending))
}

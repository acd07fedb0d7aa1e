//go:build unix

package kernel

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html"
	"path/filepath"
	"sync"
	"time"

	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// live shows runs in the notebook while they train: progress, curves and samples.
type live struct {
	folder string // of the run directories
	// display shows HTML in the notebook; with update it replaces the display with the same id.
	display func(id, html string, update bool)

	mu     sync.Mutex
	panels map[string]*panel
}

// panel is the display of one run.
type panel struct {
	html  string
	still bool // html describes a run that is not training
	ids   []string
}

// mostDisplays is how many displays of a run, the latest ones, are kept up to date.
const mostDisplays = 8

func newLive(folder string, display func(id, html string, update bool)) *live {
	return &live{folder: folder, display: display, panels: map[string]*panel{}}
}

// panel returns the panel of a run. The caller holds the lock.
func (l *live) panel(run string) *panel {
	if l.panels[run] == nil {
		l.panels[run] = &panel{}
	}
	return l.panels[run]
}

// of returns a copy of the panel of a run.
func (l *live) of(run string) panel {
	l.mu.Lock()
	defer l.mu.Unlock()
	return *l.panel(run)
}

// shows reports whether a run has a display.
func (l *live) shows(run string) bool { return len(l.of(run).ids) > 0 }

// add adds a display of a run.
func (l *live) add(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.panel(run)
	id := "helmholtz-" + rand.Text()
	p.ids = append(p.ids, id)
	p.ids = p.ids[max(0, len(p.ids)-mostDisplays):]
	l.display(id, p.html, false)
}

// update replaces the displays of a run. still says that html describes a run that is not training.
func (l *live) update(run, html string, still bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.panel(run)
	p.html, p.still = html, still
	for _, id := range p.ids {
		l.display(id, html, true)
	}
}

// show adds a display of a run. Training keeps the display up to date. If the run is not training,
// show describes its current state, and once more if the run began or ended meanwhile.
func (l *live) show(s *session.Session, run string) error {
	info, err := s.Info(run)
	for err == nil && (info.State != session.Running || l.of(run).html == "") {
		described := info.State
		l.update(run, describe(info), true)
		if info, err = s.Info(run); info.State == described {
			break
		}
	}
	if err == nil {
		l.add(run)
	}
	return err
}

// ended describes a run that has ended, unless its recorder already shows the end.
func (l *live) ended(s *session.Session, run string) {
	if !l.of(run).still {
		return
	}
	if info, err := s.Info(run); err == nil && info.State != session.Running {
		l.update(run, describe(info), true)
	}
}

// describe returns the description of a run that is not training. It includes the time, because after the notebook is
// reopened or the kernel restarted, nobody keeps the display up to date.
func describe(i session.Info) string {
	text := fmt.Sprintf("<p><b>%s</b> %s, epoch %d of %d</p>", html.EscapeString(i.Name), html.EscapeString(i.Does()), i.Epoch, i.Epochs)
	for _, said := range []string{i.Error, i.Warning} {
		if said != "" {
			text += fmt.Sprintf("<p>%s</p>", html.EscapeString(said))
		}
	}
	if run, err := runs.Open(i.Dir); err == nil && i.Epoch > 0 {
		text += image(plotting.Curves(run.History()).Size(5, 2.6)) + samples(i.Dir)
	}
	return fmt.Sprintf("%s<div>as of %s</div>%s", text, time.Now().Format("2 January 2006, 15:04:05"), hint(i.Name))
}

// hint returns HTML that explains how to show the current state of a run.
func hint(run string) string {
	return fmt.Sprintf(`<div style="font-size:11px"><code>%%hm show %s</code> shows it as it is</div>`, html.EscapeString(run))
}

// observe returns the recorder that shows a run.
func (l *live) observe(run string) runs.Recorder {
	dir := filepath.Join(l.folder, run)
	return l.watch(run, func() string { return samples(dir) })
}

// watched is the recorder of a displayed run. After each epoch it draws samples of the checkpoint,
// if the run has a display.
type watched struct {
	runs.Recorder
	live   *live
	run    string
	sample func() string // draws samples of the last checkpoint
	newer  bool          // there may be a checkpoint that is not drawn yet

	mu       sync.Mutex // taken before the lock of live
	progress string
	samples  string
	drawing  chan struct{} // closed when drawing has ended; nil if idle
	unshown  bool          // the last samples are not shown yet
	drawn    time.Time     // when the last drawing ended
	took     time.Duration // the last drawing
}

func (l *live) watch(run string, sample func() string) *watched {
	w := &watched{live: l, run: run, sample: sample, newer: true}
	w.Recorder = plotting.LiveHTML(func() bool { return l.shows(run) }, func(progress string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.progress = progress
		w.show()
	})
	return w
}

// show shows the run as it is. The caller holds the lock.
func (w *watched) show() {
	w.unshown = false
	w.live.update(w.run, w.progress+w.samples+hint(w.run), false)
}

// Epoch notes that the next checkpoint has to be drawn.
func (w *watched) Epoch(e runs.Epoch) {
	w.newer = true
	w.Recorder.Epoch(e)
}

// Step draws samples at the first step after an epoch, when its checkpoint exists, or at a later one if samples are
// being drawn, are not shown yet, or would take more than a tenth of the time. The next update of the progress shows
// them.
func (w *watched) Step(p runs.Progress) {
	w.mu.Lock()
	if w.newer && w.live.shows(w.run) && w.drawing == nil && !w.unshown && time.Since(w.drawn) >= 10*w.took {
		w.newer, w.drawing = false, make(chan struct{})
		go w.draw()
	}
	w.mu.Unlock()
	w.Recorder.Step(p)
}

// errSaved is shown for a run that was stopped.
var errSaved = errors.New("with a checkpoint; %hm resume continues")

// End returns once the final display is shown, so that it is visible to whoever waits for the run.
func (w *watched) End(err error) {
	if errors.Is(err, context.Canceled) {
		err = errSaved
	}
	w.Recorder.End(err)
	if !w.live.shows(w.run) {
		return
	}
	w.mu.Lock()
	earlier := w.drawing
	w.mu.Unlock()
	if earlier != nil {
		<-earlier
	}
	w.mu.Lock() // which the earlier drawing lets go of only after it has ended
	w.drawing = make(chan struct{})
	w.mu.Unlock()
	w.draw()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.show()
}

// draw draws samples of the last checkpoint.
func (w *watched) draw() {
	began := time.Now()
	drawn := w.sample()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drawn = time.Now()
	w.took = w.drawn.Sub(began)
	if drawn != "" {
		w.samples, w.unshown = drawn, true
	}
	close(w.drawing)
	w.drawing = nil
}

// samples draws samples of a run's last checkpoint, if its model needs few sweeps. It returns "" if
// there are none or drawing panics, so that training continues.
func samples(dir string) (drawn string) {
	defer func() {
		if recover() != nil {
			drawn = ""
		}
	}()
	run, err := runs.Open(dir)
	if err != nil {
		return ""
	}
	figure, err := plotting.UsualSamples(context.Background(), run, 25)
	if err != nil || figure == nil {
		return ""
	}
	return image(figure.Size(3, 3))
}

// image returns a figure as HTML, or "" if it cannot be drawn.
func image(f *plotting.Figure) string {
	text, _ := f.HTML()
	return text
}

package kernel

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"path/filepath"
	"sync"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/proxy"
	"github.com/helmholtz-go/helmholtz/kernelext/internal/session"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// live shows runs in the notebook as they train: progress, curves and samples.
type live struct {
	folder string // of the run directories
	board  *board
	kernel *proxy.Kernel
	ready  chan struct{} // closed when kernel is set
}

func newLive(folder string) *live {
	l := &live{folder: folder, ready: make(chan struct{})}
	l.board = newBoard(func(id, html string, update bool) {
		<-l.ready
		l.kernel.Display(id, map[string]string{"text/html": html, "text/plain": "a run; its display is HTML"}, update)
	})
	return l
}

// connect gives the displays their notebook.
func (l *live) connect(k *proxy.Kernel) {
	l.kernel = k
	close(l.ready)
}

// show adds a display of a run.
func (l *live) show(s *session.Session, run string) error {
	info, err := s.Info(run)
	if err != nil {
		return err
	}
	if !l.board.has(run) {
		l.board.update(run, describe(info))
	}
	l.board.show(run)
	return nil
}

// describe is what is shown of a run that has not trained in this session.
func describe(i session.Info) string {
	text := fmt.Sprintf("<p><b>%s</b> %s, epoch %d of %d</p>", html.EscapeString(i.Name), i.State, i.Epoch, i.Epochs)
	run, err := hm.OpenRun(i.Dir)
	if err != nil || i.Epoch == 0 {
		return text
	}
	return text + image("training curves", plotting.Curves(run.History()).Size(5, 2.6)) + samples(i.Dir)
}

// observe returns the recorder that shows a run.
func (l *live) observe(run string) hm.Recorder {
	w := &watched{board: l.board, run: run, dir: filepath.Join(l.folder, run)}
	w.Recorder = plotting.LiveHTML(w.show)
	return w
}

// watched is the recorder of a run that is shown. After each epoch it draws
// samples of the checkpoint.
type watched struct {
	hm.Recorder
	board    *board
	run, dir string
	epoch    bool // an epoch has ended and its checkpoint is not drawn yet

	mu       sync.Mutex
	progress string
	samples  string
	drawing  bool
}

func (w *watched) show(progress string) {
	w.mu.Lock()
	w.progress = progress
	text := w.progress + w.samples
	w.mu.Unlock()
	w.board.update(w.run, text)
}

// Epoch implements hm.Recorder.
func (w *watched) Epoch(e hm.Epoch) {
	w.epoch = true
	w.Recorder.Epoch(e)
}

// Step implements hm.Recorder. At the first step after an epoch there is its
// checkpoint.
func (w *watched) Step(p hm.Progress) {
	if w.epoch {
		w.epoch = false
		w.draw()
	}
	w.Recorder.Step(p)
}

// errSaved is what a display says of a run that was stopped or paused.
var errSaved = errors.New("with a checkpoint; %hm resume continues")

// End implements hm.Recorder.
func (w *watched) End(err error) {
	if errors.Is(err, context.Canceled) {
		err = errSaved
	}
	w.Recorder.End(err)
	w.draw()
}

// draw draws samples beside training, unless it does already.
func (w *watched) draw() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.drawing {
		return
	}
	w.drawing = true
	go func() {
		drawn := samples(w.dir)
		w.mu.Lock()
		w.drawing = false
		if drawn != "" {
			w.samples = drawn
		}
		text := w.progress + w.samples
		w.mu.Unlock()
		w.board.update(w.run, text)
	}()
}

// samples draws samples of the last checkpoint of a run, nothing if it has
// none.
func samples(dir string) string {
	run, err := hm.OpenRun(dir)
	if err != nil {
		return ""
	}
	sheet, err := run.Sample(context.Background(), 25)
	if err != nil {
		return ""
	}
	return image("samples", plotting.Samples(sheet).Size(3, 3))
}

// image is a figure as HTML.
func image(name string, f *plotting.Figure) string {
	png, err := f.PNG()
	if err != nil {
		return ""
	}
	return fmt.Sprintf(`<img alt="%s" src="data:image/png;base64,%s">`, name, base64.StdEncoding.EncodeToString(png))
}

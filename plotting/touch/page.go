package touch

import (
	"context"
	"fmt"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// patience is how long to wait for a front end to show the slider.
const patience = 20 * time.Second

// page is the output of the cell: the slider's place, and the figure below it. The slider exists
// only in the browser, so that a saved notebook has no dead slider.
type page struct {
	figure, controls string // ids of displays
	place            string // id of the slider's element
	slider           *widgets.SliderBuilder
	done             *widgets.ButtonBuilder
}

func newPage(figures, first int) *page {
	p := &page{figure: gonbui.UniqueId(), controls: gonbui.UniqueId(), place: "touch_" + gonbui.UniqueId()}
	p.slider = widgets.Slider(0, figures-1, first).AppendTo(p.place)
	p.done = widgets.Button("Done").AppendTo(p.place)
	gonbui.UpdateHTML(p.controls, fmt.Sprintf(`<div id="%s"><small>A still picture: run the cell again for the slider.</small></div>`, p.place))
	return p
}

func (p *page) show(html string) { gonbui.UpdateHTML(p.figure, html) }

func (p *page) touched(ctx context.Context) (<-chan int, <-chan int, bool) {
	there := make(chan struct{})
	go func() {
		dom.SetInnerHtml(p.place, "")
		p.slider.Done() // returns when the front end has received it
		p.done.Done()
		close(there)
	}()
	select {
	case <-there:
		return p.slider.Listen().LatestOnly().C, p.done.Listen().C, true
	case <-time.After(patience):
	case <-ctx.Done():
	}
	return nil, nil, false
}

func (p *page) still() {
	gonbui.UpdateHTML(p.controls, "")
	gonbui.Sync()
}

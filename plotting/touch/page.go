package touch

import (
	"context"
	"fmt"
	"time"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// patience is how long a front end may take to show the slider.
const patience = 20 * time.Second

// page is the output of the cell: the place of the slider, and below it the figure. The slider
// is put there in the browser alone, so that the notebook, once saved, has none that is dead.
type page struct {
	figure, controls string // displays
	place            string // element of the page
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
		p.slider.Done() // returns when the front end has it
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

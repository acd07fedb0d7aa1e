// Package touch shows figures in a notebook with a slider that selects one of them. It uses GoNB's widgets.
//
// The cell keeps running, and its figure follows the slider, until the reader clicks Done or the context is
// cancelled. The last figure stays in the notebook as a still picture. If no front end responds, for example
// when a notebook is executed from top to bottom, the first figure is the still picture.
package touch

import (
	"context"
	"fmt"
	"html"
	"os"
	"slices"
	"time"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/dom"
	"github.com/janpfeifer/gonb/gonbui/widgets"
)

// patience is how long to wait for a front end to show the slider.
const patience = 20 * time.Second

// Epochs shows n samples of the model after an epoch that the slider selects: an epoch whose checkpoint
// the run keeps (Method.Keep), or its last epoch, unless the next epoch has begun. All samples are drawn
// with the same random numbers.
func Epochs(ctx context.Context, run *hm.Run, n int) {
	epochs := run.Kept()
	if last := run.Epochs(); !slices.Contains(epochs, last) {
		if _, err := run.At(last); err == nil || len(epochs) == 0 {
			epochs = append(epochs, last)
		}
	}
	Show(ctx, len(epochs), len(epochs)-1, func(i int) (*plotting.Figure, error) {
		model, err := run.At(epochs[i])
		if err != nil {
			return nil, err
		}
		sheet, err := model.Means(ctx, n)
		if err != nil {
			return nil, err
		}
		return plotting.Samples(sheet).Title(fmt.Sprintf("Samples after epoch %d of %d", epochs[i], run.Epochs())), nil
	})
}

// Units shows n dreams of a model next to the same dreams with one unit of a hidden layer held off and
// held on. layer is the number of the hidden layer, from 1; the slider selects the unit.
func Units(ctx context.Context, model *hm.Model, layer, n int) {
	if _, err := model.Held(layer, 0, true); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	units := model.Architecture().Units[layer]
	Show(ctx, units, 0, func(unit int) (*plotting.Figure, error) {
		return held(ctx, model, layer, unit, n)
	})
}

func held(ctx context.Context, model *hm.Model, layer, unit, n int) (*plotting.Figure, error) {
	off, err := model.Held(layer, unit, false)
	if err != nil {
		return nil, err
	}
	on, err := model.Held(layer, unit, true)
	if err != nil {
		return nil, err
	}
	var columns []plotting.Column
	for _, c := range []struct {
		heading string
		model   *hm.Model
	}{{"off", off}, {"as drawn", model}, {"on", on}} {
		sheet, err := c.model.Means(ctx, n)
		if err != nil {
			return nil, err
		}
		columns = append(columns, plotting.Column{Heading: c.heading, Sheet: sheet})
	}
	return plotting.SideBySide(columns...).Title(fmt.Sprintf("Unit %d of hidden layer %d", unit, layer)), nil
}

// Show shows one of several figures, which the slider selects. draw returns figure i, counted from 0; Show
// begins with figure first. If that has an error, Show prints it; it shows later errors in place of the
// figure.
func Show(ctx context.Context, figures, first int, draw func(i int) (*plotting.Figure, error)) {
	draw = oneOf(figures, draw)
	figure, err := draw(first)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	if !gonbui.IsNotebook {
		figure.Show()
		return
	}
	picture, controls, place := gonbui.UniqueId(), gonbui.UniqueId(), "touch_"+gonbui.UniqueId()
	slider, done := widgets.Slider(0, figures-1, first).AppendTo(place), widgets.Button("Done").AppendTo(place)
	gonbui.UpdateHTML(controls, fmt.Sprintf(`<div id="%s"><small>A still picture: run the cell again for the slider.</small></div>`, place))
	show := func(html string) { gonbui.UpdateHTML(picture, html) }
	show(element(figure, nil))
	there := make(chan struct{})
	go func() { // the slider exists only in the browser, so that a saved notebook has no dead slider
		dom.SetInnerHtml(place, "")
		slider.Done() // returns when the front end has received it
		done.Done()
		close(there)
	}()
	select {
	case <-there:
		follow(ctx, slider.Listen().LatestOnly().C, done.Listen().C, draw, show)
	case <-time.After(patience):
	case <-ctx.Done():
	}
	gonbui.UpdateHTML(controls, "")
	gonbui.Sync()
}

// oneOf restricts draw to the numbers of the figures, and turns a nil figure into an error.
func oneOf(figures int, draw func(i int) (*plotting.Figure, error)) func(i int) (*plotting.Figure, error) {
	return func(i int) (*plotting.Figure, error) {
		if i < 0 || i >= figures {
			return nil, fmt.Errorf("touch: figure %d of %d does not exist: numbers start at 0", i, figures)
		}
		figure, err := draw(i)
		if figure == nil && err == nil {
			err = fmt.Errorf("touch: figure %d of %d is nil: return a figure or an error", i, figures)
		}
		return figure, err
	}
}

// follow shows the figures that the slider selects, until the reader is done.
func follow(ctx context.Context, moves, done <-chan int, draw func(i int) (*plotting.Figure, error), show func(html string)) {
	for {
		select {
		case i := <-moves:
			show(element(draw(i)))
		case <-done:
			return
		case <-ctx.Done():
			return
		}
	}
}

func element(figure *plotting.Figure, err error) string {
	text := ""
	if err == nil {
		text, err = figure.HTML()
	}
	if err != nil {
		return html.EscapeString(err.Error())
	}
	return text
}

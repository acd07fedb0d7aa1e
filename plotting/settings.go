package plotting

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
)

// changed returns a copy of the figure, and calls change on copies of its panels. The figure remembers the first error.
func (f *Figure) changed(change func(*panel) error) *Figure {
	c := *f
	c.panels, c.parts = nil, nil
	for _, part := range f.parts {
		part = part.changed(change)
		c.parts, c.err = append(c.parts, part), cmp.Or(c.err, part.err)
	}
	for _, p := range f.panels {
		copied := *p.Plot
		p = &panel{&copied, p.series}
		if err := change(p); err != nil && c.err == nil {
			c.err = fmt.Errorf("plotting: %w", err)
		}
		c.panels = append(c.panels, p)
	}
	return &c
}

// Labels returns a copy of the figure with other axis labels. An empty text removes a label.
func (f *Figure) Labels(x, y string) *Figure {
	return f.changed(func(p *panel) error {
		p.X.Label.Text, p.Y.Label.Text = x, y
		return nil
	})
}

// XRange returns a copy of the figure whose horizontal axes go from low to high.
func (f *Figure) XRange(low, high float64) *Figure {
	return f.changed(func(p *panel) error { return setRange(&p.X, low, high) })
}

// YRange returns a copy of the figure whose vertical axes go from low to high.
func (f *Figure) YRange(low, high float64) *Figure {
	return f.changed(func(p *panel) error { return setRange(&p.Y, low, high) })
}

// checkScale refuses an axis of a heat map or of piano rolls, on which the labels of the ticks are not their positions.
func checkScale(axis *plot.Axis) error {
	if _, own := axis.Tick.Marker.(plot.ConstantTicks); own {
		return errors.New("the axis has a place for each setting or unit and no scale: leave its range and ticks as they are")
	}
	return nil
}

func setRange(axis *plot.Axis, low, high float64) error {
	if err := checkScale(axis); err != nil {
		return err
	}
	from, to := position(axis, low), position(axis, high)
	if !(from < to) || math.IsInf(from, 0) || math.IsInf(to, 0) {
		return fmt.Errorf("an axis from %v to %v: give two finite numbers, the smaller first, above 0 on a logarithmic axis", low, high)
	}
	axis.Min, axis.Max = from, to
	return nil
}

func position(axis *plot.Axis, value float64) float64 {
	if logarithmic(axis.Tick.Marker) {
		return math.Log10(value)
	}
	return value
}

// XTicks returns a copy of the figure with ticks at the given values of its horizontal axes.
func (f *Figure) XTicks(values ...float64) *Figure {
	return f.changed(func(p *panel) error { return setTicks(&p.X, values) })
}

// YTicks returns a copy of the figure with ticks at the given values of its vertical axes.
func (f *Figure) YTicks(values ...float64) *Figure {
	return f.changed(func(p *panel) error { return setTicks(&p.Y, values) })
}

type chosenTicks struct {
	plot.ConstantTicks
	logarithmic bool
}

func setTicks(axis *plot.Axis, values []float64) error {
	if err := checkScale(axis); err != nil {
		return err
	}
	ticks := chosenTicks{logarithmic: logarithmic(axis.Tick.Marker)}
	for _, value := range values {
		at := position(axis, value)
		if math.IsNaN(at) || math.IsInf(at, 0) {
			return fmt.Errorf("a tick at %v: give a finite number, above 0 on a logarithmic axis", value)
		}
		ticks.ConstantTicks = append(ticks.ConstantTicks, plot.Tick{Value: at, Label: shortest(value, -1)})
	}
	axis.Tick.Marker = ticks
	return nil
}

// Names returns a copy of the figure with other names in its legend, from the first entry on. An empty name
// keeps the entry's name.
func (f *Figure) Names(names ...string) *Figure {
	c := *f
	c.legend = slices.Clone(f.legend)
	for i, name := range names {
		if i >= len(c.legend) {
			if c.err == nil {
				c.err = fmt.Errorf("plotting: there are %d names for the %d entries of the legend: omit some", len(names), len(f.legend))
			}
			break
		}
		if name != "" {
			c.legend[i].text = shortened(name)
		}
	}
	return &c
}

// Row puts figures side by side in one file. It adds (a), (b) and so on in front of their titles.
func Row(figures ...*Figure) *Figure {
	if len(figures) == 0 {
		return failed(errors.New("no figures to put side by side: give at least one"))
	}
	row := &Figure{}
	for i, f := range figures {
		if f.err != nil {
			return &Figure{err: f.err}
		}
		width, height := f.outerSize()
		row.width, row.height = row.width+width, max(row.height, height)
		row.parts = append(row.parts, f.Title(strings.TrimSpace(fmt.Sprintf("(%c) %s", 'a'+i, f.title))))
	}
	return row
}

// allPanels returns the panels of the figure and of its parts.
func (f *Figure) allPanels() []*panel {
	all := slices.Clone(f.panels)
	for _, part := range f.parts {
		all = append(all, part.allPanels()...)
	}
	return all
}

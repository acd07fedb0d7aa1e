package plotting

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

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

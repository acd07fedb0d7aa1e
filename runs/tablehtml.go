package runs

import (
	"fmt"
	"html"
	"io"
	"maps"
	"slices"
	"strings"
)

// WriteHTML writes the table for a page or a notebook, styled in place: what WriteText
// writes, with the title as the caption.
func (t *Table) WriteHTML(w io.Writer) error {
	var b strings.Builder
	b.WriteString(`<table style="border-collapse:collapse;font-size:13px">`)
	if t.title != "" {
		fmt.Fprintf(&b, `<caption style="text-align:left"><b>%s</b></caption>`, html.EscapeString(oneLine(t.title)))
	}
	for i, line := range t.lines(strings.NewReplacer()) {
		element := "td"
		if i == 0 {
			element = "th"
		}
		b.WriteString("<tr>")
		for j, cell := range line {
			align := "left"
			if t.columns[j].Kind.toTheRight() {
				align = "right"
			}
			fmt.Fprintf(&b, `<%s style="text-align:%s;padding:2px 8px">%s</%s>`, element, align, html.EscapeString(cell), element)
		}
		b.WriteString("</tr>\n")
	}
	b.WriteString("</table>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// SettingsTable has a row for each setting of an experiment.
func SettingsTable(e Experiment) *Table {
	t := NewTable("settings", e.String(), Column{Key: "setting"}, Column{Key: "value"})
	all := settings(e)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Add(name, strings.Trim(all[name], `"`))
	}
	return t
}

package runs

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
)

// String is the table as WriteText writes it.
func (t *Table) String() string {
	var b strings.Builder
	t.WriteText(&b)
	return b.String()
}

// WriteText writes the table for a terminal: the title and an empty line, where
// there is a title, a line of labels with units, and a line for each row, in
// columns that are aligned to the right where they are of numbers. A missing cell
// is a dash, an infinity +Inf or -Inf. Widths are those of alphabetic scripts,
// with combining characters.
func (t *Table) WriteText(w io.Writer) error {
	lines := t.lines(strings.NewReplacer())
	widths := make([]int, len(t.columns))
	for _, line := range lines {
		for i, cell := range line {
			widths[i] = max(widths[i], displayWidth(cell))
		}
	}
	var b strings.Builder
	if t.title != "" {
		b.WriteString(oneLine(t.title) + "\n\n")
	}
	for _, line := range lines {
		var text strings.Builder
		for i, cell := range line {
			if i > 0 {
				text.WriteString("  ")
			}
			padding := strings.Repeat(" ", widths[i]-displayWidth(cell))
			if t.columns[i].Kind.toTheRight() {
				text.WriteString(padding + cell)
			} else {
				text.WriteString(cell + padding)
			}
		}
		b.WriteString(strings.TrimRight(text.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// EscapeMarkdown writes a text such that Markdown shows it as it is.
func EscapeMarkdown(text string) string { return markdownEscapes.Replace(text) }

// markdownEscapes keeps texts from being markup, and within their cells.
var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "`", "\\`", `*`, `\*`, `_`, `\_`, `~`, `\~`,
	`[`, `\[`, `]`, `\]`, `<`, `\<`, `>`, `\>`, `&`, `\&`)

// WriteMarkdown writes the table for a document, as GitHub reads it: what
// WriteText writes, with a title in bold, and texts that are not markup.
func (t *Table) WriteMarkdown(w io.Writer) error {
	var b strings.Builder
	if t.title != "" {
		fmt.Fprintf(&b, "**%s**\n\n", markdownEscapes.Replace(oneLine(t.title)))
	}
	for i, line := range t.lines(markdownEscapes) {
		b.WriteString("| " + strings.Join(line, " | ") + " |\n")
		if i > 0 {
			continue
		}
		b.WriteByte('|')
		for _, c := range t.columns {
			if c.Kind.toTheRight() {
				b.WriteString(" ---: |")
			} else {
				b.WriteString(" --- |")
			}
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// lines are the labels and the rows, for people.
func (t *Table) lines(escapes *strings.Replacer) [][]string {
	labels := make([]string, len(t.columns))
	for i, c := range t.columns {
		labels[i] = cmp.Or(c.Label, c.Key)
		unit := c.Unit
		if c.Fraction {
			unit = "%"
		}
		if unit != "" {
			labels[i] += " (" + unit + ")"
		}
		labels[i] = escapes.Replace(oneLine(labels[i]))
	}
	lines := [][]string{labels}
	for _, row := range t.rows {
		line := make([]string, len(row))
		for i, cell := range row {
			line[i] = escapes.Replace(oneLine(t.columns[i].display(cell)))
		}
		lines = append(lines, line)
	}
	return lines
}

// display writes a cell for people.
func (c Column) display(cell any) string {
	switch x := cell.(type) {
	case nil:
		return "–"
	case float64:
		if c.Fraction {
			// Without the digits that come of the product's rounding.
			x, _ = strconv.ParseFloat(strconv.FormatFloat(100*x, 'g', 15, 64), 64)
		}
		if c.Decimals > 0 {
			return strconv.FormatFloat(x, 'f', c.Decimals, 64)
		}
		return fmt.Sprint(x)
	}
	return fmt.Sprint(cell)
}

func (k ColumnKind) toTheRight() bool { return k == Integer || k == Number }

// oneLine has spaces instead of line breaks and of characters that control a
// terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)
}

// displayWidth counts the characters that take a place of their own.
func displayWidth(s string) (width int) {
	for _, r := range s {
		if !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
			width++
		}
	}
	return width
}

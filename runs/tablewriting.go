package runs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

func (t *Table) String() string {
	var b strings.Builder
	t.WriteText(&b)
	return b.String()
}

// WriteText writes the table for a terminal: the title, if there is one, with an empty line; a line of
// labels with units; and one line per row. Columns are aligned, numbers to the right. A missing cell is
// written as a dash, and an infinity as +Inf or -Inf. The alignment is right for alphabetic scripts,
// including combining characters.
func (t *Table) WriteText(w io.Writer) error {
	widths := make([]int, len(t.columns))
	for _, line := range t.lines(oneLine) {
		for i, cell := range line {
			widths[i] = max(widths[i], names.Width(cell))
		}
	}
	return t.write(w, oneLine, "", "%s\n\n", "", func(_ int, line []string) string {
		for i, cell := range line {
			padding := strings.Repeat(" ", widths[i]-names.Width(cell))
			line[i] = t.columns[i].Kind.aligned(cell+padding, padding+cell)
		}
		return strings.TrimRight(strings.Join(line, "  "), " ") + "\n"
	})
}

// WriteMarkdown writes the table as GitHub Markdown. The contents are as in WriteText, with the title in
// bold and texts escaped.
func (t *Table) WriteMarkdown(w io.Writer) error {
	return t.write(w, names.Markdown, "", "**%s**\n\n", "", func(i int, line []string) string {
		text := "| " + strings.Join(line, " | ") + " |\n"
		if i == 0 {
			text += "|" + t.eachAligned(" --- |", " ---: |") + "\n"
		}
		return text
	})
}

// latexEscapes escapes markup, and writes the signs of methods and measures as commands, which pdfTeX needs.
var latexEscapes = strings.NewReplacer(`\`, `\textbackslash{}`, `&`, `\&`, `%`, `\%`, `$`, `\$`, `#`, `\#`, `_`, `\_`, `{`, `\{`, `}`, `\}`,
	`~`, `\textasciitilde{}`, `^`, `\textasciicircum{}`, `<`, `$<$`, `>`, `$>$`, `|`, `$|$`, `–`, `--`, `−`, `$-$`, `±`, `$\pm$`, `×`, `$\times$`, `²`, `$^2$`,
	`≤`, `$\leq$`, `≥`, `$\geq$`, `η`, `$\eta$`, `α`, `$\alpha$`, `β`, `$\beta$`, `λ`, `$\lambda$`, `σ`, `$\sigma$`, `ε`, `$\varepsilon$`)

// WriteLaTeX writes the table as a tabular, which needs no package, within a table with a caption if there is a
// title. The contents are as in WriteText, with texts escaped.
func (t *Table) WriteLaTeX(w io.Writer) error {
	end := "\\hline\n\\end{tabular}\n"
	if t.title != "" {
		end += "\\end{table}\n"
	}
	return t.write(w, latexEscapes.Replace, "", "\\begin{table}\n\\centering\n\\caption{%s}\n", end, func(i int, line []string) string {
		if i == 0 {
			return `\begin{tabular}{` + t.eachAligned("l", "r") + "}\n\\hline\n" + strings.Join(line, " & ") + " \\\\\n\\hline\n"
		}
		for j, cell := range line {
			if t.columns[j].Kind.toTheRight() {
				if cell = strings.Replace(cell, "Inf", `\infty`, 1); strings.ContainsAny(cell[:1], "+-") && cell != "--" {
					line[j] = "$" + cell + "$"
				}
			}
		}
		return strings.Join(line, " & ") + " \\\\\n"
	})
}

// write writes begin, the title in a format, if there is one, the labels and the rows as text formats them, and end.
func (t *Table) write(w io.Writer, escape func(string) string, begin, title, end string, text func(i int, line []string) string) error {
	b := []string{begin}
	if t.title != "" {
		b = append(b, fmt.Sprintf(title, escape(oneLine(t.title))))
	}
	for i, line := range t.lines(escape) {
		b = append(b, text(i, line))
	}
	_, err := io.WriteString(w, strings.Join(append(b, end), ""))
	return err
}

// lines returns the labels and the rows, formatted for people.
func (t *Table) lines(escape func(string) string) [][]string {
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
		labels[i] = escape(oneLine(labels[i]))
	}
	lines := [][]string{labels}
	for _, row := range t.Rows() {
		line := lists.N(len(row), func(i int) string { return escape(oneLine(t.columns[i].display(row[i]))) })
		lines = append(lines, line)
	}
	return lines
}

func (c Column) display(cell any) string {
	switch x := cell.(type) {
	case nil:
		return "–"
	case float64:
		if c.Fraction {
			x *= 100
		}
		if c.Decimals > 0 {
			return fmt.Sprintf("%.*f", c.Decimals, Float(x))
		}
		if x != math.Trunc(x) {
			return fmt.Sprintf("%.6g", x)
		}
		return fmt.Sprint(x)
	}
	return fmt.Sprint(cell)
}

func (k ColumnKind) toTheRight() bool { return k == Integer || k == Number }

// aligned returns right for columns of numbers, and left for others.
func (k ColumnKind) aligned(left, right string) string {
	if k.toTheRight() {
		return right
	}
	return left
}

// eachAligned returns right for each column of numbers, and left for each other column.
func (t *Table) eachAligned(left, right string) (all string) {
	for _, c := range t.columns {
		all += c.Kind.aligned(left, right)
	}
	return all
}

// oneLine replaces line breaks and terminal control characters by spaces.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) {
			return ' '
		}
		return r
	}, s)
}

// WriteHTML writes the table for a page or a notebook, with inline styles. The contents are as in
// WriteText, with the title as the caption.
func (t *Table) WriteHTML(w io.Writer) error {
	const begin, title = `<table style="border-collapse:collapse;font-size:13px">`, `<caption style="text-align:left"><b>%s</b></caption>`
	return t.write(w, html.EscapeString, begin, title, "</table>\n", func(i int, line []string) string {
		element := "td"
		if i == 0 {
			element = "th"
		}
		for j, cell := range line {
			line[j] = fmt.Sprintf(`<%s style="text-align:%s;padding:2px 8px">%s</%[1]s>`, element, t.columns[j].Kind.aligned("left", "right"), cell)
		}
		return "<tr>" + strings.Join(line, "") + "</tr>\n"
	})
}

// SettingsTable returns a table with one row per setting of an experiment.
func SettingsTable(e Experiment) *Table {
	t := NewTable("settings", e.String(), Column{Key: "setting"}, Column{Key: "value"})
	all := settings(e)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Add(name, unquoted(all[name]))
	}
	return t
}

// WriteCSV writes a line of keys and one line per row, in UTF-8, quoted as in RFC 4180, except that lines
// end with a newline alone. A missing cell is an empty field, an infinity is +Inf or -Inf, and a boolean
// is true or false. Numbers have enough digits to read back exactly.
func (t *Table) WriteCSV(w io.Writer) error {
	var b strings.Builder
	keys := lists.Map(t.columns, func(c Column) string { return c.Key })
	b.WriteString(strings.Join(keys, ",") + "\n")
	for _, row := range t.Rows() {
		if len(row) == 1 && row[0] == nil {
			b.WriteString(`""`) // programs skip an empty line
		}
		var fields []string
		for _, cell := range row {
			text := plain(cell)
			if _, is := cell.(string); is && strings.ContainsAny(text, ",\"\r\n") {
				text = `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
			}
			fields = append(fields, text)
		}
		b.WriteString(strings.Join(fields, ",") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// plain returns a cell as text, or "" if it is missing.
func plain(cell any) string {
	switch x := cell.(type) {
	case nil:
		return ""
	case float64:
		return exactNumber(x)
	}
	return fmt.Sprint(cell)
}

// WriteJSON writes an array with one object per row, each on its own line, with all keys in the
// order of the columns. A missing cell is null. An infinity, which JSON cannot express, is the
// string "+Inf" or "-Inf". Numbers have enough digits to read back exactly; pandas.read_json does
// so with precise_float=True.
func (t *Table) WriteJSON(w io.Writer) error {
	keys := lists.Map(t.columns, func(c Column) string { return c.Key })
	return WriteRecords(w, keys, t.Rows())
}

// WriteRecords writes an array of JSON with an object on each line for each row of cells, whose keys may be any text. A cell
// is one of a table.
func WriteRecords(w io.Writer, keys []string, cells [][]any) error {
	var rows, names []string
	for _, key := range keys {
		name, err := json.Marshal(key)
		if err != nil {
			return err
		}
		names = append(names, string(name))
	}
	for _, row := range cells {
		var fields []string
		for i, cell := range row {
			value, err := jsonValue(cell)
			if err != nil {
				return err
			}
			fields = append(fields, names[i]+":"+string(value))
		}
		rows = append(rows, "\n{"+strings.Join(fields, ",")+"}")
	}
	end := "\n]\n"
	if len(rows) == 0 {
		end = "]\n"
	}
	_, err := io.WriteString(w, "["+strings.Join(rows, ",")+end)
	return err
}

func jsonValue(cell any) ([]byte, error) {
	if x, ok := cell.(float64); ok {
		if !math.IsInf(x, 0) {
			return []byte(exactNumber(x)), nil
		}
		cell = exactNumber(x)
	}
	return json.Marshal(cell)
}

// exactNumber returns the shortest decimal that reads back as x. It never looks like an integer, because
// programs that read the file derive the kind of a column from its cells.
func exactNumber(x float64) string {
	s := strconv.FormatFloat(x, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eI") {
		s += ".0"
	}
	return s
}

var tableFormats = map[string]func(*Table, io.Writer) error{
	"text":     (*Table).WriteText,
	"csv":      (*Table).WriteCSV,
	"json":     (*Table).WriteJSON,
	"markdown": (*Table).WriteMarkdown,
	"latex":    (*Table).WriteLaTeX,
}

// RegisterTableFormat registers a format by name, as package parquet does when it is imported. Call it
// before main begins. It panics if the name is taken.
func RegisterTableFormat(name string, write func(*Table, io.Writer) error) {
	if _, taken := tableFormats[name]; taken {
		panic("runs: the table format " + name + " is registered twice")
	}
	tableFormats[name] = write
}

// Write writes the table in a format: csv, json, latex, markdown or text, or parquet if package parquet is
// imported.
func (t *Table) Write(w io.Writer, format string) error {
	write, known := tableFormats[format]
	if !known {
		return fmt.Errorf("unknown table format %q: use one of %s", format, strings.Join(slices.Sorted(maps.Keys(tableFormats)), ", "))
	}
	return write(t, w)
}

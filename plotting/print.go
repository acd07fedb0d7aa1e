package plotting

import (
	"fmt"
	"html"
	"os"
	"strings"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/janpfeifer/gonb/gonbui"
)

// Print displays a value below the notebook cell that is running, and prints it elsewhere: a
// History, an Evaluation, a Comparison or a Machine as its table, an Experiment as a
// table of its settings, anything else as its text.
func Print(value any) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value)
		return
	}
	gonbui.DisplayHTML(printed(value))
	gonbui.Sync()
}

// Explain displays what a method or a machine says of itself, with its equations typeset, below
// the notebook cell that is running, and prints it elsewhere.
func Explain(value interface{ Explain() string }) {
	if !gonbui.IsNotebook {
		fmt.Fprintln(os.Stdout, value.Explain())
		return
	}
	gonbui.DisplayMarkdown(value.Explain())
	gonbui.Sync()
}

// printed is a value as HTML.
func printed(value any) string {
	if h, ok := value.(runs.History); ok && h.Err == nil {
		value = h.WithoutNorms()
	}
	var table *runs.Table
	switch v := value.(type) {
	case *runs.Table:
		table = v
	case interface{ Table() *runs.Table }:
		table = v.Table()
	case runs.Experiment:
		table = runs.SettingsTable(v)
	default:
		return "<pre>" + html.EscapeString(fmt.Sprint(value)) + "</pre>"
	}
	var b strings.Builder
	_ = table.WithoutMissing().WriteHTML(&b) // which a Builder takes
	return b.String()
}

package runs_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
	"pgregory.net/rapid"
)

// Letters outside the Latin alphabet and combining characters keep columns aligned; control
// characters do not start new lines.
func TestTextIsAligned(t *testing.T) {
	table := runs.NewTable("symbols", "", runs.Column{Key: "symbol"}, runs.Column{Key: "meaning", Label: "η ± α̃"},
		runs.Column{Key: "n", Label: "log p̃*", Unit: "nats", Kind: runs.Number, Decimals: 2}, runs.Column{Key: "last"})
	table.Add("η", "learning rate", 0.05, "a")
	table.Add("p̃*", "two\nlines", -1234.5, "")
	table.Add("ω̃̄", "\x1b[1m", nil, "c")
	want := `symbol  η ± α̃          log p̃* (nats)  last
η       learning rate           0.05  a
p̃*      two lines           -1234.50  –
ω̃̄        [1m                       –  c
`
	if got := table.String(); got != want {
		t.Errorf("the table is\n%swant\n%s", got, want)
	}
}

// A Markdown document has as many rows and cells as the table, whatever they contain.
func TestMarkdownHasEveryCell(t *testing.T) {
	separator := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*(\|)`)
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		text := write(t, table, "markdown")
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if table.Title() != "" {
			lines = lines[2:]
		}
		if want := 2 + len(table.Rows()); len(lines) != want {
			t.Fatalf("%d lines, want %d:\n%s", len(lines), want, text)
		}
		for _, line := range lines {
			if got, want := len(separator.FindAllString(line, -1)), 1+len(table.Columns()); got != want {
				t.Fatalf("%d separators, want %d: %s", got, want, line)
			}
		}
	})
}

package command

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/helmholtz-go/helmholtz/dataset/parquet" // which adds the format to data
	"github.com/helmholtz-go/helmholtz/runs"
	_ "github.com/helmholtz-go/helmholtz/runs/parquet" // the format parquet
	"github.com/spf13/cobra"
)

// tableFormats are the formats of tables, and tableEndings the extensions of their files.
var (
	tableFormats = []string{"text", "csv", "json", "markdown", "latex", "parquet"}
	tableEndings = []string{".txt", ".csv", ".json", ".md", ".tex", ".parquet"}
)

// tableFlags holds the format of a command's table and its file; without a file the table is
// printed.
type tableFlags struct {
	command      *cobra.Command
	format, path string
}

// newTableFlags adds the flags --format and --table to a command. Without them, the command prints
// its table in the format normal, or no table if normal is empty.
func newTableFlags(c *cobra.Command, of, normal string) *tableFlags {
	t := &tableFlags{command: c}
	choiceFlag(c.Flags(), &t.format, "format", "`format` of a table of "+of+": "+strings.Join(tableFormats, ", "), tableFormats...)
	c.Flags().Lookup("format").DefValue = normal
	c.Flags().StringVar(&t.path, "table", "", "`file` to write the table into; its extension decides the format ("+strings.Join(tableEndings, ", ")+") or --format")
	return t
}

// chosen reports whether the table replaces the command's other output.
func (t *tableFlags) chosen() bool { return t.path == "" && t.command.Flags().Changed("format") }

// check refuses contradictory flags, and a file that cannot be created or has the wrong type,
// before a command computes its contents. It also determines the format of the file.
func (t *tableFlags) check(asJSON bool) error {
	switch {
	case t.chosen() && asJSON:
		return misuse(t.command, "--json and --format %s contradict each other: give one of them", t.format)
	case t.path == "":
		return nil
	}
	ending := slices.Index(tableEndings, strings.ToLower(filepath.Ext(t.path)))
	switch given := t.command.Flags().Changed("format"); {
	case ending < 0 && !given:
		return misuse(t.command, "--table %s: use a name that ends in %s, or give --format", t.path, strings.Join(tableEndings, ", "))
	case ending >= 0 && given && tableFormats[ending] != t.format:
		return misuse(t.command, "--table %s with --format %s: omit --format, or use a name that ends in %s",
			t.path, t.format, tableEndings[slices.Index(tableFormats, t.format)])
	case !given:
		t.format = tableFormats[ending]
	}
	return refuseUnwritable(t.command, "table", t.path)
}

func (t *tableFlags) print(table *runs.Table) error {
	w := t.command.OutOrStdout()
	if t.format != tableFormats[0] {
		w = verbatim(w)
	}
	return table.Write(w, t.format)
}

func (t *tableFlags) give(table *runs.Table) error {
	if t.path != "" {
		return t.save(table)
	}
	return t.print(table)
}

// giveAndSay is like give, and also prints where the file is.
func (t *tableFlags) giveAndSay(table *runs.Table) error {
	err := t.give(table)
	if t.path == "" {
		return err
	}
	return savedAt(t.command, t.path, err)
}

func (t *tableFlags) save(table *runs.Table) error {
	if t.path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := table.Write(&b, t.format); err != nil {
		return err
	}
	return writeFile(t.path, b.Bytes())
}

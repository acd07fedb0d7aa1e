package runs

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

var tableFormats = map[string]func(*Table, io.Writer) error{
	"text":     (*Table).WriteText,
	"csv":      (*Table).WriteCSV,
	"json":     (*Table).WriteJSON,
	"markdown": (*Table).WriteMarkdown,
}

// RegisterTableFormat makes a format known by name, as package parquet does when
// it is imported. It is to be called before main, and panics if the name is
// taken.
func RegisterTableFormat(name string, write func(*Table, io.Writer) error) {
	if _, taken := tableFormats[name]; taken {
		panic("runs: the table format " + name + " is registered twice")
	}
	tableFormats[name] = write
}

// TableFormats are the names of the formats that this program can write: csv,
// json, markdown and text, and parquet where package parquet is imported.
func TableFormats() []string { return slices.Sorted(maps.Keys(tableFormats)) }

// Write writes the table in a format of TableFormats.
func (t *Table) Write(w io.Writer, format string) error {
	write, known := tableFormats[format]
	if !known {
		return fmt.Errorf("no table format %q in this program: use one of %s", format, strings.Join(TableFormats(), ", "))
	}
	return write(t, w)
}

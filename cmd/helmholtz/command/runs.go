package command

import (
	"fmt"

	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newRuns() *cobra.Command {
	var where, columns []string
	var by string
	c := &cobra.Command{
		Use:   "runs [DIR]",
		Short: "List the runs below a directory",
		Args:  between(0, 1, "name one directory"),
	}
	tables := newTableFlags(c, "runs", "text")
	c.Flags().StringArrayVar(&where, "where", nil, "`condition` that the runs must meet, NAME=VALUE or with another operator; may be repeated")
	c.Flags().StringVar(&by, "sort", "", "`column` or setting to sort by, descending with a leading minus (default: path)")
	c.Flags().StringSliceVar(&columns, "columns", nil, "additional `settings` to show, separated by commas")

	c.RunE = func(c *cobra.Command, args []string) error {
		if err := tables.check(false); err != nil {
			return err
		}
		dir := "runs"
		if len(args) > 0 {
			dir = args[0]
		}
		list, passed, err := runs.List(dir)
		if err != nil {
			return err
		}
		for _, err := range passed {
			fmt.Fprintf(c.ErrOrStderr(), "skipped %v\n", err)
		}
		table, err := list.Filter(where...)
		if err == nil && by != "" {
			table, err = table.SortedBy(by)
		}
		if len(list.Rows()) == 0 {
			columns = nil // without runs no setting is known
		}
		brief := table
		if err == nil {
			brief, err = runs.Overview(table, columns...)
		}
		if err != nil {
			return misuse(c, "%w", err)
		}
		if len(table.Rows()) == 0 {
			fmt.Fprintf(c.ErrOrStderr(), "no match among the %d runs below %s\n", len(list.Rows()), dir)
		}
		if tables.format == "csv" || tables.format == "json" || tables.format == "parquet" {
			brief = table
		}
		return tables.giveAndSay(brief)
	}
	return c
}

package main

import (
	"fmt"
	"path/filepath"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newReport() *cobra.Command {
	var out string
	var o plotting.ReportOptions
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Describe a run on one page of HTML",
		Long: `Describe a run on one page of HTML that needs no other file: the experiment, where and by
what it was computed, the curves, the norms of the layers, and of a Helmholtz machine the
evaluation on test rows with its standard errors, importance weights, log Z² and samples of
the last checkpoint.`,
		Example: `  helmholtz report runs/mnist
  helmholtz report runs/mnist --samples 10000 --rows 10000 --out mnist.html`,
		Args: oneRun,
	}
	f := c.Flags()
	f.Var(&namedFile{&out, []string{"html"}}, "out", "`file` to write (default DIR.html)")
	numberFlag(f, &o.Samples, "samples", 1000, 2, "`K` importance samples a datum")
	numberFlag(f, &o.Rows, "rows", 1000, 1, "evaluate `N` test rows drawn by seed")
	numberFlag(f, &o.LogZ2, "log-z2", 100_000, 10, "`N` outer samples for log Z²")
	c.RunE = func(c *cobra.Command, args []string) error {
		if isOtherFamily(args[0]) {
			if err := refuseOthers(c, "reports of other runs than those of Helmholtz machines", []string{"samples", "rows", "log-z2"}); err != nil {
				return err
			}
		}
		if out == "" {
			out = filepath.Join(args[0], "..", file.Name(args[0])+".html") // beside it
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		o.Progress = newFraction(c.ErrOrStderr(), "evaluating")
		page, err := plotting.Report(c.Context(), args[0], o)
		if err != nil {
			return err
		}
		if err := page.Save(out); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), out)
		return nil
	}
	return c
}

// isOtherFamily says whether a directory holds a run that is not of a Helmholtz machine.
func isOtherFamily(dir string) bool {
	e, err := runs.ExperimentIn(dir) // whose error another reader returns
	_, is := e.(hm.Experiment)
	return err == nil && !is
}

package command

import (
	"errors"
	"path/filepath"

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
what it was computed, the curves, the norms of the layers, and of the last checkpoint samples,
where they need no chains, the evaluation on test rows with its standard errors, where it is by
samples, and of a Helmholtz machine importance weights and log Z².`,
		Example: `  helmholtz report runs/mnist
  helmholtz report runs/mnist --samples 10000 --rows 10000 --out mnist.html`,
		Args: oneRun,
	}
	f := c.Flags()
	fileFlag(f, &out, "", "`file` to write (default DIR.html)", "html")
	numberFlag(f, &o.Samples, "samples", 1000, 2, "`K` importance samples a datum")
	numberFlag(f, &o.Rows, "rows", 1000, 1, "evaluate `N` test rows drawn by seed")
	numberFlag(f, &o.LogZ2, "log-z2", 100_000, 10, "`N` outer samples for log Z²")
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" {
			out = filepath.Join(args[0], "..", file.Name(args[0])+".html") // beside it
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		run, model, err := openModel(args[0], "last")
		if err != nil && !errors.Is(err, runs.ErrNoModels) {
			return err
		}
		if err := refuseUnused(c, "a report of "+runs.NounOf(run.Experiment()), []string{"samples", "rows", "log-z2"}, plotting.ReportUses(run, model)); err != nil {
			return err
		}
		o.Progress = newFraction(c.ErrOrStderr(), "evaluating")
		page, err := plotting.Report(c.Context(), args[0], o)
		if err != nil {
			return err
		}
		return savedAt(c, out, page.Save(out))
	}
	return c
}

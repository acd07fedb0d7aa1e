package command

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newCompare() *cobra.Command {
	var out, against, split, which string
	var samples int
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare DIR...",
		Short: "Compare experiments in a table and a figure",
		Long: `Compare experiments on the same data, each with one run or several seeds. The table
lists the settings that differ, the training time and the results: log p in nats, or
the objective of another family, with its baseline, and a remark if training diverged.
If experiments have different objectives, such as a Boltzmann machine and a Helmholtz
machine, the objectives are omitted.
--samples adds log p for the last or the best checkpoints: by importance sampling, whose
estimates are too low in expectation, and for Boltzmann machines exactly, if one side has
at most 25 units, or by AIS, whose estimates are too high in expectation. It also adds
the difference from the first experiment, with the standard error of the differences of
rows, or over seeds. --out draws the training curves, the mean over seeds within a band of
one standard deviation. With --format or --table the table has one row per experiment.`,
		Example: `  helmholtz compare runs/mnist-rws runs/mnist-nrws
  helmholtz compare runs/mnist-rws runs/mnist-nrws --samples 1000 --checkpoint best --table comparison.csv
  helmholtz compare runs/rbm runs/mnist-rws --samples 100
  helmholtz compare runs/mnist-rws runs/mnist-nrws --out comparison.svg --against seconds`,
		Args: someRuns,
	}
	f := c.Flags()
	tables := newTableFlags(c, "experiments", "")
	optionalFlag(f, &samples, "samples", 0, 1, "evaluate with `K` importance samples per row, or K chains of AIS")
	splitFlag(f, &split, "`rows` that --samples evaluates: train, validation or test")
	checkpointFlag(f, &which)
	figureFlag(f, &out, "", "`file` to draw the curves into")
	choiceFlag(f, &against, "against", "draw the curves against `what`: epochs or seconds of training", "epochs", "seconds")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")

	c.RunE = func(c *cobra.Command, dirs []string) error {
		if err := firstOf(refuseIdle(c, samples > 0, "--samples", "split", "checkpoint"), refuseIdle(c, out != "", "--out", "against"),
			refuseUnwritable(c, "out", out), tables.check(asJSON)); err != nil {
			return err
		}
		comparison, err := runs.Compare(dirs...)
		if err != nil {
			return err
		}
		if samples > 0 {
			set, err := comparison.Dataset()
			if err != nil {
				return err
			}
			if comparison, err = comparison.EvaluateCheckpoint(c.Context(), which, pick(set, split), samples, newFraction(c.ErrOrStderr(), "evaluating")); err != nil {
				return err
			}
		}
		switch {
		case asJSON:
			err = json.NewEncoder(c.OutOrStdout()).Encode(comparison)
		case tables.chosen():
			err = tables.print(comparison.Table())
		default:
			_, err = fmt.Fprint(c.OutOrStdout(), comparison)
		}
		if err := errors.Join(err, tables.save(comparison.Table())); err != nil || out == "" {
			return err
		}
		figure := plotting.Comparison(comparison)
		if against == "seconds" {
			figure = plotting.ComparisonByTime(comparison)
		}
		return figure.Save(out)
	}
	return c
}

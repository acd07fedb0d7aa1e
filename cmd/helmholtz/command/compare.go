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
		Args:  someRuns,
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

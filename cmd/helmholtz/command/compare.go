package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newCompare() *cobra.Command {
	var out, against, split, which, title string
	var columns, names []string
	var samples int
	var width float64
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
	figureFlag(f, "figure", &out, "", "`file` to draw the curves into")
	formerly(f, "out", "figure")
	choiceFlag(f, &against, "against", "draw the curves against `what`: epochs or seconds of training", "epochs", "seconds")
	f.StringSliceVar(&columns, "columns", nil, "`columns` of the table, in this order (default: all)")
	f.StringSliceVar(&names, "names", nil, "`names` of the experiments, in order, instead of their directories")
	f.StringVar(&title, "title", "", "`title` of the table and the figure")
	f.Float64Var(&width, "width", 0, "width of the figure in `inches`; its height is 0.77 of it")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")

	c.RunE = func(c *cobra.Command, dirs []string) error {
		if err := firstOf(refuseIdle(c, samples > 0, "--samples", "split", "checkpoint"), refuseIdle(c, out != "", "--figure", "against", "width"),
			refuseUnwritable(c, "figure", out), tables.check(asJSON)); err != nil {
			return err
		}
		if len(names) > 0 && len(names) != len(dirs) {
			return misuse(c, "--names=%s: give a name for each of the %d experiments", strings.Join(names, ","), len(dirs))
		}
		comparison, err := runs.Compare(dirs...)
		if err != nil {
			return err
		}
		if notice := comparison.DensityNotice(); notice != "" {
			fmt.Fprintln(c.ErrOrStderr(), notice)
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
		for i, name := range names {
			comparison.Experiments[i].Dir = name
		}
		table, err := comparison.Table().Select(title, columns...)
		if err != nil {
			return misuse(c, "--columns: %w", err)
		}
		switch {
		case asJSON:
			err = json.NewEncoder(c.OutOrStdout()).Encode(comparison)
		case tables.chosen():
			err = tables.print(table)
		default:
			_, err = fmt.Fprint(c.OutOrStdout(), comparison)
		}
		if err := errors.Join(err, tables.save(table)); err != nil || out == "" {
			return err
		}
		figure := plotting.Comparison(comparison)
		if against == "seconds" {
			figure = plotting.ComparisonByTime(comparison)
		}
		figure = figure.Names(names...)
		if title != "" {
			figure = figure.Title(title)
		}
		if width != 0 {
			figure = figure.Size(width, 0.77*width)
		}
		return figure.Save(out)
	}
	return c
}

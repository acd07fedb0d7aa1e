package main

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/spf13/cobra"
)

func newSample() *cobra.Command {
	var out, which, kind, split string
	var n int
	var seed uint64
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Draw images from the machine of a run",
		Long: `Draw images from the machine of a run: ancestral samples of p, as the expected
values p(x|h¹) of the visible units or as draws of them, or rows of the data
with their reconstructions, x → h ~ q(h|x) → p(x|h¹).`,
		Example: `  helmholtz sample runs/mnist --n 100 --out sheet.png
  helmholtz sample runs/mnist --kind reconstructions --n 50 --out reconstructions.png`,
		Args: oneRun,
	}
	f := c.Flags()
	f.StringVar(&out, "out", "sheet.png", "`file` to draw into: PNG, SVG or PDF by its ending")
	choiceFlag(f, &kind, "kind", "`what` to draw: means, draws or reconstructions", "means", "draws", "reconstructions")
	splitFlag(f, &split, "`rows` to reconstruct: train, validation or test")
	checkpointFlag(f, &which)
	numberFlag(f, &n, "n", 100, 1, "`number` of images")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		run, model, err := open(args[0], which, seed)
		if err != nil {
			return err
		}
		var sheet hm.Sheet
		switch kind {
		case "means":
			sheet, err = model.Sample(c.Context(), n)
		case "draws":
			sheet, err = model.Draw(c.Context(), n)
		case "reconstructions":
			sheet, err = reconstructions(c.Context(), run, model, split, n)
		}
		if err != nil {
			return err
		}
		if err := plotting.Samples(sheet).Save(out); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), out)
		return nil
	}
	return c
}

// reconstructions returns n rows of a split, each followed by its
// reconstruction.
func reconstructions(ctx context.Context, run *hm.Run, model *hm.Model, split string, n int) (hm.Sheet, error) {
	set, err := run.Dataset()
	if err != nil {
		return hm.Sheet{}, err
	}
	rows, images, err := model.Reconstruct(ctx, pick(set, split), n)
	if err != nil {
		return hm.Sheet{}, err
	}
	sheet := hm.Sheet{Shape: rows.Shape}
	for i := range rows.Values {
		sheet.Values = append(sheet.Values, rows.Values[i], images.Values[i])
	}
	return sheet, nil
}

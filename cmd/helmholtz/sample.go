package main

import (
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
	f.StringVar(&kind, "kind", "means", "`what` to draw: means, draws or reconstructions")
	f.StringVar(&split, "split", "test", "`rows` to reconstruct: train, validation or test")
	f.StringVar(&which, "checkpoint", "last", "`which` checkpoint: last or best (of the highest validation log p)")
	f.IntVar(&n, "n", 100, "`number` of images")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		run, err := hm.OpenRun(args[0])
		if err != nil {
			return err
		}
		model, err := choose(c, run, which)
		if err != nil {
			return err
		}
		model = model.Seed(seed)
		var sheet hm.Sheet
		switch kind {
		case "means":
			sheet, err = model.Sample(c.Context(), n)
		case "draws":
			sheet, err = model.Draw(c.Context(), n)
		case "reconstructions":
			sheet, err = reconstructions(c, run, model, split, n)
		default:
			err = misuse(c, "--kind %s: use means, draws or reconstructions", kind)
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
func reconstructions(c *cobra.Command, run *hm.Run, model *hm.Model, split string, n int) (hm.Sheet, error) {
	set, err := run.Experiment().Dataset.Open()
	if err != nil {
		return hm.Sheet{}, err
	}
	data, err := pick(c, set, split)
	if err != nil {
		return hm.Sheet{}, err
	}
	rows, images, err := model.Reconstruct(c.Context(), data, n)
	if err != nil {
		return hm.Sheet{}, err
	}
	sheet := hm.Sheet{Shape: rows.Shape}
	for i := range rows.Values {
		sheet.Values = append(sheet.Values, rows.Values[i], images.Values[i])
	}
	return sheet, nil
}

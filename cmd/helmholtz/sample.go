package main

import (
	"context"
	"fmt"

	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/spf13/cobra"
)

func newSample() *cobra.Command {
	var out, which, kind, split string
	var n int
	var chain hm.Chain
	var seed uint64
	c := &cobra.Command{
		Use:   "sample DIR",
		Short: "Draw images from the machine of a run",
		Long: `Draw images from the machine of a run: ancestral samples of p, as the expected
values p(x|h¹) of the visible units or as draws of them; rows of the data with
their reconstructions, x → h ~ q(h|x) → p(x|h¹); or dreams layer by layer, a row
a dream, each column with all layers below its own drawn anew.

Of a Boltzmann machine the means of the visible units are drawn after --gibbs N sweeps
of chains that start anywhere; take some thousand. --kind filters draws the weights of
its first hidden units, each as an image.

With --gibbs N, N sweeps of Gibbs chains on p*(x,h), which start at the samples
of p, come before the expected values are drawn.`,
		Example: `  helmholtz sample runs/mnist --n 100 --out sheet.png
  helmholtz sample runs/mnist --n 100 --backend cuda --out sheet.png
  helmholtz sample runs/mnist --gibbs 20 --out pstar.png
  helmholtz sample runs/rbm --gibbs 5000 --out rbm.png
  helmholtz sample runs/mnist --kind layers --n 10 --out layers.png
  helmholtz sample runs/mnist --kind reconstructions --n 50 --out reconstructions.png`,
		Args: oneRun,
	}
	f := c.Flags()
	figureFlag(f, &out, "sheet.png", "`file` to draw into")
	choiceFlag(f, &kind, "kind", "`what` to draw: means, draws, reconstructions, layers or filters", "means", "draws", "reconstructions", "layers", "filters")
	splitFlag(f, &split, "`rows` to reconstruct: train, validation or test")
	checkpointFlag(f, &which)
	numberFlag(f, &n, "n", 100, 1, "`number` of images")
	numberFlag(f, &chain.Sweeps, "gibbs", 0, 0, "`N` sweeps of Gibbs chains on p*, for the means")
	ofChains := chainFlags(f, &chain)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if chain.Sweeps > 0 && kind != "means" {
			return misuse(c, "--gibbs draws means, not %s: leave out --kind", kind)
		}
		if isUndirected(args[0]) {
			if err := refuseOthers(c, "Boltzmann machines", ofChains); err != nil {
				return err
			}
			if kind == "means" && chain.Sweeps == 0 {
				return misuse(c, "the chains of a Boltzmann machine start anywhere, and what they draw at first is noise: give --gibbs N sweeps, such as --gibbs 5000")
			}
		}
		if chain.Sweeps == 0 {
			if err := refuseIdle(c, "--gibbs", ofChains...); err != nil {
				return err
			}
		}
		if kind != "reconstructions" {
			if err := refuseIdle(c, "--kind reconstructions", "split"); err != nil {
				return err
			}
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		if holds[general.Experiment](args[0]) {
			return sampleGeneral(c, args[0], which, kind, n, chain.Sweeps, seed, out)
		}
		if isBoltzmann(args[0]) {
			return sampleBoltzmann(c, args[0], which, kind, n, chain.Sweeps, seed, out)
		}
		if kind == "filters" {
			return misuse(c, "--kind filters: those are of Boltzmann machines; leave it out")
		}
		run, model, err := open(args[0], which, seed)
		if err != nil {
			return err
		}
		ctx := c.Context()
		var sheet dataset.Sheet
		var layers []dataset.Sheet
		switch kind {
		case "means":
			sheet, err = model.Gibbs(ctx, n, chain, newFraction(c.ErrOrStderr(), "sampling"))
		case "draws":
			sheet, err = model.Draw(ctx, n)
		case "reconstructions":
			sheet, err = reconstructions(ctx, run, model, split, n)
		case "layers":
			layers, err = model.Descend(ctx, n)
		}
		if err != nil {
			return err
		}
		figure := plotting.Samples(sheet)
		if kind == "layers" {
			figure = plotting.Descents(layers)
		}
		if err := figure.Save(out); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), out)
		return nil
	}
	return c
}

// reconstructions returns n rows of a split, each followed by its
// reconstruction.
func reconstructions(ctx context.Context, run *hm.Run, model *hm.Model, split string, n int) (dataset.Sheet, error) {
	set, err := run.Dataset()
	if err != nil {
		return dataset.Sheet{}, err
	}
	rows, images, err := model.Reconstruct(ctx, pick(set, split), n)
	if err != nil {
		return dataset.Sheet{}, err
	}
	sheet := dataset.Sheet{Shape: rows.Shape}
	for i := range rows.Values {
		sheet.Values = append(sheet.Values, rows.Values[i], images.Values[i])
	}
	return sheet, nil
}

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

func newInpaint() *cobra.Command {
	var out, which, split, spec string
	var n, chains int
	var chain hm.Chain
	var seed uint64
	c := &cobra.Command{
		Use:   "inpaint DIR",
		Short: "Fill in missing parts of images with the machine of a run",
		Long: `Fill in missing parts of images with the machine of a run: Gibbs chains on
p*(x,h) that keep the pixels that are given draw what is missing from
p*(x|given). The figure has a row an image: as it was, what is given, and what
each of several chains has made of it, as expected values p(x|h¹).

Of a Boltzmann machine the chains are on p(v,h|given), a sweep of which draws the hidden
units and then what is missing; take some hundred.

A mask says what is missing: left, right, top or bottom, half of the image;
rectangle:ROW,COLUMN,HEIGHT,WIDTH, from its upper left pixel on, the first being
0,0; random:FRACTION, that share of the pixels, drawn by seed.`,
		Example: `  helmholtz inpaint runs/mnist --mask left --out inpainted.png
  helmholtz inpaint runs/mnist --mask rectangle:7,7,14,14 --n 10 --chains 5 --sweeps 50`,
		Args: oneRun,
	}
	f := c.Flags()
	f.StringVar(&spec, "mask", "", "`what` is missing: left, right, top, bottom, rectangle:ROW,COLUMN,HEIGHT,WIDTH or random:FRACTION")
	figureFlag(f, &out, "inpainted.png", "`file` to draw into")
	splitFlag(f, &split, "`rows` to inpaint: train, validation or test")
	checkpointFlag(f, &which)
	numberFlag(f, &n, "n", 8, 1, "`number` of images, drawn by seed")
	numberFlag(f, &chains, "chains", 4, 1, "`number` of chains an image")
	numberFlag(f, &chain.Sweeps, "sweeps", 20, 1, "`N` sweeps of each chain")
	ofChains := chainFlags(f, &chain)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if spec == "" {
			return misuse(c, "say what is missing with --mask, as in --mask left")
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		inpaint, run, err := inpainter(c, args[0], which, seed, chains, chain, ofChains)
		if err != nil {
			return err
		}
		set, err := run.Dataset()
		if err != nil {
			return err
		}
		mask, err := dataset.ParseMask(spec, set.Shape(), seed)
		if err != nil {
			return misuse(c, "%w", err)
		}
		p, err := inpaint(c.Context(), pick(set, split).Subset(n, seed), mask, newFraction(c.ErrOrStderr(), "inpainting"))
		if err != nil {
			return err
		}
		if err := plotting.Inpainting(p).Save(out); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), out)
		return nil
	}
	return c
}

// inpainter opens the run in a directory, and returns what fills in rows by the model of a
// checkpoint, of either family. ofChains are flags of Helmholtz machines alone.
func inpainter(c *cobra.Command, dir, which string, seed uint64, chains int, chain hm.Chain, ofChains []string) (
	inpaint func(context.Context, dataset.Split, dataset.Mask, func(float64)) (dataset.Inpainting, error), run interface{ Dataset() (*dataset.Set, error) }, err error) {
	if isUndirected(dir) {
		if err := refuseOthers(c, "Boltzmann machines", ofChains); err != nil {
			return nil, nil, err
		}
	}
	switch {
	case holds[general.Experiment](dir):
		run, model, err := openGeneral(dir, which, seed)
		return func(ctx context.Context, rows dataset.Split, mask dataset.Mask, progress func(float64)) (dataset.Inpainting, error) {
			return model.Inpaint(ctx, rows, mask, chains, chain.Sweeps, progress)
		}, run, err
	case isBoltzmann(dir):
		run, model, err := openBoltzmann(dir, which, seed)
		return func(ctx context.Context, rows dataset.Split, mask dataset.Mask, progress func(float64)) (dataset.Inpainting, error) {
			return model.Inpaint(ctx, rows, mask, chains, chain.Sweeps, progress)
		}, run, err
	}
	own, model, err := open(dir, which, seed)
	return func(ctx context.Context, rows dataset.Split, mask dataset.Mask, progress func(float64)) (dataset.Inpainting, error) {
		return model.Inpaint(ctx, rows, mask, chains, chain, progress)
	}, own, err
}

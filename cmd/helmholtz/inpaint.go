package main

import (
	"fmt"

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
	numberFlag(f, &chain.Sweeps, "sweeps", 20, 0, "`N` sweeps of each chain")
	chainFlags(f, &chain)
	f.Uint64Var(&seed, "seed", 1, "`seed` of the draws")

	c.RunE = func(c *cobra.Command, args []string) error {
		if spec == "" {
			return misuse(c, "say what is missing with --mask, as in --mask left")
		}
		run, model, err := open(args[0], which, seed)
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
		rows := model.Some(pick(set, split), n)
		p, err := model.Inpaint(c.Context(), rows, mask, chains, chain, newFraction(c.ErrOrStderr(), "inpainting"))
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

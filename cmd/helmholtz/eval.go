package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newEval() *cobra.Command {
	var split, which string
	var samples, outer, inner, rows int
	var seed uint64
	var asJSON bool
	c := &cobra.Command{
		Use:   "eval DIR",
		Short: "Estimate the log-likelihood of the machine of a run",
		Long: `Estimate the log-likelihood of the machine of a run by importance sampling, in
nats, with standard errors over the data: log p, the lower bound, log p̃*, the
effective sample size, and with --log-z2 also log Z² and log p*. Of a machine
small enough, the exact divergence from the training data is given too.`,
		Example: `  helmholtz eval runs/mnist --samples 10000 --json
  helmholtz eval runs/mnist --split validation --checkpoint best --log-z2 0`,
		Args: oneRun,
	}
	f := c.Flags()
	splitFlag(f, &split, "`rows` to evaluate: train, validation or test")
	checkpointFlag(f, &which)
	numberFlag(f, &samples, "samples", 1000, 1, "`K` importance samples a datum")
	numberFlag(f, &rows, "rows", 0, 0, "evaluate `N` rows drawn by seed, 0 for all")
	optionalFlag(f, &outer, "log-z2", 100_000, 10, "`N` outer samples for log Z², at least 10, 0 to leave it out")
	numberFlag(f, &inner, "log-z2-inner", 1, 1, "`N` inner samples an outer one for log Z²")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the samples")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")

	c.RunE = func(c *cobra.Command, args []string) error {
		run, model, err := open(args[0], which, seed)
		if err != nil {
			return err
		}
		set, err := run.Dataset()
		if err != nil {
			return err
		}
		data := pick(set, split)
		ctx := c.Context()
		progress := newFraction(c.ErrOrStderr(), "evaluating")
		e, err := model.Evaluate(ctx, model.Some(data, rows), samples, progress)
		if err != nil {
			return err
		}
		if outer > 0 {
			z, err := model.LogZ2(ctx, outer, inner)
			if err != nil {
				return err
			}
			e = e.Normalise(z)
		}
		kl, err := model.ExactKL(ctx, set.Train())
		switch {
		case err == nil:
			e.KLExact = &kl
		case ctx.Err() != nil:
			return err
		}
		if asJSON {
			return json.NewEncoder(c.OutOrStdout()).Encode(e)
		}
		fmt.Fprint(c.OutOrStdout(), table(e))
		return nil
	}
	return c
}

// checkpointFlag adds the flag that chooses a checkpoint.
func checkpointFlag(f *pflag.FlagSet, which *string) {
	choiceFlag(f, which, "checkpoint", "`which` checkpoint: last or best (of the highest validation log p)", "last", "best")
}

// open opens the run in a directory, and the model of its last or its best
// checkpoint with a seed for its draws.
func open(dir, which string, seed uint64) (*hm.Run, *hm.Model, error) {
	run, err := hm.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model := run.Model
	if which == "best" {
		if model, err = run.Best(); err != nil {
			return nil, nil, err
		}
	}
	return run, model.Seed(seed), nil
}

// splitFlag adds the flag that chooses a split.
func splitFlag(f *pflag.FlagSet, split *string, usage string) {
	choiceFlag(f, split, "split", usage, "test", "train", "validation")
}

// pick returns the split that the flag names.
func pick(set *dataset.Set, name string) dataset.Split {
	switch name {
	case "train":
		return set.Train()
	case "validation":
		return set.Validation()
	}
	return set.Test()
}

// table writes an evaluation for people.
func table(e hm.Evaluation) string {
	var b strings.Builder
	row := func(name string, value float64, se hm.StandardError, unit string) {
		fmt.Fprintf(&b, "%-22s %10.3f ± %.3f %s\n", name, value, se, unit)
	}
	row("log p", e.LogP, e.LogPSE, "nats")
	row("lower bound of log p", e.Bound, e.BoundSE, "nats")
	row("log p̃*", e.LogPTildeStar, e.LogPTildeStarSE, "nats")
	if e.LogZ2 != nil {
		row("log Z²", *e.LogZ2, *e.LogZ2SE, "nats")
		row("log p* (no bound)", *e.LogPStar, *e.LogPStarSE, "nats")
	}
	row("ESS of q for p", 100*e.ESS, 100*e.ESSSE, "%")
	row("ESS of q for p*", 100*e.ESSStar, 100*e.ESSStarSE, "%")
	if e.KLExact != nil {
		fmt.Fprintf(&b, "%-22s %10.4f nats, exact\n", "KL(p_D‖p)", *e.KLExact)
	}
	fmt.Fprintf(&b, "%d samples a datum, %d data, %.1f s\n", e.Samples, e.Data, e.Seconds)
	return b.String()
}

package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/spf13/cobra"
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
	f.StringVar(&split, "split", "test", "`rows` to evaluate: train, validation or test")
	f.StringVar(&which, "checkpoint", "last", "`which` checkpoint: last or best (of the highest validation log p)")
	f.IntVar(&samples, "samples", 1000, "`K` importance samples a datum")
	f.IntVar(&rows, "rows", 0, "evaluate `N` rows drawn by seed, 0 for all")
	f.IntVar(&outer, "log-z2", 100_000, "`N` outer samples for log Z², 0 to leave it out")
	f.IntVar(&inner, "log-z2-inner", 1, "`N` inner samples an outer one for log Z²")
	f.Uint64Var(&seed, "seed", 1, "`seed` of the samples")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")

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
		set, err := run.Experiment().Dataset.Open()
		if err != nil {
			return err
		}
		data, err := pick(c, set, split)
		if err != nil {
			return err
		}
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
		if kl, err := model.ExactKL(set.Train()); err == nil {
			e.KLExact = &kl
		}
		if asJSON {
			return json.NewEncoder(c.OutOrStdout()).Encode(e)
		}
		fmt.Fprint(c.OutOrStdout(), table(e))
		return nil
	}
	return c
}

// choose returns the model of a checkpoint by name.
func choose(c *cobra.Command, run *hm.Run, which string) (*hm.Model, error) {
	switch which {
	case "last":
		return run.Model, nil
	case "best":
		return run.Best()
	}
	return nil, misuse(c, "--checkpoint %s: use last or best", which)
}

// pick returns the split of a name.
func pick(c *cobra.Command, set *dataset.Set, name string) (dataset.Split, error) {
	for _, s := range []dataset.Split{set.Train(), set.Validation(), set.Test()} {
		if s.Name == name {
			return s, nil
		}
	}
	return dataset.Split{}, misuse(c, "--split %s: use train, validation or test", name)
}

// table writes an evaluation for people.
func table(e hm.Evaluation) string {
	var b strings.Builder
	row := func(name string, value, se float64, unit string) {
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

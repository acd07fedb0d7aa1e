package main

import (
	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/spf13/cobra"
)

// openGeneral opens the run of a general Boltzmann machine in a directory, and the model of a
// checkpoint with a seed for its draws.
func openGeneral(dir, which string, seed uint64) (*general.Run, *general.Model, error) {
	run, err := general.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := run.Checkpoint(which)
	if err != nil {
		return nil, nil, err
	}
	return run, model.WithSeed(seed), nil
}

// sampleGeneral draws images from the model of a run.
func sampleGeneral(c *cobra.Command, dir, which, kind string, n, sweeps int, seed uint64, out string) error {
	if kind != "means" {
		return misuse(c, "--kind %s: of general Boltzmann machines means are drawn; leave it out", kind)
	}
	_, model, err := openGeneral(dir, which, seed)
	if err != nil {
		return err
	}
	sheet, err := model.Means(c.Context(), n, sweeps)
	return saveSheet(c, sheet, err, out)
}

// evaluateGeneral evaluates the run of a general Boltzmann machine in a directory.
func (x *annealingFlags) evaluateGeneral(c *cobra.Command, dir string) (e runEvaluation, err error) {
	if err := refuseOthers(c, "general Boltzmann machines", []string{"samples", "schedule", "raise", "raise-chains"}); err != nil {
		return e, err
	}
	run, model, err := openGeneral(dir, x.checkpoint, x.seed)
	if err != nil {
		return e, err
	}
	set, err := run.Dataset()
	if err != nil {
		return e, err
	}
	e = x.of(dir, run.Run)
	e.Evaluation, err = model.Evaluate(c.Context(), set, pick(set, x.split).Subset(x.rows, x.seed), x.annealing.Chains, newFraction(c.ErrOrStderr(), "annealing"))
	return e, err
}

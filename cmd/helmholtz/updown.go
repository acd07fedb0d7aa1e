package main

import (
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann/updown"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// upDownFlags are the flags of train that go with --up-down.
var upDownFlags = []string{"up-down", "out", "seeds", "lr", "gibbs-steps", "batch", "epochs", "patience", "seed", "keep", "record-steps"}

// upDownExperiment returns what the flags describe with --up-down: how the belief network of the
// run in a directory is fine-tuned, on the data of that run.
func upDownExperiment(c *cobra.Command, x *experimentFlags, b *boltzmannFlags, dir string) (updown.Experiment, error) {
	var others []string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if !slices.Contains(upDownFlags, flag.Name) {
			others = append(others, "--"+flag.Name)
		}
	})
	if len(others) > 0 {
		return updown.Experiment{}, misuse(c, "--up-down begins from a run, and has no %s: leave it out, or write a file of the family updown", strings.Join(others, ", "))
	}
	run, err := runs.Open(dir)
	if err != nil {
		return updown.Experiment{}, err
	}
	set, err := run.Dataset()
	if err != nil {
		return updown.Experiment{}, err
	}
	e, given := updown.NewExperiment(set, dir), c.Flags().Changed
	if given("lr") {
		e.Settings.Method.LearningRate = x.values.Method.LearningRate
	}
	if given("gibbs-steps") {
		e.Settings.Method.Steps = b.values.Method.Steps
	}
	if given("batch") {
		e.Settings.Method.BatchSize = x.values.Method.BatchSize
	}
	if given("epochs") {
		e.Epochs = x.values.Epochs
	}
	if given("seed") {
		e.Seed = x.values.Seed
	}
	e.Patience, e.Keep, e.RecordSteps = x.values.Patience, x.values.Keep, x.values.RecordSteps
	return e, nil
}

// isUpDown says whether a directory holds a run of a belief network that was fine-tuned, or runs
// of several seeds.
func isUpDown(dir string) bool { return holds[updown.Experiment](dir) }

// openUpDown opens the run in a directory, and the model of a checkpoint with a seed for its
// draws.
func openUpDown(dir, which string, seed uint64) (*updown.Run, *updown.Model, error) {
	run, err := updown.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := run.Checkpoint(which)
	if err != nil {
		return nil, nil, err
	}
	return run, model.WithSeed(seed), nil
}

// evaluateUpDown evaluates the run in a directory.
func (x *annealingFlags) evaluateUpDown(c *cobra.Command, dir string) (e runEvaluation, err error) {
	if x.raise > 0 {
		return e, misuse(c, "--raise: RAISE is of machines with one hidden layer, not of belief networks; leave it out")
	}
	run, model, err := openUpDown(dir, x.checkpoint, x.seed)
	if err != nil {
		return e, err
	}
	set, err := run.Dataset()
	if err != nil {
		return e, err
	}
	e = x.of(dir, run.Run)
	e.Evaluation, err = model.Evaluate(c.Context(), set, pick(set, x.split).Subset(x.rows, x.seed), x.annealing, newFraction(c.ErrOrStderr(), "annealing"))
	return e, err
}

// sampleUpDown draws images from the model of a run.
func sampleUpDown(c *cobra.Command, dir, which, kind string, n, sweeps int, seed uint64, out string) error {
	if kind != "means" {
		return misuse(c, "--kind %s: of belief networks means are drawn; leave it out", kind)
	}
	_, model, err := openUpDown(dir, which, seed)
	if err != nil {
		return err
	}
	sheet, err := model.Means(c.Context(), n, sweeps)
	return saveSheet(c, sheet, err, out)
}

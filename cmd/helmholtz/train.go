package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newTrain() *cobra.Command {
	var resume, out string
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a machine and keep the run in a directory",
		Long: `Train a machine and keep the run in a directory.

The experiment is given by flags, or by a TOML file whose settings flags change.
The directory holds experiment.toml, a checkpoint and a line of metrics an
epoch; training the same experiment into it again resumes it. An interrupt stops
training within a step, with a checkpoint.

The defaults of a method are those of the thesis for MNIST: the learning rate,
damping and K shown below are those of nrws. The thesis starts bihm and nbihm from
--weight-init small-normal (App. A.2). --validation 0 trains on all rows.`,
		Example: `  helmholtz train --dataset 3by3 --algorithm nrws --layers 9,6,3 --coding 01 --bias-init 0.1 \
      --lr 0.02 --damping 0.01 --kstep 10 --epochs 100 --out runs/3by3
  helmholtz train --dataset mnist --algorithm rws --layers 300,200,100 --lr 0.02 --schedule cosine --out runs/mnist
  helmholtz train --config runs/mnist/experiment.toml --seed 2 --out runs/mnist-2
  helmholtz train --resume runs/mnist`,
		Args: cobra.NoArgs,
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&resume, "resume", "", "continue the run in `DIR`")
	c.Flags().StringVar(&out, "out", "", "`DIR` of the run (default runs/DATASET-ALGORITHM)")
	flags := newExperimentFlags(c.Flags())

	c.RunE = func(c *cobra.Command, _ []string) error {
		if resume != "" {
			e, err := resumed(c, resume)
			if err != nil {
				return err
			}
			return train(c, e, resume)
		}
		e, err := flags.experiment(c)
		if err != nil {
			return err
		}
		if out == "" {
			name := strings.ReplaceAll(e.Dataset.Name, string(filepath.Separator), "-")
			out = filepath.Join("runs", name+"-"+e.Method.Preset)
		}
		return train(c, e, out)
	}
	return c
}

// resumed returns the experiment of the run in a directory.
func resumed(c *cobra.Command, dir string) (hm.Experiment, error) {
	var others []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if f.Name != "resume" {
			others = append(others, "--"+f.Name)
		}
	})
	if len(others) > 0 {
		return hm.Experiment{}, misuse(c, "--resume continues the experiment as it is: leave %s away", strings.Join(others, ", "))
	}
	e, err := hm.ReadExperiment(filepath.Join(dir, "experiment.toml"))
	if errors.Is(err, os.ErrNotExist) {
		return e, fmt.Errorf("%s is not the directory of a run, it holds no experiment.toml: name the one that --out named", dir)
	}
	return e, err
}

// train trains an experiment into a directory and says what came of it.
func train(c *cobra.Command, e hm.Experiment, dir string) error {
	set, err := e.OpenDataset(dir)
	if err != nil {
		return err
	}
	if err := e.Check(set); err != nil {
		return misuse(c, "%w", err)
	}
	memory, err := e.Memory(set)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s, %d rows, layers %v, about %d MB of memory\n", set.Name(), set.Train().Rows, e.Machine.Layers, memory>>20+1)
	run, err := e.TrainOn(c.Context(), set, dir, newProgress(c.ErrOrStderr()))
	if errors.Is(err, context.Canceled) {
		fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint; helmholtz train --resume %s continues\n", dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d epochs in %s\n", e.Method, run.Epochs(), run.Dir())
	return nil
}

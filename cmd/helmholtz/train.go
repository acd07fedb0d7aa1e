package main

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newTrain() *cobra.Command {
	var config, resume, out string
	var validation int
	// The flags' defaults, and their values.
	e := hm.Experiment{
		Dataset: dataset.Spec{Name: "glyphs"},
		Machine: hm.New(dataset.Shape{}).Dense(100, 50, 20).Spec(),
		Method:  hm.NRWS().Spec(),
		Epochs:  20,
		Seed:    1,
	}
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a machine and keep the run in a directory",
		Long: `Train a machine and keep the run in a directory.

The experiment is given by flags, or by a TOML file whose settings flags change.
The directory holds experiment.toml, a checkpoint and a line of metrics an
epoch; training the same experiment into it again resumes it. An interrupt stops
training within a step, with a checkpoint.

The defaults of a method are those of the thesis for MNIST: the learning rate,
damping and K shown below are those of nrws. --validation 0 trains on all rows.`,
		Example: `  helmholtz train --dataset 3by3 --algorithm nrws --layers 9,6,3 --coding 01 --bias-init 0.1 \
      --lr 0.02 --damping 0.01 --kstep 10 --epochs 100 --out runs/3by3
  helmholtz train --dataset mnist --algorithm rws --layers 300,200,100 --lr 0.02 --schedule cosine --out runs/mnist
  helmholtz train --config runs/mnist/experiment.toml --seed 2 --out runs/mnist-2
  helmholtz train --resume runs/mnist`,
		Args: cobra.NoArgs,
	}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&config, "config", "", "TOML `file` of an experiment, whose settings flags change")
	f.StringVar(&resume, "resume", "", "continue the run in `DIR`")
	f.StringVar(&out, "out", "", "`DIR` of the run (default runs/DATASET-ALGORITHM)")

	f.StringVar(&e.Dataset.Name, "dataset", e.Dataset.Name, "data set: a `name` that \"data list\" shows, or a file's path")
	f.StringVar(&e.Dataset.Test, "test", "", "`file` of test rows, beside a data set that is a file")
	textFlag(f, &e.Dataset.Binarization, "binarization", "`when` grey values become draws: once (fixed) or at each step (stochastic)")
	f.IntVar(&validation, "validation", 0, "hold out `N` rows for validation (default the data set's own division)")
	f.IntVar(&e.Dataset.Subset, "subset", 0, "train on `N` rows drawn by the data seed, 0 for all")
	f.Uint64Var(&e.Dataset.Seed, "data-seed", 0, "`seed` of the rows held out and kept")

	f.IntSliceVar(&e.Machine.Layers, "layers", e.Machine.Layers, "units of the hidden layers, bottom up")
	textFlag(f, &e.Machine.Coding, "coding", "`values` of a unit: pm1 or 01")
	textFlag(f, &e.Machine.Weights, "weight-init", "first weights: `how` of glorot-normal, bihm-uniform, small-normal")
	f.Float64Var(&e.Machine.Bias, "bias-init", e.Machine.Bias, "first `bias` of each unit")

	f.StringVar(&e.Method.Preset, "algorithm", e.Method.Preset, "`method`: "+strings.Join(hm.Presets(), ", "))
	f.Float64Var(&e.Method.LearningRate, "lr", e.Method.LearningRate, "learning `rate` η")
	textFlag(f, &e.Method.Schedule, "schedule", "learning-rate schedule: `which` of constant, step, cosine")
	f.IntVar(&e.Method.StepEpochs, "step-epochs", e.Method.StepEpochs, "schedule step: `epochs` between changes")
	f.Float64Var(&e.Method.StepFactor, "step-factor", e.Method.StepFactor, "schedule step: `factor` of a change")
	textFlag(f, &e.Method.Optimizer, "optimizer", "`which` of gd, adam")
	f.Float64Var(&e.Method.Damping, "damping", e.Method.Damping, "`α` of the damped Fisher inverse")
	f.IntVar(&e.Method.RefreshEvery, "kstep", e.Method.RefreshEvery, "`K` steps between refreshes of the Fisher blocks")
	textFlag(f, &e.Method.FisherSource, "fisher-source", "`samples` of the generative Fisher blocks: wake or sleep")
	f.IntVar(&e.Method.BatchSize, "batch", e.Method.BatchSize, "`B` data a minibatch")
	f.IntVar(&e.Method.Samples, "samples", e.Method.Samples, "`S` samples a datum")
	f.BoolVar(&e.Method.Baseline, "baseline", e.Method.Baseline, "subtract 1/S from the weights of the q-wake gradient")
	f.IntVar(&e.Epochs, "epochs", e.Epochs, "passes over the training rows")
	f.IntVar(&e.Patience, "patience", 0, "stop when the validation log p has not risen for so many `epochs` (0 never)")
	f.Uint64Var(&e.Seed, "seed", e.Seed, "`seed` of all random numbers of training")

	c.RunE = func(c *cobra.Command, _ []string) error {
		if resume != "" {
			e, err := resumed(c, resume)
			if err != nil {
				return err
			}
			return train(c, e, resume)
		}
		base, err := base(config, e, f.Changed("algorithm"))
		if err != nil {
			return misuse(c, "%w", err)
		}
		if err := override(f, &e, base); err != nil {
			return err
		}
		if f.Changed("validation") {
			e.Dataset.Validation = &validation
		}
		if out == "" {
			name := strings.ReplaceAll(e.Dataset.Name, string(filepath.Separator), "-")
			out = filepath.Join("runs", name+"-"+e.Method.Preset)
		}
		return train(c, e, out)
	}
	return c
}

// textFlag adds a flag that is written as its setting is in TOML.
func textFlag(f *pflag.FlagSet, v interface {
	encoding.TextUnmarshaler
	encoding.TextMarshaler
}, name, usage string) {
	f.TextVar(v, name, v, usage)
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

// base returns the experiment that flags change: that of the config file, or
// the defaults with the settings of the method.
func base(config string, flags hm.Experiment, methodGiven bool) (hm.Experiment, error) {
	e := flags
	if config != "" {
		var err error
		if e, err = hm.ReadExperiment(config); err != nil {
			return e, err
		}
		e.Fingerprint = ""
		if !methodGiven {
			return e, nil
		}
	}
	method, err := hm.Preset(flags.Method.Preset)
	if err != nil {
		return e, err
	}
	e.Method = method.Spec()
	return e, nil
}

// override makes e, whose fields the flags point to, the base with the flags
// that were given.
func override(f *pflag.FlagSet, e *hm.Experiment, base hm.Experiment) error {
	given := map[*pflag.Flag][]string{}
	f.Visit(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok {
			given[f] = list.GetSlice()
		} else {
			given[f] = []string{f.Value.String()}
		}
	})
	*e = base
	for flag, values := range given {
		var err error
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			err = list.Replace(values)
		} else {
			err = flag.Value.Set(values[0])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// train trains an experiment into a directory and says what came of it.
func train(c *cobra.Command, e hm.Experiment, dir string) error {
	set, err := e.Dataset.Open()
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

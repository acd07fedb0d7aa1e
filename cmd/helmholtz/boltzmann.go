package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/boltzmann/general"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// boltzmannFlags are the flags that describe an experiment of the family boltzmann. Those
// that other experiments have, too, are given to the command's flag of their name, and
// from there to the one here.
type boltzmannFlags struct {
	flags      *pflag.FlagSet
	validation int
	layers     []int
	units      []boltzmann.Kind
	belief     bool
	on         string // a run
	start      runs.Source
	pretrain   int                  // epochs
	rate       float64              // of pretraining, 0 for that of training
	values     boltzmann.Experiment // the flags' defaults, and then their values
}

// newBoltzmannFlags adds the flags that no others describe to those of a command.
func newBoltzmannFlags(of *pflag.FlagSet) *boltzmannFlags {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	x := &boltzmannFlags{flags: f}
	x.values.Method = boltzmann.PCD().Spec()
	e := &x.values
	f.SortFlags = false
	dataFlags(f, &e.Dataset, &x.validation)
	trainingFlags(f, &e.Epochs, &e.Patience, &e.RecordSteps, &e.Seed, &e.Keep)
	f.StringVar(&x.start.Run, "from", "", "")
	f.StringVar(&x.start.Checkpoint, "from-checkpoint", "", "")
	f.IntSliceVar(&x.layers, "layers", nil, "")
	listFlag(f, &x.units, "units", "")

	hyperparameterFlags(f, e.Method.Hyperparameters())
	inGroup(f, "Boltzmann machines", func(f *pflag.FlagSet) {
		f.IntVar(&e.Machine.Categories, "categories", 0, "cd, pcd, pt: `number` of categories of each variable of categorical visible units")
		f.IntVar(&e.Machine.HiddenCategories, "hidden-categories", 0, "cd, pcd, pt: `number` of categories of each variable of categorical hidden units")
		f.IntVar(&e.Machine.Classes, "classes", 0, "")
		f.BoolVar(&x.belief, "belief", false, "cd, pcd, pt: train a deep belief network, layer by layer, for --epochs each, into layer-1, layer-2 and so on within --out")
		numberFlag(f, &x.pretrain, "pretrain", 0, 1, "cd, pcd, pt: pretrain each layer of a deep machine for `EPOCHS` by contrastive divergence, into layer-1, layer-2 and so on within --out, and train the machine from there into deep")
		f.Float64Var(&x.rate, "pretrain-lr", 0, "learning `rate` of --pretrain (default that of --lr)")
		f.StringVar(&x.on, "on", "", "cd, pcd, pt: train a layer on top of the run in `DIR`, as part of a deep belief network, on its data where neither --config nor --dataset names others")
	})
	of.AddFlagSet(f) // leaves those that it has as they are
	for name, usage := range map[string]string{
		"algorithm": "cd, pcd, pt and pl train a Boltzmann machine",
		"units":     "of cd, pcd and pt the visible ones and the hidden ones, which categorical can be, too",
		"classes":   "of cd, pcd and pt it stands beside the visible units",
	} {
		of.Lookup(name).Usage += "; " + usage
	}
	takes(of, "algorithm", append(hm.Presets(), "cd", "pcd", "pt", "pl")...)
	return x
}

// own are the flags of a command that describe no experiment of another family.
func (x *boltzmannFlags) own(of *pflag.FlagSet) (given []string) {
	of.Visit(func(flag *pflag.Flag) {
		if x.flags.Lookup(flag.Name) == flag {
			given = append(given, "--"+flag.Name)
		}
	})
	return given
}

// describe says whether the flags and the file of --config describe an experiment of the
// family boltzmann: the algorithm does, or without it the file.
func (x *boltzmannFlags) describe(c *cobra.Command, config, algorithm string) bool {
	if c.Flags().Changed("algorithm") || config == "" {
		var a boltzmann.Algorithm
		return a.UnmarshalText([]byte(algorithm)) == nil
	}
	e, err := runs.ReadExperiment(config) // whose error another reader returns
	_, is := e.(boltzmann.Experiment)
	return err == nil && is
}

// experiment returns what the flags describe.
func (x *boltzmannFlags) experiment(c *cobra.Command, config string) (boltzmann.Experiment, error) {
	var others []string
	c.Flags().Visit(func(flag *pflag.Flag) {
		if x.flags.Lookup(flag.Name) == nil && !slices.Contains(familyFlags, flag.Name) {
			others = append(others, "--"+flag.Name)
		}
	})
	if slices.Contains(others, "--fisher") {
		return x.values, misuse(c, "--fisher: that is the metric of Helmholtz machines; that of Boltzmann machines is --metric joint or marginal")
	}
	if len(others) > 0 {
		return x.values, misuse(c, "Boltzmann machines, which the algorithms cd, pcd, pt and pl train, have no %s: leave it out", strings.Join(others, ", "))
	}
	file, base, err := x.base(c, config)
	if err != nil {
		return base, misuse(c, "%w", err)
	}
	values := givenFlags(c.Flags())
	x.values = base
	x.layers, x.units = slices.Concat([]int{base.Machine.Hidden}, base.Machine.Above), []boltzmann.Kind{base.Machine.Visible, base.Machine.HiddenUnits}
	for flag, text := range values {
		if own := x.flags.Lookup(flag.Name); own != nil {
			if err := setFlag(own, text); err != nil {
				return x.values, misuse(c, "--%s: %w", flag.Name, err)
			}
		}
	}
	if len(x.layers) == 0 {
		return x.values, misuse(c, "--layers: a Boltzmann machine has hidden units; give the number of each layer, as in 500 or 500,1000")
	}
	if len(x.units) > 2 {
		return x.values, misuse(c, "--units %v: give the kind of the visible units, and of the hidden ones or nothing", strings.Join(values[c.Flags().Lookup("units")], ","))
	}
	x.units = append(x.units, boltzmann.Bernoulli)
	x.values.Machine.Hidden, x.values.Machine.Above = x.layers[0], x.layers[1:]
	x.values.Machine.Visible, x.values.Machine.HiddenUnits = x.units[0], x.units[1]
	if c.Flags().Changed("on") {
		if doubled(x.on) {
			return x.values, misuse(c, "--on %s: that is a layer of a deep machine, trained with one side doubled, and no part of a belief network: train its layers with --belief", x.on)
		}
		x.values.Below = &runs.Source{Run: x.on}
	}
	if x.belief || x.pretrain > 0 { // layers begin from drawn weights, whatever that of the file begins from
		x.values.Start, x.values.Pretrained = nil, nil
	}
	if x.values.Start, err = started[boltzmann.Experiment](c, x.values.Start, x.start); err != nil {
		return x.values, err
	}
	if c.Flags().Changed("from") {
		x.values.Pretrained = nil
	}
	if c.Flags().Changed("validation") {
		x.values.Dataset.Validation = &x.validation
	}
	if !reflect.DeepEqual(x.values.Dataset, file.Dataset) {
		x.values.Fingerprint = ""
	}
	if x.pretrain == 0 {
		if err := refuseIdle(c, "--pretrain", "pretrain-lr"); err != nil {
			return x.values, err
		}
	}
	if x.values.Machine.Visible != boltzmann.Gaussian {
		if err := refuseIdle(c, "gaussian visible units (--units gaussian)", "variance-rate"); err != nil {
			return x.values, err
		}
	}
	if err := refuseTrainingRows(c, x.values.Dataset); err != nil {
		return x.values, err
	}
	if config != "" && c.Flags().Changed("algorithm") {
		explainDefaults(c, x.values.Method.Algorithm.String(), config, file, x.values)
	}
	return x.values, refuseIdleHyperparameters(c, x.values.Method.Hyperparameters())
}

// train trains what the flags describe into a directory, or several seeds of it.
func (x *boltzmannFlags) train(c *cobra.Command, e boltzmann.Experiment, seeds int, out string) error {
	var flag string
	var layers []boltzmann.Experiment
	var err error
	switch {
	case x.belief && x.pretrain > 0:
		return misuse(c, "--pretrain with --belief: a deep machine is pretrained, and a belief network is done when its layers are; leave one of them out")
	case x.belief:
		flag = "--belief"
		layers, err = e.Layers(out)
	case x.pretrain > 0:
		flag = "--pretrain"
		layers, e, err = e.Pretraining(out, x.pretrain, cmp.Or(x.rate, e.Method.LearningRate))
	default:
		return train(c, e, seeds, out)
	}
	if seeds > 0 {
		return misuse(c, "%s with --seeds: layers are trained for one seed at a time; leave one of them out", flag)
	}
	if err != nil {
		return misuse(c, "%s: %w", flag, err)
	}
	if x.pretrain > 0 { // what refuses the machine is said before its layers are trained
		set, err := runs.OpenDataset(e, boltzmann.DeepDir(out))
		if err != nil {
			return err
		}
		if err := e.Check(set); err != nil {
			return misuse(c, "%w", err)
		}
	}
	for l, layer := range layers {
		if err := trainPart(c, layer, 0, boltzmann.LayerDir(out, l+1)); err != nil {
			if errors.Is(err, context.Canceled) {
				fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint in layer %d of %d; the same command goes on and trains the others\n", l+1, len(layers))
			}
			return err
		}
	}
	if x.pretrain > 0 {
		return train(c, e, 0, boltzmann.DeepDir(out))
	}
	return nil
}

// base is the experiment that flags change, that of the file or the usual one of an algorithm,
// and that of the file as it is.
func (x *boltzmannFlags) base(c *cobra.Command, config string) (file, base boltzmann.Experiment, err error) {
	var algorithm boltzmann.Algorithm
	if named := c.Flags().Lookup("algorithm"); named.Changed {
		if err := algorithm.UnmarshalText([]byte(named.Value.String())); err != nil {
			return file, base, err
		}
	}
	if config == "" {
		base = boltzmann.NewExperiment(algorithm)
		base.Dataset.Name = c.Flags().Lookup("dataset").Value.String()
		base.Dataset = dataOf(c, base.Dataset)
		return base, base, nil
	}
	e, err := runs.ReadExperiment(config)
	if err != nil {
		return file, base, err
	}
	file, ok := e.(boltzmann.Experiment)
	if !ok {
		return file, base, fmt.Errorf("%s is an experiment of another family, %v, which --algorithm %v does not train: leave one of them out", config, e, algorithm)
	}
	base = file
	if c.Flags().Changed("algorithm") && base.Method.Algorithm != algorithm {
		base.Method = boltzmann.NewExperiment(algorithm).Method
	}
	return file, base, nil
}

// doubled says whether the run in a directory is a layer of a deep machine, or stands on one.
func doubled(dir string) bool {
	e, err := runs.ExperimentIn(dir) // whose error another reader returns
	layer, is := e.(boltzmann.Experiment)
	if err != nil || !is {
		return false
	}
	return layer.Machine.Doubled != boltzmann.DoubledNeither || layer.Below != nil && doubled(layer.Below.Run)
}

// isBoltzmann says whether a directory holds a run of a Boltzmann machine, or of a belief network
// that was fine-tuned, or runs of several seeds.
func isBoltzmann(dir string) bool { return holds[boltzmann.Experiment](dir) || isUpDown(dir) }

// isUndirected says whether a directory holds a run of these, or of a Boltzmann machine with any
// connections.
func isUndirected(dir string) bool { return isBoltzmann(dir) || holds[general.Experiment](dir) }

// holds says whether a directory holds a run of an experiment of a type, or runs of several seeds.
func holds[E runs.Experiment](dir string) bool {
	e, err := runs.ExperimentIn(dir) // whose error another reader returns
	if seeds, _ := runs.ReadSeeds(dir); err != nil && len(seeds) > 0 {
		e = seeds[0]
	}
	_, is := e.(E)
	return is
}

// openBoltzmann opens the run in a directory, and the model of a checkpoint with a seed
// for its draws.
func openBoltzmann(dir, which string, seed uint64) (*boltzmann.Run, *boltzmann.Model, error) {
	run, err := boltzmann.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := run.Checkpoint(which)
	if err != nil {
		return nil, nil, err
	}
	return run, model.WithSeed(seed), nil
}

// sampleBoltzmann draws images from the model of a run, or its filters.
func sampleBoltzmann(c *cobra.Command, dir, which, kind string, n, sweeps int, seed uint64, out string) error {
	if isUpDown(dir) {
		return sampleUpDown(c, dir, which, kind, n, sweeps, seed, out)
	}
	if kind != "means" && kind != "filters" {
		return misuse(c, "--kind %s: of Boltzmann machines means or filters are drawn; leave it out", kind)
	}
	run, model, err := openBoltzmann(dir, which, seed)
	if err != nil {
		return err
	}
	var sheet dataset.Sheet
	if kind == "filters" {
		if err := refuseIdle(c, "--kind means", "seed"); err != nil {
			return err
		}
		sheet, err = model.Filters(min(n, run.Experiment().Machine.Hidden))
	} else {
		sheet, err = model.Means(c.Context(), n, sweeps)
	}
	return saveSheet(c, sheet, err, out)
}

// saveSheet saves images that were drawn, unless that failed, and says where.
func saveSheet(c *cobra.Command, sheet dataset.Sheet, err error, out string) error {
	if err == nil {
		err = plotting.Samples(sheet).Save(out)
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(c.OutOrStdout(), out)
	return nil
}

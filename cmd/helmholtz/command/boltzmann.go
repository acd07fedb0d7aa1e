package command

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// boltzmannFlags are the flags that describe an experiment of the family boltzmann. If the command
// has a flag of the same name for other experiments, the user sets the command's flag, and handOn
// copies its value here.
type boltzmannFlags struct {
	flags    *pflag.FlagSet
	layers   []int
	units    []boltzmann.Kind
	belief   bool
	on       string // directory of a run
	start    runs.Source
	pretrain int                  // epochs
	rate     float64              // learning rate of pretraining; 0 means the learning rate of training
	values   boltzmann.Experiment // first the flags' defaults, then their values
	usual    boltzmann.Experiment // experiment of the default algorithm
}

func newBoltzmannFlags(command *pflag.FlagSet) *boltzmannFlags {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	x := &boltzmannFlags{flags: f}
	x.usual = boltzmann.NewExperiment(boltzmann.PCD().Spec().Algorithm)
	x.values.Method = boltzmann.PCD().Spec()
	e := &x.values
	f.SortFlags = false
	dataFlags(f, &e.Dataset)
	trainingFlags(f, &e.Epochs, &e.Patience, &e.RecordSteps, &e.Seed, &e.Keep)
	f.StringVar(&x.start.Run, "from", "", "")
	f.StringVar(&x.start.Checkpoint, "from-checkpoint", "", "")
	f.IntSliceVar(&x.layers, "layers", nil, "")
	listFlag(f, &x.units, "units", "")

	hyperparameterFlags(f, slices.Concat(e.Method.Hyperparameters(), e.Machine.Hyperparameters()))
	inGroup(f, "Boltzmann machines", func(f *pflag.FlagSet) {
		f.BoolVar(&x.belief, "belief", false, "cd, pcd, pt, ptt: train a deep belief network, layer by layer, for --epochs each, into layer-1, layer-2 and so on in --out")
		numberFlag(f, &x.pretrain, "pretrain", 0, 1, "cd, pcd, pt: pretrain each layer of a deep machine for `EPOCHS` by contrastive divergence, into layer-1, layer-2 and so on in --out, and then train the machine into deep")
		f.Float64Var(&x.rate, "pretrain-lr", 0, "learning `rate` of --pretrain (default: --lr)")
		f.StringVar(&x.on, "on", "", "cd, pcd, pt, ptt: train a layer on top of the run in `DIR`, as part of a deep belief network, on its data unless --config or --dataset names other data")
		namesRun(f, "on")
	})
	command.AddFlagSet(f) // does not replace existing flags
	optimizer := command.Lookup("optimizer")
	also := slices.DeleteFunc(textWords(&e.Method.Optimizer), func(word string) bool { return slices.Contains(optimizer.Annotations[wordsOf], word) })
	optimizer.Value = &widened{Value: optimizer.Value, also: also}
	takes(command, "optimizer", append(optimizer.Annotations[wordsOf], also...)...)
	for name, usage := range map[string]string{
		"algorithm": "cd, pcd, pt, ptt and pl train a Boltzmann machine",
		"units":     "for cd, pcd, pt and ptt the visible and the hidden units, which may also be categorical",
		"optimizer": "for a Boltzmann machine gd, momentum, adam or cosine-rate",
		"classes":   "for cd, pcd, pt and ptt the label is connected to the hidden units, like the visible units",
	} {
		command.Lookup(name).Usage += "; " + usage
	}
	takes(command, "algorithm", append(hm.Presets(), "cd", "pcd", "pt", "pl", "ptt")...)
	return x
}

// widened is the value of a flag that also takes words of another family.
type widened struct {
	pflag.Value
	also []string
	word string // one of also, if it is the value
}

func (w *widened) String() string {
	if w.word != "" {
		return w.word
	}
	return w.Value.String()
}

func (w *widened) Set(word string) error {
	if w.word = ""; slices.Contains(w.also, word) {
		w.word = word
		return nil
	}
	return w.Value.Set(word)
}

// own lists the given flags that describe only Boltzmann machines.
func (x *boltzmannFlags) own(all *pflag.FlagSet) []string {
	own := namesOf(all, func(f *pflag.Flag) bool { return x.flags.Lookup(f.Name) != f })
	all.Visit(func(f *pflag.Flag) {
		if w, is := f.Value.(*widened); is && w.word != "" {
			own = append(own, "--"+f.Name+" "+w.word)
		}
	})
	return own
}

func (x *boltzmannFlags) describes(e runs.Experiment) bool { return runs.SameFamily(e, x.usual) }

// describe reports whether the flags and the file of --config, which may be nil, describe an
// experiment of the family boltzmann. A given --algorithm decides; without it, the file does.
func (x *boltzmannFlags) describe(c *cobra.Command, file runs.Experiment, algorithm string) bool {
	if c.Flags().Changed("algorithm") || file == nil {
		var a boltzmann.Algorithm
		return a.UnmarshalText([]byte(algorithm)) == nil
	}
	return x.describes(file)
}

// experiment returns the experiment that the flags and the file of --config, which may be nil,
// describe.
func (x *boltzmannFlags) experiment(c *cobra.Command, config string, inFile runs.Experiment) (boltzmann.Experiment, error) {
	others := namesOf(c.Flags(), func(f *pflag.Flag) bool { return x.flags.Lookup(f.Name) != nil || isFamilyFlag(f) })
	if slices.Contains(others, "--fisher") {
		return x.values, misuse(c, "--fisher is the metric of Helmholtz machines; for Boltzmann machines use --metric joint or marginal")
	}
	if len(others) > 0 {
		return x.values, misuse(c, "Boltzmann machines (algorithms cd, pcd, pt, ptt and pl) have no %s: omit it", strings.Join(others, ", "))
	}
	file, base, err := x.base(c, config, inFile)
	if err != nil {
		return base, misuse(c, "%w", err)
	}
	values := givenFlags(c.Flags())
	x.values = base
	x.layers, x.units = slices.Concat([]int{base.Machine.Hidden}, base.Machine.Above), []boltzmann.Kind{base.Machine.Visible, base.Machine.HiddenUnits}
	if err := handOn(c, values, x.flags); err != nil {
		return x.values, err
	}
	if len(x.layers) == 0 {
		return x.values, misuse(c, "--layers: give the number of hidden units in each layer of the Boltzmann machine, such as 500 or 500,1000")
	}
	if len(x.units) > 2 {
		return x.values, misuse(c, "--units %v: give the kind of the visible units and, optionally, of the hidden units", strings.Join(values["units"], ","))
	}
	x.units = append(x.units, boltzmann.Bernoulli)
	x.values.Machine.Hidden, x.values.Machine.Above = x.layers[0], x.layers[1:]
	x.values.Machine.Visible, x.values.Machine.HiddenUnits = x.units[0], x.units[1]
	if c.Flags().Changed("on") {
		if boltzmann.Doubles(x.on) {
			return x.values, misuse(c, "--on %s: this layer of a deep machine was trained with one side doubled and cannot be part of a belief network: train the layers with --belief", x.on)
		}
		x.values.Below = &runs.Source{Run: x.on}
	}
	if x.belief || x.pretrain > 0 { // layers start from random weights, whatever the file starts from
		x.values.Start, x.values.Pretrained, x.values.Imported = nil, nil, nil
	}
	if x.values.Start, err = started(c, x.usual, x.values.Start, x.start); err != nil {
		return x.values, err
	}
	if c.Flags().Changed("from") {
		x.values.Pretrained = nil
	}
	if err := firstOf(refuseIdle(c, x.pretrain > 0, "--pretrain", "pretrain-lr"),
		refuseIdle(c, x.values.Machine.Visible == boltzmann.Gaussian, "gaussian visible units (--units gaussian)", "variance-rate"),
		settleData(c, &x.values.Dataset, file.Dataset, &x.values.Fingerprint)); err != nil {
		return x.values, err
	}
	if config != "" && c.Flags().Changed("algorithm") {
		explainDefaults(c, x.values.Method.Algorithm.String(), config, file, x.values)
	}
	return x.values, refuseIdleHyperparameters(c, x.values.Method.Hyperparameters())
}

func (x *boltzmannFlags) train(c *cobra.Command, e boltzmann.Experiment, seeds int, out string) error {
	var flag string
	var layers []boltzmann.Experiment
	var err error
	switch {
	case x.belief && x.pretrain > 0:
		return misuse(c, "--pretrain with --belief: only deep machines are pretrained, and a belief network is complete when its layers are; omit one of them")
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
		return misuse(c, "%s with --seeds: layers are trained for one seed at a time; omit one of them", flag)
	}
	if err != nil {
		return misuse(c, "%s: %w", flag, err)
	}
	if x.pretrain > 0 { // report errors in the machine before its layers are trained
		if _, err := openChecked(c, e, boltzmann.DeepDir(out)); err != nil {
			return err
		}
	}
	for l, layer := range layers {
		if err := trainPart(c, layer, 0, boltzmann.LayerDir(out, l+1)); err != nil {
			if errors.As(err, new(*runs.Interruption)) {
				fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint in layer %d of %d; repeat the command to resume and to train the others\n", l+1, len(layers))
			}
			return err
		}
	}
	if x.pretrain > 0 {
		return train(c, e, 0, boltzmann.DeepDir(out))
	}
	return nil
}

// base returns the experiment in the file, and as base the experiment that the flags change: the
// experiment in the file, or the default experiment of an algorithm.
func (x *boltzmannFlags) base(c *cobra.Command, config string, inFile runs.Experiment) (file, base boltzmann.Experiment, err error) {
	var algorithm boltzmann.Algorithm
	named := c.Flags().Lookup("algorithm")
	if named.Changed {
		err = algorithm.UnmarshalText([]byte(named.Value.String()))
	}
	if inFile == nil || err != nil {
		base = boltzmann.NewExperiment(algorithm)
		base.Dataset.Name = c.Flags().Lookup("dataset").Value.String()
		base.Dataset = dataOf(c.Flags(), base.Dataset)
		return base, base, err
	}
	if !x.describes(inFile) {
		return file, base, fmt.Errorf("%s is an experiment of another family, %v, which --algorithm %v does not train: omit one of them", config, inFile, algorithm)
	}
	if file, err = boltzmann.ParseExperiment(inFile.TOML()); err != nil {
		return file, base, err
	}
	base = file
	if named.Changed && base.Method.Algorithm != algorithm {
		base.Method = boltzmann.NewExperiment(algorithm).Method
	}
	return file, base, nil
}

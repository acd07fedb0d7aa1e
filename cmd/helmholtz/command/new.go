package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/spf13/cobra"
)

func newNew() *cobra.Command {
	c := &cobra.Command{
		Use:   "new FILE",
		Short: "Write the commented file of an experiment, to be changed and trained",
		Long: `Write the file of an experiment on a data set, one's own or a named one: all settings,
each with what it means. Flags are those of train that describe Helmholtz machines, and choose the
values. A tenth of the training rows of a file of one's own is held out for validation, where
--validation does not say otherwise, so that there is a best epoch. What train would refuse is
refused.`,
		Example: `  helmholtz new faces.toml --dataset faces.npy
  helmholtz new digits.toml --dataset mnist --algorithm bihm --layers 200,100,50
  helmholtz train --config faces.toml --out runs/faces`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("name the file to write, such as experiment.toml, got %d arguments", len(args))
			}
			return nil
		},
	}
	c.Flags().SortFlags = false
	flags := newExperimentFlags(c.Flags())
	c.RunE = func(c *cobra.Command, args []string) error {
		path := args[0]
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			return misuse(c, "%s is there already: name a file that is not", path)
		}
		e, err := flags.experiment(c)
		if err != nil {
			return err
		}
		set, err := e.Dataset.Open()
		if err == nil && e.Dataset.Validation == nil && set.Validation().Rows == 0 && set.Train().Rows >= 10 && isOwn(set) {
			rows := set.Train().Rows / 10
			e.Dataset.Validation = &rows
			set, err = e.Dataset.Open()
		}
		if err == nil {
			err = e.Check(set)
		}
		if err != nil {
			return misuse(c, "%w", err)
		}
		if err := file.WriteAside(path, commented(path, e, set)); err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %v\nhelmholtz train --config %s --out %s trains it\n", path, set, shell.Argument(path), shell.Argument("runs/"+nameOf(path)))
		return nil
	}
	return c
}

// isOwn says whether a set is a file of one's own.
func isOwn(set *dataset.Set) bool {
	for _, i := range dataset.List() {
		if i.Name == set.Name() {
			return false
		}
	}
	return true
}

// nameOf is the name of a file without its folder and ending.
func nameOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// commented is the text of an experiment, with what each setting means.
func commented(path string, e hm.Experiment, set *dataset.Set) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %v.\n# Trained by: helmholtz train --config %s --out %s\n# What is left out is as the preset of [method] has it, or nothing.\n\n", set, shell.Argument(path), shell.Argument("runs/"+nameOf(path)))
	table := ""
	for line := range strings.Lines(string(e.TOML())) {
		line = strings.TrimRight(line, "\n")
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "[") {
			table = strings.Trim(text, "[]") + "."
		}
		name, _, _ := strings.Cut(strings.TrimSpace(line), " = ")
		if meaning := meanings[table+name]; meaning != "" {
			line += "  # " + meaning
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

// meanings are those of the settings, by their full names.
var meanings = map[string]string{
	"epochs": "passes over the training rows", "patience": "end when the validation log p has not risen for so many epochs, 0 never", "seed": "of all random numbers of training",
	"keep": "epochs whose checkpoints are kept", "record_steps": "record the measures of every so many steps",

	"dataset.name": "a set of data list, or the path of an NPY or IDX file or of text of 0 and 1", "dataset.test": "the file of test rows; without, a tenth of the rows is drawn",
	"dataset.binarization": "grey values become draws once (fixed), at each step (stochastic), or never (grey, for gaussian units)",
	"dataset.validation":   "rows held out, by which the best epoch is chosen", "dataset.subset": "training rows that are kept", "dataset.labels": "training rows that keep their labels", "dataset.seed": "draws the rows held out and kept",

	"machine.layers": "units of the dense hidden layers, from the data upwards", "machine.conv": "convolutional hidden layers below them", "machine.units": "kinds of units: bernoulli or gaussian, one for all or one a layer",
	"machine.coding": "values of a unit: pm1 (−1, 1) or 01", "machine.weights": "first weights: glorot-normal, bihm-uniform or small-normal", "machine.bias": "first bias of each unit",
	"machine.label_layer": "where the label is: none, top, lower or hidden", "machine.classes": "of the label",

	"method.preset": "the published method: ws, rws, bihm, nws, nrws, dnrws, nbihm or reinforce", "method.phases": "importance weights and phases: ws, rws, bihm or reinforce",
	"method.metric": "Fisher matrix: none, block, diagonal or kronecker", "method.fisher_source": "samples of the generative blocks: wake or sleep", "method.damping": "α of (αI + F)⁻¹, for a metric",
	"method.refresh_every": "K, steps for which Fisher blocks stay, for a metric", "method.fisher_precision": "of the inverse blocks: int16 or float32",
	"method.optimizer": "gd, momentum, nesterov or adam", "method.momentum": "β of momentum and nesterov", "method.adam_beta1": "β₁ of adam", "method.adam_beta2": "β₂ of adam",
	"method.learning_rate": "η", "method.schedule": "of η: constant, step or cosine", "method.step_epochs": "epochs between changes, for the schedule step", "method.step_factor": "of a change, for the schedule step",
	"method.batch_size": "B, rows a step", "method.samples": "S, samples of the hidden units a row", "method.later_samples": "S after later_samples_after epochs", "method.later_samples_after": "epochs",
	"method.baseline": "subtract 1/S from the weights of the q-wake gradient", "method.l1": "strength of the L1 norm", "method.l2": "strength of the L2 norm",
	"method.entropy": "strength with which entropies are raised", "method.entropy_estimator": "the same by the printed estimator", "method.warmup": "epochs over which these rise from 0",
	"method.reinforce_baseline": "none, constant or optimal", "method.gamma": "γ of log B − γ log A of labelled rows", "method.label_weight": "factor of labelled rows", "method.label_proposal": "exact, plain or mixed",
	"method.sleep_steps": "sleep phases a step", "method.sleep_scale": "factor of the sleep gradients",

	"measure.name": "of the measurement", "measure.every": "epochs", "measure.split": "train, validation or test", "measure.rows": "0 for all", "measure.samples": "importance samples a row",
	"measure.log_z2": "samples for log Z², 0 for none", "measure.log_z2_inner": "samples within each of these",
	"start.run": "whose parameters training starts from", "start.checkpoint": "last, best or an epoch",
}

package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newTrain() *cobra.Command {
	var resume, out, from string
	var seeds int
	c := &cobra.Command{
		Use:   "train",
		Short: "Train a machine and keep the run in a directory",
		Long: `Train a machine and keep the run in a directory.

Flags describe the experiment, or change the settings of a TOML file. The algorithms cd,
pcd, pt, ptt and pl train Boltzmann machines: restricted ones with one number in --layers,
deep ones with several. Their flags are --gibbs-steps, --chains, --temperatures,
--acceptance, --rungs, --centered, --offset-rate, --variance-rate, --mean-field, --metric,
--max-norm, --sparsity and --sparsity-target, and for rows with labels --classes and
--discriminative. With --belief the layers form a deep belief network, trained one after
the other, and the run of the last layer is the network. With --pretrain EPOCHS the layers
of a deep machine are first trained greedily, with doubled weights, and the machine starts
from them. --up-down DIR fine-tunes a belief network, whose recognition weights then
separate from its generative weights, with --lr, --gibbs-steps for the chains of its prior,
--batch and --epochs. The baseline and the objective of Boltzmann machines are the
pseudo-likelihood, or, with --units gaussian, the Hyvärinen score (lower is better), or,
with --classes, log p(y|v).

Other families have their own commands below train, with flags for all their settings.
Their files can be trained here as well, with only --seed, --epochs, --keep and
--record-steps to change them. Files of general-boltzmann describe machines with at most
16 hidden units and any connections; with at most 20 units in total, gradients and log p
are exact, and otherwise chains estimate the gradients.
notebooks/experiments/3by3-general.toml is such a file, with comments on its settings.

The directory contains experiment.toml, a checkpoint and one line of metrics per epoch;
training the same experiment into it again resumes it. An interrupt stops training within
a step, with a checkpoint, and so does a closing terminal unless nohup started the
program. --backend chooses the device; a run may resume on another backend. --resume DIR
--epochs N extends a finished run, which then ends as if it had been started with N
epochs.

--from DIR starts from another run's parameters (fine-tuning). --measure estimates
likelihoods during training, and --keep keeps checkpoints of epochs, which eval
--checkpoint evaluates; neither changes training.

Before the first epoch, training prints the baseline: log p over the validation rows
under a factorised model, whose units have the means of the training rows (and their
variances, if they are Gaussian). If the log p of an epoch is far worse (below three
times the log p of fair coins, or ten times the log p of standard normal units), training has
diverged although its numbers are finite: a warning says so, and training continues.

--seeds N trains N runs, with the given seed and the seeds after it, into the
directories seed-1, seed-2 and so on in --out, and prints the mean and the standard
deviation over them at the end.

A machine that stopped or restarted during training leaves a lease in the directory.
Training waits up to a minute for a sign of life and then resumes from the checkpoint;
--no-wait refuses such a directory immediately.

The defaults of a method are the settings of Várady 2025 for MNIST. The learning rate,
damping and K shown below are the defaults of nrws; cd, pcd, pt, ptt and pl have a
learning rate of 0.2 with the schedule cosine, minibatches of 100, 100 chains, and 500
hidden units. Várady 2025 starts bihm and nbihm from --weight-init small-normal (App.
A.2). A tenth of the rows of your own file is set aside for validation, so that there is
a best epoch; --validation 0 trains on all rows.`,
		Example: `  helmholtz train --dataset 3by3 --algorithm nrws --layers 9,6,3 --coding 01 --bias-init 0.1 \
      --lr 0.02 --damping 0.01 --kstep 10 --epochs 100 --out runs/3by3
  helmholtz train --dataset mnist --algorithm rws --layers 300,200,100 --lr 0.02 --schedule cosine --out runs/mnist
  helmholtz train --dataset mnist --conv 8@4x4/2 --layers 75,50,20 --algorithm rws --lr 0.005 --out runs/conv
  helmholtz train --dataset fashion --binarization grey --units gaussian,bernoulli,bernoulli --layers 100,30 --lr 0.001 --out runs/grey
  helmholtz train --dataset mnist --algorithm pcd --layers 500 --epochs 20 --out runs/rbm
  helmholtz train --dataset mnist --algorithm pcd --layers 500,1000 --gibbs-steps 5 --lr 0.01 --epochs 50 --out runs/dbm
  helmholtz train --dataset mnist --algorithm pcd --layers 500,1000 --pretrain 20 --pretrain-lr 0.05 --lr 0.01 --epochs 50 --out runs/pretrained
  helmholtz train --config runs/rbm/experiment.toml --from runs/rbm --lr 0.02 --epochs 10 --out runs/rbm-tuned
  helmholtz train --dataset mnist --algorithm pcd --layers 500,2000 --belief --epochs 50 --out runs/dbn
  helmholtz train --up-down runs/dbn/layer-2 --lr 0.01 --epochs 20 --out runs/dbn-tuned
  helmholtz train --dataset glyphs --algorithm pcd --layers 100 --metric joint --damping 0.1 --lr 0.1 --out runs/natural
  helmholtz train --dataset freyfaces --binarization grey --units gaussian --algorithm pcd --layers 100 --out runs/faces
  helmholtz train --config runs/mnist/experiment.toml --seed 2 --out runs/mnist-2
  helmholtz train --config runs/mnist/experiment.toml --seeds 5 --out runs/mnist-seeds
  helmholtz train --config runs/mnist/experiment.toml --backend cuda --out runs/mnist-gpu
  helmholtz train --dataset mnist --layers 300,200,100 --epochs 100 --keep 20,50 --measure every=10,samples=1000,rows=1000 --out runs/watched
  helmholtz train --config runs/watched/experiment.toml --from runs/watched --lr 0.0005 --samples 100 --epochs 20 --out runs/tuned
  helmholtz train general-boltzmann --dataset 3by3 --hidden 6 --lr 0.05 --epochs 5 --out runs/general
  helmholtz train --resume runs/mnist
  helmholtz train --resume runs/watched --epochs 200`,
		Args: noArgs,
	}
	c.Flags().SortFlags = false
	c.Flags().StringVar(&resume, "resume", "", "resume the run in `DIR`")
	namesRun(c.Flags(), "resume")
	c.Flags().StringVar(&out, "out", "", "`DIR` of the run (default runs/DATASET-ALGORITHM)")
	seedsFlags(c.Flags(), &seeds)
	noWaitFlag(c.Flags())
	tensorBoardFlag(c.Flags())
	flags := newExperimentFlags(c.Flags())
	ofBoltzmann := newBoltzmannFlags(c.Flags())
	inGroup(c.Flags(), "Boltzmann machines", func(f *pflag.FlagSet) {
		f.StringVar(&from, "up-down", "", "fine-tune a deep belief network by the up-down algorithm; `DIR` is the run of its last layer")
		namesRun(f, "up-down")
	})

	c.RunE = func(c *cobra.Command, _ []string) error {
		if resume != "" {
			e, seeds, err := resumed(c, resume, flags.values.Epochs)
			if err != nil {
				return err
			}
			return train(c, e, seeds, resume)
		}
		if from != "" {
			e, err := upDown(c, from)
			if err != nil {
				return err
			}
			return train(c, e, seeds, orUsual(out, e, "up-down"))
		}
		e, method, err := fromFlags(c, flags, ofBoltzmann)
		if err != nil {
			return err
		}
		if ofBoltzmann.describes(e) {
			return ofBoltzmann.train(c, ofBoltzmann.values, seeds, orUsual(out, e, method))
		}
		return train(c, e, seeds, orUsual(out, e, method))
	}
	for _, family := range runs.Families() {
		if runs.NewDraft(family) != nil {
			c.AddCommand(computing(newTrainFamily(family)))
		}
	}
	return c
}

// fromFlags returns the experiment that the flags and the file of --config describe, and the name of its method.
func fromFlags(c *cobra.Command, flags *experimentFlags, ofBoltzmann *boltzmannFlags) (e runs.Experiment, method string, err error) {
	var file runs.Experiment
	if flags.config != "" {
		if file, err = runs.ReadExperiment(flags.config); err != nil {
			return nil, "", misuse(c, "%w", err)
		}
	}
	if ofBoltzmann.describe(c, file, flags.values.Method.Preset) {
		e, err := ofBoltzmann.experiment(c, flags.config, file)
		return e, e.Method.Algorithm.String(), err
	}
	if own := ofBoltzmann.own(c.Flags()); len(own) > 0 {
		return nil, "", misuse(c, "%s: only Boltzmann machines (algorithms cd, pcd, pt, ptt and pl) have it; omit it, or choose one of these algorithms", strings.Join(own, ", "))
	}
	if file != nil && ofBoltzmann.describes(file) { // a file that flags could describe with its own algorithm
		return nil, "", misuse(c, "%s is an experiment of another family, %v, which --algorithm %s does not train: omit one of them", flags.config, file, flags.values.Method.Preset)
	}
	if file != nil && !runs.SameFamily(file, flags.values) {
		return ofOtherFamily(c, file, flags)
	}
	of, err := flags.experiment(c)
	return of, of.Method.Preset, err
}

// resumed returns the experiment of the run in a directory, and 0. If the directory has several
// seeds, it returns the experiment of the first seed, and 1. If --epochs is given, it extends
// finished runs to that number of epochs.
func resumed(c *cobra.Command, dir string, epochs int) (runs.Experiment, int, error) {
	others := namesOf(c.Flags(), func(f *pflag.Flag) bool {
		return slices.Contains([]string{"resume", "backend", "epochs", "workers", noWait, tensorBoard}, f.Name)
	})
	if len(others) > 0 {
		return nil, 0, misuse(c, "--resume continues the experiment unchanged, except for a larger number of --epochs: omit %s", strings.Join(others, ", "))
	}
	if err := noFiles(c, []string{dir}); err != nil {
		return nil, 0, misuse(c, "--resume: %w", err)
	}
	longer := c.Flags().Changed("epochs")
	if longer {
		if err := awaitFree(c.Context(), c, dir); err != nil {
			return nil, 0, err
		}
	}
	e, err := runs.ExperimentIn(dir)
	if !errors.Is(err, os.ErrNotExist) {
		if c.Flags().Changed("workers") {
			return nil, 0, misuse(c, "%s has one seed, so --workers has no effect: omit it", dir)
		}
		if err == nil && longer {
			e, err = runs.Extend(dir, epochs)
		}
		return e, 0, err
	}
	if longer {
		e, err := runs.ExtendSeeds(dir, epochs)
		return e, 1, err
	}
	seeds, err := runs.ReadSeeds(dir)
	if err != nil {
		return e, 0, err
	}
	if len(seeds) == 0 {
		return e, 0, fmt.Errorf("%s is not the directory of a run (it has no experiment.toml): name the directory that --out named", dir)
	}
	return seeds[0], 1, nil // all seeds of the directory resume with the first
}

// train trains an experiment into a directory, for several seeds if seeds is not 0, and prints the
// result or how to resume.
func train(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	err := trainPart(c, e, seeds, dir)
	if errors.As(err, new(*runs.Interruption)) {
		fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint; resume with helmholtz train --resume %s\n", shell.Argument(dir))
	}
	return err
}

// trainPart is like train, for a part of a larger run, but does not print how to resume.
func trainPart(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	if seeds == 0 && c.Flags().Changed("workers") {
		return misuse(c, "--workers has no effect without --seeds: omit it")
	}
	if err := refuseFile(c, dir); err != nil {
		return err
	}
	home := dir // directory of the data, if they are stored with a run
	if seeds > 0 {
		home = runs.SeedDir(dir, e.Header().Seed)
	}
	if err := awaitFree(c.Context(), c, dir); err != nil {
		return err
	}
	set, err := openTrained(c, e, home)
	if err != nil {
		return err
	}
	about, err := work.Interruptible(func() (string, error) { return announcement(e, set) })
	if err != nil {
		return err
	}
	fmt.Fprint(c.ErrOrStderr(), about)
	if later := laterSettings(e, set.Train().Rows); len(later) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "without full effect within %s: %s\n", names.Count(e.Header().Epochs, "epoch"), strings.Join(later, ", "))
	}
	var result string
	if seeds == 0 {
		result, err = trainRun(c, e, set, dir)
	} else {
		result, err = trainSeeds(c, e, set, seeds, dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%v: %s\n", e, result)
	return nil
}

// recordersOf returns the recorders of a training command, and a function to call when training has
// ended.
func recordersOf(c *cobra.Command) (recorders []runs.Recorder, ended func()) {
	events := runs.TensorBoard()
	recorders = []runs.Recorder{runs.Printer(c.ErrOrStderr())}
	if wanted, _ := c.Flags().GetBool(tensorBoard); wanted { // a flag of training commands
		recorders = append(recorders, events)
	}
	return recorders, func() {
		if err := events.Err(); err != nil {
			fmt.Fprintln(c.ErrOrStderr(), err)
		}
	}
}

// tensorBoard is the flag that makes training commands write event files for TensorBoard.
const tensorBoard = "tensorboard"

func tensorBoardFlag(f *pflag.FlagSet) {
	f.Bool(tensorBoard, false, "also write the measures of each epoch for TensorBoard, into the folder tensorboard of the run")
}

// noWait is the flag that makes training commands refuse a directory instead of waiting.
const noWait = "no-wait"

func noWaitFlag(f *pflag.FlagSet) {
	f.Bool(noWait, false, "refuse a directory immediately if another machine may be training in it, or stopped during training, instead of waiting a minute for a sign of life")
}

// awaitFree waits until no program trains in a directory or in the directories of its seeds. With
// --no-wait, it refuses a directory in which a program may be training.
func awaitFree(ctx context.Context, c *cobra.Command, dir string) error {
	dirs := []string{dir}
	seeds, _ := runs.ReadSeeds(dir) // a later read returns the error
	for _, e := range seeds {
		dirs = append(dirs, runs.SeedDir(dir, e.Header().Seed))
	}
	for _, dir := range dirs {
		err := runs.Taken(dir)
		if atOnce, _ := c.Flags().GetBool(noWait); !atOnce { // a flag of training commands
			err = runs.Await(ctx, dir, runs.Printer(c.ErrOrStderr()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openTrained is like openChecked, for training on the device that --backend names.
func openTrained(c *cobra.Command, e runs.Experiment, dir string) (*dataset.Set, error) {
	if _, shares := e.(runs.Sharer); !shares && c.Flags().Lookup("backend").Value.String() == "cuda" {
		return nil, misuse(c, "--backend cuda: only Helmholtz machines compute on a GPU: omit --backend")
	}
	return openChecked(c, e, dir)
}

// openChecked opens the data of an experiment, which may be stored with its run in a directory, and
// refuses an experiment that cannot be trained on them.
func openChecked(c *cobra.Command, e runs.Experiment, dir string) (*dataset.Set, error) {
	set, err := runs.OpenDataset(e, dir)
	if of := c.Flags().Lookup("dataset"); errors.Is(err, os.ErrNotExist) && of != nil && !of.Changed && !c.Flags().Changed("resume") {
		err = fmt.Errorf("%w; or name the data with --dataset", err)
	}
	if err != nil {
		return nil, err
	}
	if err := e.Check(set); err != nil {
		return nil, misuse(c, "%w", err)
	}
	return set, nil
}

// announcement describes the data and the experiment.
func announcement(e runs.Experiment, set *dataset.Set) (string, error) {
	more := "\n"
	if set.Validation().Rows == 0 {
		more = " (--validation N sets N rows aside for validation, which then select a best epoch)\n"
	}
	if e, describes := e.(runs.Describer); describes {
		text, err := e.Describe(set)
		if err != nil {
			return "", err
		}
		more += text
	}
	return set.String() + more, nil
}

// laterSettings returns the settings of an experiment that have no effect, or not their full
// effect, before its last epoch ends.
func laterSettings(e runs.Experiment, rows int) (later []string) {
	h := e.Header()
	add := func(epochs int, setting string) { // full effect after that many epochs
		if epochs > h.Epochs {
			later = append(later, setting)
		}
	}
	for _, epoch := range h.Keep {
		add(epoch, fmt.Sprintf("--keep %d", epoch))
	}
	add((h.RecordSteps-1)/h.StepsPerEpoch(rows)+1, fmt.Sprintf("--record-steps %d", h.RecordSteps))
	add(h.Patience+1, fmt.Sprintf("--patience %d", h.Patience))
	if e, defers := e.(runs.Deferrer); defers {
		for _, d := range e.Deferred() {
			add(d.Epochs, d.Setting)
		}
	}
	return later
}

func trainRun(c *cobra.Command, e runs.Experiment, set *dataset.Set, dir string) (string, error) {
	recorders, ended := recordersOf(c)
	run, err := runs.Train(c.Context(), e, set, dir, recorders...)
	ended()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s in %s%s", names.Count(run.Epochs(), "epoch"), run.Dir(), lastWarning("; ", run)), nil
}

// seedsFlags adds the flags of several seeds.
func seedsFlags(f *pflag.FlagSet, seeds *int) {
	numberFlag(f, seeds, "seeds", 0, 1, "train `N` runs, with --seed and the seeds after it")
	optionalFlag(f, new(int), "workers", 0, 1, "train `N` seeds in parallel (default: one per core, as far as memory allows; 4 on a GPU)")
}

func trainSeeds(c *cobra.Command, e runs.Experiment, set *dataset.Set, n int, dir string) (string, error) {
	ctx := c.Context()
	if n, err := c.Flags().GetInt("workers"); err == nil && n > 0 {
		ctx = runs.AtOnce(ctx, n)
	}
	recorders, ended := recordersOf(c)
	seeds, err := runs.TrainSeeds(ctx, e, set, n, dir, recorders...)
	ended()
	if err != nil {
		return "", err
	}
	result := fmt.Sprintf("%s in %s\n%s", names.Count(len(seeds.Runs), "seed"), seeds.Dir(), lastMeasures(seeds, set.Validation().Rows > 0))
	for _, run := range seeds.Runs {
		result += lastWarning(fmt.Sprintf("\nseed %d: ", run.Experiment().Header().Seed), run)
	}
	return result, nil
}

// lastWarning returns the text after, followed by the run's warning or by a note that the run is no
// better than its baseline. It returns "" if neither applies.
func lastWarning(after string, run *runs.Run) string {
	if text := cmp.Or(run.Warning(), run.Shortfall()); text != "" {
		return after + text
	}
	return ""
}

// lastMeasures formats the validation or training measures of the last epoch, as mean and standard
// deviation over the seeds.
func lastMeasures(seeds *runs.Seeds, validation bool) string {
	of, split := "training", func(e runs.Epoch) runs.Measures { return e.Train }
	if validation {
		of, split = "validation", func(e runs.Epoch) runs.Measures { return e.Validation }
	}
	last := func(r *runs.Run) runs.Measures { return split(r.Last()) }
	measures := slices.DeleteFunc(seeds.Runs[0].Experiment().Measures(), func(m runs.Measure) bool {
		_, measured := last(seeds.Runs[0])[m.Key]
		return !measured
	})
	return fmt.Sprintf("%s of the last epoch, mean ± sd over the seeds: %s", of, runs.MeasuresText(measures, func(m runs.Measure, scale float64, decimals int) string {
		return seeds.Over(func(r *runs.Run) float64 { return scale * last(r)[m.Key] }).Text(decimals)
	}))
}

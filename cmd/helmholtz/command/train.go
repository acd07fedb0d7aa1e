package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
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

The experiment is given by flags, or by a TOML file whose settings flags change. The
algorithms cd, pcd, pt, ptt and pl train Boltzmann machines, restricted ones with one number of
--layers, deep ones with several, by the flags --gibbs-steps, --chains, --temperatures,
--acceptance, --rungs, --centered, --offset-rate, --variance-rate, --mean-field, --metric, --max-norm, --sparsity and
--sparsity-target, and with --classes and --discriminative those of rows with their labels; with
--belief the layers are those of a deep belief network, trained one after the other, the last of
which is the network; with --pretrain EPOCHS those of a deep machine are first trained greedily,
with doubled weights, and the machine begins from them. --up-down DIR fine-tunes a belief
network, whose recognition then parts from its generation, by --lr, --gibbs-steps of its prior's
chains, --batch and --epochs. Their baseline and objective are of the pseudo-likelihood, or, with
--units gaussian, of the Hyvärinen score, which falls, or, with --classes, of log p(y|v). Other
families have commands of their own below train, with flags for all of their settings. A file of
one is trained as it is here, too, but for --seed, --epochs, --keep and --record-steps. Those of
general-boltzmann are machines of at most 16 hidden units with any connections; with at most 20
units in all gradients and log p are exact, and otherwise gradients are by chains.
notebooks/experiments/3by3-general.toml is such a file, with what its settings mean.
The directory holds experiment.toml, a checkpoint and a line of metrics an
epoch; training the same experiment into it again resumes it. An interrupt, or a
terminal that closes unless nohup began it, stops training within a step, with a
checkpoint. --backend says what computes; a run may be
resumed with another. A finished run goes on to more epochs by --resume DIR --epochs N,
and ends as if that had been their number from the start.

--from DIR starts from another run's parameters (fine-tuning). --measure estimates
likelihoods along training, --keep keeps checkpoints of epochs, which eval
--checkpoint evaluates; both leave training as it is.

Before the first epoch the baseline is said: log p of a factorised model, units
with the means of the training rows (and the variances, where they are Gaussian),
over the validation rows. Where the log p of an epoch is far worse, below three
times that of fair coins, or ten times that of standard normal units, training has
diverged, though its numbers are finite: this is said, too, and training goes on.

--seeds N trains N runs, of the seed given and those that follow it, into the
directories seed-1, seed-2 and so on within that of --out, and ends with the
mean and the standard deviation over them.

A machine that stopped or was restarted while it trained leaves its mark in the directory.
Training waits up to a minute for a sign of life from it, and then goes on from its
checkpoint; --no-wait refuses such a directory at once.

The defaults of a method are those of Várady 2025 for MNIST: the learning rate,
damping and K shown below are those of nrws; those of cd, pcd, pt, ptt and pl are a learning
rate of 0.2 with the schedule cosine, minibatches of 100, 100 chains, and 500 hidden units. Várady 2025 starts bihm
and nbihm from --weight-init small-normal (App. A.2). Of a file of one's own a tenth of the rows is held
out for validation, so that there is a best epoch; --validation 0 trains on all rows.`,
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
	c.Flags().StringVar(&resume, "resume", "", "continue the run in `DIR`")
	namesRun(c.Flags(), "resume")
	c.Flags().StringVar(&out, "out", "", "`DIR` of the run (default runs/DATASET-ALGORITHM)")
	numberFlag(c.Flags(), &seeds, "seeds", 0, 1, "train `N` runs, of --seed and the seeds that follow it")
	noWaitFlag(c.Flags())
	flags := newExperimentFlags(c.Flags())
	ofBoltzmann := newBoltzmannFlags(c.Flags())
	inGroup(c.Flags(), "Boltzmann machines", func(f *pflag.FlagSet) {
		f.StringVar(&from, "up-down", "", "fine-tune the deep belief network of the run in `DIR`, its last layer's, by the up-down algorithm")
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
		var file runs.Experiment
		if flags.config != "" {
			var err error
			if file, err = runs.ReadExperiment(flags.config); err != nil {
				return misuse(c, "%w", err)
			}
		}
		if ofBoltzmann.describe(c, file, flags.values.Method.Preset) {
			e, err := ofBoltzmann.experiment(c, flags.config, file)
			if err != nil {
				return err
			}
			return ofBoltzmann.train(c, e, seeds, orUsual(out, e, e.Method.Algorithm.String()))
		}
		if own := ofBoltzmann.own(c.Flags()); len(own) > 0 {
			return misuse(c, "%s: only Boltzmann machines have that, which the algorithms cd, pcd, pt, ptt and pl train; leave it out, or name one of these", strings.Join(own, ", "))
		}
		if file != nil && ofBoltzmann.describes(file) { // which flags describe, with an algorithm of its own
			return misuse(c, "%s is an experiment of another family, %v, which --algorithm %s does not train: leave one of them out", flags.config, file, flags.values.Method.Preset)
		}
		if file != nil && !runs.SameFamily(file, flags.values) {
			return trainOtherFamily(c, file, flags, seeds, out)
		}
		e, err := flags.experiment(c)
		if err != nil {
			return err
		}
		return train(c, e, seeds, orUsual(out, e, e.Method.Preset))
	}
	for _, family := range runs.Families() {
		if runs.NewDraft(family) != nil {
			c.AddCommand(computing(newTrainFamily(family)))
		}
	}
	return c
}

// resumed returns the experiment of the run in a directory, or that of the
// seeds in it with their number; 0 for a run. Where --epochs is given, those that
// are finished go on to so many.
func resumed(c *cobra.Command, dir string, epochs int) (runs.Experiment, int, error) {
	others := namesOf(c.Flags(), func(f *pflag.Flag) bool {
		return slices.Contains([]string{"resume", "backend", "epochs", noWait}, f.Name)
	})
	if len(others) > 0 {
		return nil, 0, misuse(c, "--resume continues the experiment as it is, but for a larger number of --epochs: leave %s away", strings.Join(others, ", "))
	}
	if err := noFiles(c, []string{dir}); err != nil {
		return nil, 0, misuse(c, "--resume: %w", err)
	}
	longer := c.Flags().Changed("epochs")
	if longer {
		if err := awaitFree(c, dir); err != nil {
			return nil, 0, err
		}
	}
	e, err := runs.ExperimentIn(dir)
	if !errors.Is(err, os.ErrNotExist) {
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
		return e, 0, fmt.Errorf("%s is not the directory of a run, it holds no experiment.toml: name the one that --out named", dir)
	}
	return seeds[0], 1, nil // all seeds of the directory go on with the first
}

// train trains an experiment into a directory, with a number of seeds if it is
// not 0, and says what came of it and how it goes on.
func train(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	err := trainPart(c, e, seeds, dir)
	if errors.As(err, new(*runs.Interruption)) {
		fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint; helmholtz train --resume %s continues\n", shell.Argument(dir))
	}
	return err
}

// trainPart is train of what may be a part of what is trained, and leaves open how that goes on.
func trainPart(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	if err := refuseFile(c, dir); err != nil {
		return err
	}
	home := dir // of the data, where they are stored with a run
	if seeds > 0 {
		home = runs.SeedDir(dir, e.Header().Seed)
	}
	if err := awaitFree(c, dir); err != nil {
		return err
	}
	set, err := openChecked(c, e, home)
	if err != nil {
		return err
	}
	if err := announceExperiment(c.ErrOrStderr(), e, set); err != nil {
		return err
	}
	if later := laterSettings(e, set.Train().Rows); len(later) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "not in full effect within %s: %s\n", names.Count(e.Header().Epochs, "epoch"), strings.Join(later, ", "))
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

// noWait is the flag that has commands which train refuse at once what they would wait for.
const noWait = "no-wait"

func noWaitFlag(f *pflag.FlagSet) {
	f.Bool(noWait, false, "refuse a directory at once if another machine may train in it, or stopped while it did, instead of waiting a minute for a sign of life")
}

// awaitFree waits until no program trains in a directory, or in those of its seeds. With --no-wait it
// refuses a directory in which one may train.
func awaitFree(c *cobra.Command, dir string) error {
	dirs := []string{dir}
	seeds, _ := runs.ReadSeeds(dir) // whose error another reader returns
	for _, e := range seeds {
		dirs = append(dirs, runs.SeedDir(dir, e.Header().Seed))
	}
	for _, dir := range dirs {
		err := runs.Taken(dir)
		if atOnce, _ := c.Flags().GetBool(noWait); !atOnce { // a flag that commands which train have
			err = runs.Await(c.Context(), dir, runs.Printer(c.ErrOrStderr()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openChecked opens the data of an experiment, which may be stored with its run in a directory, and
// refuses an experiment that cannot be trained on them.
func openChecked(c *cobra.Command, e runs.Experiment, dir string) (*dataset.Set, error) {
	set, err := runs.OpenDataset(e, dir)
	if err != nil {
		return nil, err
	}
	if err := e.Check(set); err != nil {
		return nil, misuse(c, "%w", err)
	}
	return set, nil
}

// announceExperiment says what will be trained on what, and what else the experiment has to say.
func announceExperiment(w io.Writer, e runs.Experiment, set *dataset.Set) error {
	more := "\n"
	if set.Validation().Rows == 0 {
		more = " (--validation N holds out N rows for validation, and there is then a best epoch)\n"
	}
	if e, describes := e.(runs.Describer); describes {
		text, err := e.Describe(set)
		if err != nil {
			return err
		}
		more += text
	}
	fmt.Fprintf(w, "%v%s", set, more)
	return nil
}

// laterSettings are the settings of an experiment on a number of rows that do nothing before its
// last epoch ends, or not all that they are to.
func laterSettings(e runs.Experiment, rows int) (later []string) {
	h := e.Header()
	add := func(epochs int, setting string) { // which takes so many epochs
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
	run, err := runs.Train(c.Context(), e, set, dir, runs.Printer(c.ErrOrStderr()))
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s in %s%s", names.Count(run.Epochs(), "epoch"), run.Dir(), lastWarning("; ", run)), nil
}

func trainSeeds(c *cobra.Command, e runs.Experiment, set *dataset.Set, n int, dir string) (string, error) {
	seeds, err := runs.TrainSeeds(c.Context(), e, set, n, dir, runs.Printer(c.ErrOrStderr()))
	if err != nil {
		return "", err
	}
	result := fmt.Sprintf("%s in %s\n%s", names.Count(len(seeds.Runs), "seed"), seeds.Dir(), lastMeasures(seeds, set.Validation().Rows > 0))
	for _, run := range seeds.Runs {
		result += lastWarning(fmt.Sprintf("\nseed %d: ", run.Experiment().Header().Seed), run)
	}
	return result, nil
}

// lastWarning is that of a run, or that it is behind its baseline, after a text; empty where
// there is neither.
func lastWarning(after string, run *runs.Run) string {
	if text := cmp.Or(run.Warning(), run.Shortfall()); text != "" {
		return after + text
	}
	return ""
}

// lastMeasures writes the measures of the last epoch, of validation or of
// training, over the seeds.
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

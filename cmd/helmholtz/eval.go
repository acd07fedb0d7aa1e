package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// estimate says what of a run is evaluated, by which samples, and where its parts are kept.
type estimate struct {
	split, checkpoint, parts string
	samples, rows            int
	seed                     uint64
}

// addTo adds the flags of an estimate.
func (x *estimate) addTo(f *pflag.FlagSet) {
	splitFlag(f, &x.split, "`rows` to evaluate: train, validation or test")
	checkpointFlag(f, &x.checkpoint)
	numberFlag(f, &x.samples, "samples", 1000, 1, "`K` importance samples a datum")
	numberFlag(f, &x.rows, "rows", 0, 0, "evaluate `N` rows drawn by seed, 0 for all")
	f.Uint64Var(&x.seed, "seed", 1, "`seed` of the samples")
	f.StringVar(&x.parts, "parts", "", "`DIR` to keep parts in, which programs share")
}

// likelihood evaluates the model of a run, in parts where these are kept.
func (x *estimate) likelihood(ctx context.Context, run *hm.Run, model *hm.Model, data dataset.Split, share runs.Shard, progress func(float64)) (hm.Evaluation, error) {
	if x.parts == "" {
		return model.Evaluate(ctx, data, x.samples, progress)
	}
	return model.EvaluateParts(ctx, data, x.samples, filepath.Join(x.parts, fmt.Sprintf("seed-%d", run.Experiment().Seed)), share, progress)
}

func newEval() *cobra.Command {
	var x estimate
	var shard string
	var outer, inner int
	var asJSON bool
	c := &cobra.Command{
		Use:   "eval DIR",
		Short: "Estimate the log-likelihood of the machine of a run",
		Long: `Estimate the log-likelihood of the machine of a run by importance sampling, in
nats, with standard errors over the data: log p, the lower bound, log p̃*, the
effective sample size, and with --log-z2 also log Z² and log p*. Of a machine
small enough, the exact divergence from the training data is given too, of one
with labels the error of classification by p*(y|x), or p(y|v). Beside log p is the baseline, that
of a factorised model of the training rows; where log p is far worse, training has
diverged, and this is said.

Of a Boltzmann machine log Z is summed exactly where one side has at most 25 units, and
estimated by annealed importance sampling (AIS) where both have more, with the interval
of its chains; log p by it is too high in expectation. --raise estimates log p of
some rows by chains that go the other way (RAISE), which err to the low side of what annealing
draws from, not always of the model. Free
energies of the rows and of the training rows stand beside them. Of a machine with any
connections log Z is a sum over at most 20 units, and by AIS of more. Those of a deep machine are
of mean field, if the hidden units are too many to sum them out: with an exact log Z log p by
them is a lower bound, with that of AIS an estimate. Of a belief network, the last of the
directories layer-1, layer-2 …, or one that was fine-tuned, log p is by --samples (100) of each
row, and errs likewise.

With --parts an evaluation of many samples is done in parts of some rows, which are kept:
what is stopped, by SIGTERM and SIGUSR1 with exit code 75, goes on when the same command
is started again. Programs that are given the same directory, on one machine or several,
share the parts, and each has its share with --shard INDEX/COUNT, or --shard auto in a
Slurm array or a Kubernetes Indexed Job. Once all are there, the command without --shard
prints the evaluation, which is that of one program alone, bit for bit on processors of
one kind. eval submit has a cluster do it.

Of a directory of several seeds, each is evaluated, and the mean and the
standard deviation over them are given. With --format or --table the evaluations are
a table with a row a seed, and columns with the keys of --json.`,
		Example: `  helmholtz eval runs/mnist --samples 10000 --json
  helmholtz eval runs/mnist --split validation --checkpoint best --log-z2 0
  helmholtz eval runs/mnist --samples 10000 --backend auto
  helmholtz eval runs/mnist --checkpoint 50 --samples 10000
  helmholtz eval runs/mnist --samples 100000 --parts runs/mnist-log-p
  helmholtz eval runs/mnist-seeds --table evaluations.csv
  helmholtz eval runs/rbm --schedule adaptive:5000 --chains 100 --raise 100 --json`,
		Args: oneRun,
	}
	f := c.Flags()
	tables := newTableFlags(c, "evaluations", "")
	x.addTo(f)
	f.StringVar(&shard, "shard", "", "do a share of the parts alone: `INDEX/COUNT`, such as 0/4, or auto")
	optionalFlag(f, &outer, "log-z2", 100_000, 10, "`N` outer samples for log Z², at least 10, 0 to leave it out")
	numberFlag(f, &inner, "log-z2-inner", 1, 1, "`N` inner samples an outer one for log Z²")
	f.BoolVar(&asJSON, "json", false, "print one JSON object, which says what was evaluated, too")

	annealing := newAnnealingFlags(f)

	c.RunE = func(c *cobra.Command, args []string) error {
		if outer == 0 {
			if err := refuseIdle(c, "--log-z2", "log-z2-inner"); err != nil {
				return err
			}
		}
		if x.parts == "" {
			if err := refuseIdle(c, "--parts", "shard"); err != nil {
				return err
			}
		}
		share, err := runs.ParseShard(shard, os.Getenv)
		if err != nil {
			return misuse(c, "%w", err)
		}
		if err := tables.check(asJSON); err != nil {
			return err
		}
		if isUndirected(args[0]) {
			if err := refuseOthers(c, "Boltzmann machines", ofImportance); err != nil {
				return err
			}
			if c.Flags().Changed("samples") {
				annealing.annealing.Samples = x.samples
			}
			annealing.split, annealing.checkpoint, annealing.rows, annealing.seed = x.split, x.checkpoint, x.rows, x.seed
			return annealing.evalBoltzmann(c, args[0], tables, asJSON)
		}
		seeds, err := hm.OpenSeeds(args[0])
		if err != nil {
			return err
		}
		if err := refuseOthers(c, "Helmholtz machines", ofAnnealing); err != nil {
			return err
		}
		set, err := seeds.Runs[0].Dataset()
		if err != nil {
			return err
		}
		ctx, preempted := preemptible(c.Context())
		evaluate := func(run *hm.Run) (hm.Evaluation, error) {
			model, err := modelOf(run, x.checkpoint, x.seed)
			if err != nil {
				return hm.Evaluation{}, err
			}
			data := model.Subset(pick(set, x.split), x.rows)
			e, err := x.likelihood(ctx, run, model, data, share, newFraction(c.ErrOrStderr(), "evaluating"))
			if err != nil || share.Count > 0 {
				return e, err
			}
			if outer > 0 {
				z, err := model.LogZ2(ctx, outer, inner)
				if err != nil {
					return e, err
				}
				e = e.WithLogZ2(z)
			}
			return model.Complete(ctx, e, set, data, newFraction(c.ErrOrStderr(), "classifying"))
		}
		if share.Count > 0 {
			err = evalShare(c, seeds, evaluate)
		} else {
			err = evalSeeds(c, seeds, evaluate, tables, asJSON, evaluated{args[0], x.split, x.checkpoint, x.seed})
		}
		if x.parts != "" && err != nil && preempted() {
			return errPreempted
		}
		return err
	}
	c.AddCommand(newEvalSubmit())
	return c
}

// evalShare does a share of the parts of the evaluations of all seeds.
func evalShare(c *cobra.Command, seeds *hm.Seeds, evaluate func(*hm.Run) (hm.Evaluation, error)) error {
	left := 0
	for _, run := range seeds.Runs {
		_, err := evaluate(run)
		var unfinished *runs.UnfinishedError
		if errors.As(err, &unfinished) {
			left += unfinished.Left
		} else if err != nil {
			return err
		}
	}
	said := "all parts are there: the same command without --shard gives the evaluation"
	if left > 0 {
		said = fmt.Sprintf("this share is done; still missing: %s of other shares", names.Count(left, "part"))
	}
	_, err := fmt.Fprintln(c.ErrOrStderr(), said)
	return err
}

// evaluated says what was evaluated.
type evaluated struct {
	Run        string `json:"run"`
	Split      string `json:"split"`
	Checkpoint string `json:"checkpoint"` // last, best, or an epoch
	DrawSeed   uint64 `json:"draw_seed"`  // of the samples
}

// evalSeeds evaluates the run of each seed, and writes the evaluations, of several
// seeds with their spread.
func evalSeeds(c *cobra.Command, seeds *hm.Seeds, evaluate func(*hm.Run) (hm.Evaluation, error), tables *tableFlags, asJSON bool, of evaluated) error {
	out, several := c.OutOrStdout(), seeds.Runs[0].Dir() != seeds.Dir()
	var each []seedEvaluation
	var evaluations []hm.Evaluation
	for _, run := range seeds.Runs {
		e, err := evaluate(run)
		if err != nil && several {
			err = fmt.Errorf("%s: %w", run.Dir(), err)
		}
		if err != nil {
			return err
		}
		evaluations = append(evaluations, e)
		one := of
		one.Run = run.Dir()
		each = append(each, seedEvaluation{evaluated: one, Seed: run.Experiment().Seed, Epochs: run.Epochs(), Finished: run.Finished(), Evaluation: e})
		if several && !asJSON && !tables.chosen() {
			if err := printSeed(out, run, e); err != nil {
				return err
			}
		}
	}
	table := evaluationsTable(seedColumns, each)
	over := overSeeds(evaluations)
	var err error
	switch {
	case tables.chosen():
		err = tables.print(table)
	case asJSON && several:
		err = json.NewEncoder(out).Encode(struct {
			evaluated
			Version string              `json:"version"` // of the program
			Seeds   []seedEvaluation    `json:"seeds"`
			Waiting int                 `json:"waiting"` // seeds without a checkpoint
			Over    evaluationOverSeeds `json:"over_seeds"`
		}{of, runs.Version(), each, seeds.Waiting, over})
	case asJSON:
		err = json.NewEncoder(out).Encode(struct {
			seedEvaluation
			Version string `json:"version"` // of the program
		}{each[0], runs.Version()})
	case several:
		waiting := ""
		if seeds.Waiting > 0 {
			waiting = fmt.Sprintf(", %d more have no checkpoint yet", seeds.Waiting)
		}
		_, err = fmt.Fprintf(out, "mean ± sd over %d seeds%s\n%v", len(each), waiting, over)
	default:
		_, err = fmt.Fprint(out, evaluations[0])
	}
	return errors.Join(err, tables.save(table))
}

// printSeed writes the evaluation of one of several seeds.
func printSeed(out io.Writer, run *hm.Run, e hm.Evaluation) error {
	unfinished := ""
	if !run.Finished() {
		unfinished = fmt.Sprintf(", unfinished after %d of %d epochs", run.Epochs(), run.Experiment().Epochs)
	}
	_, err := fmt.Fprintf(out, "seed %d%s\n%v\n", run.Experiment().Seed, unfinished, e)
	return err
}

// checkpointFlag adds the flag that chooses a checkpoint.
func checkpointFlag(f *pflag.FlagSet, which *string) {
	*which = "last"
	f.Var(&checkpoint{which}, "checkpoint", "`which` checkpoint: last, best (of the highest validation log p), or the number of an epoch that the run keeps")
}

// checkpoint is the value of a flag that names a checkpoint.
type checkpoint struct{ which *string }

func (p *checkpoint) String() string { return *p.which }

func (p *checkpoint) Type() string { return "checkpoint" }

func (p *checkpoint) Set(text string) error {
	if epoch, err := strconv.Atoi(text); text != "last" && text != "best" && (err != nil || epoch < 1) {
		return errors.New("use last, best, or the number of an epoch")
	}
	*p.which = text
	return nil
}

// open opens the run in a directory, and the model of a checkpoint with a seed for
// its draws.
func open(dir, which string, seed uint64) (*hm.Run, *hm.Model, error) {
	run, err := hm.OpenRun(dir)
	if err != nil {
		return nil, nil, err
	}
	model, err := modelOf(run, which, seed)
	return run, model, err
}

// modelOf is the model of a checkpoint of a run with a seed for its draws.
func modelOf(run *hm.Run, which string, seed uint64) (*hm.Model, error) {
	model, err := run.Checkpoint(which)
	if err != nil {
		return nil, err
	}
	return model.WithSeed(seed), nil
}

// splitFlag adds the flag that chooses a split.
func splitFlag(f *pflag.FlagSet, split *string, usage string) {
	choiceFlag(f, split, "split", usage, "test", "train", "validation")
}

// pick returns the split that the flag names.
func pick(set *dataset.Set, name string) dataset.Split {
	switch name {
	case "train":
		return set.Train()
	case "validation":
		return set.Validation()
	}
	return set.Test()
}

package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newEvalSubmit() *cobra.Command {
	var of estimate
	c := &cobra.Command{
		Use:   "submit DIR",
		Short: "Have a cluster evaluate a run, in parts",
		Long: `Write the job of an evaluation in parts, as a Slurm array or as a Kubernetes Indexed Job,
into the directory of --parts, and submit it where sbatch or kubectl is at hand. Its
tasks share the parts among themselves, so many each that a task takes about --length, by
the time that some samples take here. A task that is preempted, or has not come to its
end by then, is started again, and goes on.

The directories have to be ones that all nodes see; for Kubernetes they are the folders
of these names on the volume of --claim, which the containers see as /work, and --image
is an image with this program. Once the tasks have ended, eval with the same --parts
prints the evaluation.`,
		Example: `  helmholtz eval submit shared/mnist --samples 100000 --parts shared/mnist-log-p --slurm
  helmholtz eval shared/mnist --samples 100000 --parts shared/mnist-log-p`,
		Args: oneRun,
	}
	estimates := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	of.addTo(estimates)
	c.Flags().AddFlagSet(estimates)
	x := newSubmission(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := x.check(c); err != nil {
			return err
		}
		if of.parts == "" {
			return misuse(c, "give --parts DIR: the directory that the tasks share")
		}
		if isBoltzmann(args[0]) {
			return misuse(c, "%s is of a Boltzmann machine, whose rows take no time once log Z is known: helmholtz eval alone evaluates it", args[0])
		}
		seeds, err := hm.OpenSeeds(args[0])
		if err != nil {
			return err
		}
		if err := x.planEval(c.Context(), of, seeds); err != nil {
			return err
		}
		task := []string{"eval", x.path(args[0]), "--shard", "auto", "--parts", x.path(of.parts)}
		estimates.VisitAll(func(f *pflag.Flag) {
			if f.Changed && f.Name != "parts" {
				task = append(task, fmt.Sprintf("--%s=%s", f.Name, f.Value))
			}
		})
		return x.submit(c, of.parts, "once they have ended, helmholtz eval with the same --parts prints the evaluation", append(task, givenBackend(c)...)...)
	}
	return c
}

// planEval finds how many tasks there are to be, by a part of the samples of one row that
// takes a second, and what they take.
func (x *submission) planEval(ctx context.Context, of estimate, seeds *hm.Seeds) error {
	run := seeds.Runs[0]
	set, err := run.Dataset()
	if err != nil {
		return err
	}
	bytes, err := run.Experiment().Memory(set) // that training takes, which is more
	if err != nil {
		return err
	}
	x.Memory = bytes>>20 + 1 + programMemory
	model, err := modelOf(run, of.checkpoint, of.seed)
	if err != nil {
		return err
	}
	data := model.Subset(pick(set, of.split), of.rows)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for samples := min(1000, of.samples); ; samples = min(2*samples, of.samples) {
		e, err := model.Evaluate(ctx, data.Subset(1, of.seed), samples, nil)
		if err != nil {
			return err
		}
		if e.Seconds > 1 || samples == of.samples {
			parts := hm.EvaluationParts(data.Rows, of.samples)
			needs := time.Duration(e.Seconds * float64(of.samples) / float64(samples) * float64(data.Rows) * float64(time.Second))
			if part := needs / time.Duration(parts*x.Cores); part > x.Length-2*x.Notice {
				return fmt.Errorf("a part takes about %s of %d cores, and is lost where a task ends before: give --length %s or more, or more --cores", about(part), x.Cores, about(part+2*x.Notice+time.Minute))
			}
			x.divide(needs*time.Duration(len(seeds.Runs)), parts*len(seeds.Runs))
			return nil
		}
	}
}

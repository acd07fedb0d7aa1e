package command

import (
	"fmt"
	"runtime"
	"time"

	"github.com/helmholtz-go/helmholtz/runs"
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
		seeds, err := runs.OpenSeeds(args[0])
		if err != nil {
			return err
		}
		if err := x.planEval(c, of, seeds); err != nil {
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
func (x *submission) planEval(c *cobra.Command, of estimate, seeds *runs.Seeds) error {
	run := seeds.Runs[0]
	model, err := run.ModelAt(of.checkpoint)
	if err != nil {
		return err
	}
	how, err := runs.EvaluatorOf(run, model)
	if err != nil {
		return err
	}
	estimator, estimates := model.(runs.Estimator)
	if how.Parts == nil || !estimates {
		return misuse(c, "%s: %s is not evaluated in parts: helmholtz eval alone evaluates it", run.Dir(), runs.NounOf(run.Experiment()))
	}
	set, err := run.Dataset()
	if err != nil {
		return err
	}
	bytes, err := memoryOf(run.Experiment(), set) // that training takes, which is more
	if err != nil {
		return err
	}
	x.Memory = bytes>>20 + 1 + programMemory
	data := pick(set, of.split).Subset(of.rows, of.seed)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for samples := min(1000, of.samples); ; samples = min(2*samples, of.samples) {
		start := time.Now()
		if _, err := estimator.Estimate(c.Context(), data.Subset(1, of.seed), samples, of.seed, nil); err != nil {
			return err
		}
		if took := time.Since(start).Seconds(); took > 1 || samples == of.samples {
			parts := how.Parts(data.Rows, of.samples)
			needs := time.Duration(took * float64(of.samples) / float64(samples) * float64(data.Rows) * float64(time.Second))
			if part := needs / time.Duration(parts*x.Cores); part > x.Length-2*x.Notice {
				return fmt.Errorf("a part takes about %s of %d cores, and is lost where a task ends before: give --length %s or more, or more --cores", about(part), x.Cores, about(part+2*x.Notice+time.Minute))
			}
			x.divide(needs*time.Duration(len(seeds.Runs)), parts*len(seeds.Runs))
			return nil
		}
	}
}

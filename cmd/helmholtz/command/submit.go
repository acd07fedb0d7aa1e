package command

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"text/template"
	"time"
	"unicode"

	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Templates of a job for the schedulers.
var (
	//go:embed slurm.sh.tmpl
	slurmText string
	//go:embed kubernetes.yaml.tmpl
	kubernetesText string
)

type scheduler struct {
	file    string // name of the job's file in its directory
	job     *template.Template
	command []string // command that submits the file
}

var (
	slurm      = scheduler{"slurm.sh", newJob("slurm", slurmText), []string{"sbatch"}}
	kubernetes = scheduler{"kubernetes.yaml", newJob("kubernetes", kubernetesText), []string{"kubectl", "create", "-f"}}
)

func newJob(name, text string) *template.Template {
	return template.Must(template.New(name).Funcs(template.FuncMap{
		"word": shell.Word, "pattern": pattern,
	}).Parse(text))
}

// pattern quotes the path of a file for sbatch. sbatch replaces codes such as %a, the number of a
// task, in the name of the file but not in dir.
func pattern(dir, name string) string {
	return `"` + strings.NewReplacer("%", "%%", `\`, `\\`, `"`, `\"`).Replace(dir) + "/" + name + `"`
}

type submission struct {
	Name     string   // of the job
	Command  []string // command of a task, the program first
	Dir      string   // directory of the job and its logs
	Data     string   // HELMHOLTZ_DATA, or empty if unset
	Tasks    int
	Cores    int           // per task
	Memory   int64         // per task, in MiB
	Length   time.Duration // of a task
	Notice   time.Duration // how long before its end a task is told to stop
	Image    string        // of the containers, for Kubernetes
	Claim    string        // name of a persistent volume claim, for Kubernetes
	Variable string        // environment variable with the number of tasks, for Kubernetes

	slurm, kubernetes, onlyWrite bool
}

func (s submission) Last() int { return s.Tasks - 1 }

// Minutes returns a task's length in whole minutes, as Slurm expects it.
func (s submission) Minutes() int { return int(math.Ceil(s.Length.Minutes())) }

func (s submission) Seconds() int { return int(s.Notice.Seconds()) }

func newSubmission(c *cobra.Command) *submission {
	x := &submission{Variable: runs.ShardsVariable, Notice: time.Minute}
	backendFlag(c) // for the tasks
	f := c.Flags()
	f.BoolVar(&x.slurm, "slurm", false, "as a Slurm array")
	f.BoolVar(&x.kubernetes, "kubernetes", false, "as a Kubernetes Indexed Job")
	f.BoolVar(&x.onlyWrite, "only-write", false, "write the job, and do not submit it")
	f.DurationVar(&x.Length, "length", 4*time.Hour, "`duration` of a task, at least 5m")
	optionalFlag(f, &x.Tasks, "tasks", 0, 1, "`number` of tasks (default: so that each takes about --length)")
	numberFlag(f, &x.Cores, "cores", 2, 1, "`number` of cores per task")
	f.StringVar(&x.Image, "image", "", "`image` of the containers, for Kubernetes")
	f.StringVar(&x.Claim, "claim", "", "`name` of the persistent volume claim with the directories, for Kubernetes")
	return x
}

// check refuses contradictory flags, and directory names that a job cannot have.
func (x *submission) check(c *cobra.Command, dirs ...string) error {
	for _, dir := range dirs {
		if whole, err := filepath.Abs(dir); err != nil || strings.ContainsFunc(whole, unicode.IsControl) {
			return misuse(c, "%q has a control character, such as the end of a line, which would start a new line in the job: rename the directory", whole)
		}
	}
	if x.slurm == x.kubernetes {
		return misuse(c, "give either --slurm or --kubernetes, the system that the job is written for")
	}
	switch {
	case x.kubernetes && (x.Image == "" || x.Claim == ""):
		return misuse(c, "--kubernetes needs --image and --claim: name an image with this program, and the claim of the volume with the directories")
	case x.Length < 5*time.Minute:
		return misuse(c, "--length %v: give at least 5m", x.Length)
	}
	return refuseIdle(c, x.kubernetes, "--kubernetes", "image", "claim")
}

func newSweepSubmit() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit FILE|DIR",
		Short: "Write the job of a sweep for a cluster, and submit it",
		Args:  aSweep,
	}
	x := newSubmission(c)
	out := sweepDir(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := x.check(c, args[0], *out); err != nil {
			return err
		}
		s, dir, err := claimSweep(c, args[0], *out)
		if err != nil {
			return err
		}
		if err := x.plan(c, s, dir); err != nil {
			return err
		}
		return x.submit(c, dir, fmt.Sprintf("helmholtz sweep status %s shows its progress", shell.Argument(dir)),
			append([]string{"sweep", "run", x.path(dir), "--shard", "auto", "--workers", fmt.Sprint(x.Cores)}, givenBackend(c)...)...)
	}
	return c
}

func (x *submission) plan(c *cobra.Command, s *runs.Sweep, dir string) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a run uses one core
	_, takes, err := costs(s, dir)
	if err != nil {
		return err
	}
	needs, _, err := timeLeft(c.Context(), s, dir, newFraction(c.ErrOrStderr(), "measuring steps"))
	if err != nil {
		return err
	}
	states, err := statesOf(s, dir, runs.Shard{})
	if err != nil {
		return err
	}
	left := states[runs.Waiting] + states[runs.Running] + states[runs.Interrupted]
	if left == 0 {
		return fmt.Errorf("nothing is left to do in the sweep in %s: helmholtz sweep report %s shows its results", dir, shell.Argument(dir))
	}
	x.divide(needs, left)
	x.Memory = int64(x.Cores)*(takes>>20+1) + programMemory
	return nil
}

// programMemory is the memory, in MiB, that a task needs in addition to the memory for its work.
const programMemory = 256

// divide sets the number of tasks, unless the user has given it. The work consists of the given
// number of parts, which together need the given time on one core.
func (x *submission) divide(needs time.Duration, parts int) {
	if x.Tasks == 0 {
		fits := float64(x.Length-2*x.Notice) * float64(x.Cores)
		x.Tasks = min(parts, max(1, int(math.Ceil(float64(needs)/fits))))
	}
}

func (x *submission) path(dir string) string {
	if x.kubernetes {
		return filepath.ToSlash(dir)
	}
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}
	return dir
}

// submit writes the job of a command with the given arguments into a directory. If the scheduler is
// available, it submits the job and prints next.
func (x *submission) submit(c *cobra.Command, dir, next string, arguments ...string) error {
	to, program := kubernetes, "helmholtz"
	var err error
	if x.slurm {
		to = slurm
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	if x.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	x.Command = append([]string{program}, arguments...)
	x.Data = os.Getenv("HELMHOLTZ_DATA")
	name := regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(x.Dir)), "-")
	x.Name = strings.TrimRight(fmt.Sprintf("helmholtz-%.40s", strings.Trim(name, "-")), "-")
	var b bytes.Buffer
	if err := to.job.Execute(&b, x); err != nil {
		return err
	}
	path := filepath.Join(dir, to.file)
	if err := writeFile(path, b.Bytes()); err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %s with %s and %d MiB, about %s each\n", path, names.Count(x.Tasks, "task"), names.Count(x.Cores, "core"), x.Memory, about(x.Length))
	command := append(to.command, path)
	typed := strings.Join(to.command, " ") + " " + shell.Argument(path)
	if x.onlyWrite {
		fmt.Fprintf(w, "submit it with %s\n", typed)
		return nil
	}
	submit := exec.CommandContext(c.Context(), command[0], command[1:]...)
	submit.Stdout, submit.Stderr = w, c.ErrOrStderr()
	err = submit.Run()
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Fprintf(w, "%s is not available here; where it is, submit the job with %s\n", command[0], typed)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", typed, err)
	}
	fmt.Fprintln(w, next)
	return nil
}

func newEvalSubmit() *cobra.Command {
	var of estimate
	c := &cobra.Command{
		Use:   "submit DIR",
		Short: "Evaluate a run in parts on a cluster",
		Args:  oneRun,
	}
	estimates := pflag.NewFlagSet(c.Name(), pflag.ContinueOnError)
	of.addTo(estimates)
	rows := estimates.Lookup("rows")
	rows.Usage, _, _ = strings.Cut(rows.Usage, ";") // tasks cannot share a file
	c.Flags().AddFlagSet(estimates)
	x := newSubmission(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := x.check(c, args[0], of.parts); err != nil {
			return err
		}
		if of.parts == "" {
			return misuse(c, "give --parts DIR, the directory that the tasks share")
		}
		if err := refuseForeignParts(c, of.parts); err != nil {
			return err
		}
		if of.file != "" {
			return misuse(c, "--rows %s: tasks cannot share the rows of a file; use helmholtz eval", of.file)
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
			switch {
			case f.Changed && f.Name == "dataset": // a task runs in another folder
				task = append(task, "--dataset="+x.path(of.data))
			case f.Changed && f.Name != "parts":
				task = append(task, fmt.Sprintf("--%s=%s", f.Name, f.Value))
			}
		})
		return x.submit(c, of.parts, "once the tasks have ended, helmholtz eval with the same --parts prints the evaluation", append(task, givenBackend(c)...)...)
	}
	return c
}

// planEval sets the number of tasks and their memory. To estimate the time, it evaluates one row
// with more and more samples until that takes a second.
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
		return misuse(c, "%s: %s is not evaluated in parts: use helmholtz eval", run.Dir(), runs.NounOf(run.Experiment()))
	}
	set, err := run.DatasetAt(of.data)
	if err != nil {
		return err
	}
	bytes, err := memoryOf(run.Experiment(), set) // memory of training, which is more
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
				return fmt.Errorf("a part takes about %s on %s, and is lost if a task ends earlier: give --length %s or more, or more --cores", about(part), names.Count(x.Cores, "core"), about(part+2*x.Notice+time.Minute))
			}
			x.divide(needs*time.Duration(len(seeds.Runs)), parts*len(seeds.Runs))
			return nil
		}
	}
}

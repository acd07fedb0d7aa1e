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

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

// A job as the schedulers read it.
var (
	//go:embed slurm.sh.tmpl
	slurmText string
	//go:embed kubernetes.yaml.tmpl
	kubernetesText string
)

// scheduler is one that jobs are submitted to.
type scheduler struct {
	file    string // in the directory of the job
	job     *template.Template
	command []string // that submits the file
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

// pattern is a file in a directory as sbatch reads it, which has its own signs for tasks in
// the name of the file alone.
func pattern(dir, name string) string {
	return `"` + strings.NewReplacer("%", "%%", `\`, `\\`, `"`, `\"`).Replace(dir) + "/" + name + `"`
}

// submission is what a job is made of.
type submission struct {
	Name     string   // of the job
	Command  []string // that a task performs, the program first
	Dir      string   // in which the job and its logs lie
	Data     string   // HELMHOLTZ_DATA, empty where it is not set
	Tasks    int
	Cores    int           // of a task
	Memory   int64         // of a task, in MiB
	Length   time.Duration // of a task
	Notice   time.Duration // before the end of a task, at which it is told to stop
	Image    string        // of a container, for Kubernetes
	Claim    string        // the name of a persistent volume claim, for Kubernetes
	Variable string        // that says how many tasks there are, for Kubernetes

	slurm, kubernetes, onlyWrite bool
}

// Last is the number of the last task.
func (s submission) Last() int { return s.Tasks - 1 }

// Minutes are those of a task's length, as Slurm has them.
func (s submission) Minutes() int { return int(math.Ceil(s.Length.Minutes())) }

// Seconds are those of the notice.
func (s submission) Seconds() int { return int(s.Notice.Seconds()) }

// newSubmission adds the flags of a submission to a command.
func newSubmission(c *cobra.Command) *submission {
	x := &submission{Variable: runs.ShardsVariable, Notice: time.Minute}
	backendFlag(c) // of the tasks
	f := c.Flags()
	f.BoolVar(&x.slurm, "slurm", false, "as an array of Slurm")
	f.BoolVar(&x.kubernetes, "kubernetes", false, "as an Indexed Job of Kubernetes")
	f.BoolVar(&x.onlyWrite, "only-write", false, "write the job, and do not submit it")
	f.DurationVar(&x.Length, "length", 4*time.Hour, "how long a task takes, a `duration` of at least 5m")
	optionalFlag(f, &x.Tasks, "tasks", 0, 1, "`number` of tasks (default as many as take --length each)")
	numberFlag(f, &x.Cores, "cores", 2, 1, "`number` of cores of a task")
	f.StringVar(&x.Image, "image", "", "`image` of the containers, for Kubernetes")
	f.StringVar(&x.Claim, "claim", "", "`name` of the persistent volume claim with the directories, for Kubernetes")
	return x
}

// check refuses flags that do not go together.
func (x *submission) check(c *cobra.Command) error {
	if x.slurm == x.kubernetes {
		return misuse(c, "give one of --slurm and --kubernetes: they say what the job is written for")
	}
	switch {
	case x.kubernetes && (x.Image == "" || x.Claim == ""):
		return misuse(c, "--kubernetes needs --image and --claim: name an image with this program, and the claim of a volume that holds the directories")
	case x.Length < 5*time.Minute:
		return misuse(c, "--length %v: give at least 5m", x.Length)
	}
	return refuseIdle(c, x.kubernetes, "--kubernetes", "image", "claim")
}

func newSweepSubmit() *cobra.Command {
	c := &cobra.Command{
		Use:   "submit FILE|DIR",
		Short: "Write the job of a sweep for a cluster, and submit it",
		Long: `Write the job of a sweep into its directory, as a Slurm array or as a Kubernetes Indexed
Job, and submit it where sbatch or kubectl is at hand. Its tasks share the runs among
themselves, so many each that a task takes about --length, by the time that a few steps
take here. A task that has not come to its end by then, or is preempted, stops with
checkpoints, is started again, and goes on.

The directory of the sweep has to be one that all nodes see; for Kubernetes it is the
folder of that name on the volume of --claim, which the containers see as /work, and
--image is an image with this program.`,
		Example: `  helmholtz sweep submit rates.toml --slurm --out shared/rates
  helmholtz sweep submit rates.toml --slurm --length 1h --cores 4 --only-write
  helmholtz sweep submit rates.toml --kubernetes --image registry.example/helmholtz:1 --claim work`,
		Args: aSweep,
	}
	x := newSubmission(c)
	out := sweepDir(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := x.check(c); err != nil {
			return err
		}
		s, dir, err := claimSweep(c, args[0], *out)
		if err != nil {
			return err
		}
		if err := x.plan(c, s, dir); err != nil {
			return err
		}
		return x.submit(c, dir, fmt.Sprintf("helmholtz sweep status %s says how far it has come", shell.Argument(dir)),
			append([]string{"sweep", "run", x.path(dir), "--shard", "auto", "--workers", fmt.Sprint(x.Cores)}, givenBackend(c)...)...)
	}
	return c
}

// plan finds how many tasks there are to be, and what they take.
func (x *submission) plan(c *cobra.Command, s *runs.Sweep, dir string) (err error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a run has one core
	takes, err := largest(s, dir)
	if err != nil {
		return err
	}
	needs, _, err := timeLeft(c.Context(), s, dir, newFraction(c.ErrOrStderr(), "measuring steps"))
	if err != nil {
		return err
	}
	jobs, err := s.Jobs(dir)
	if err != nil {
		return err
	}
	left := 0
	for _, j := range jobs {
		if state, _, _ := j.State(); state != runs.Finished && state != runs.Failed {
			left++
		}
	}
	if left == 0 {
		return fmt.Errorf("nothing is left of the sweep in %s: helmholtz sweep report %s says what it reached", dir, shell.Argument(dir))
	}
	x.divide(needs, left)
	x.Memory = int64(x.Cores)*(takes>>20+1) + programMemory
	return nil
}

// programMemory is what a task takes beside its work, in MiB.
const programMemory = 256

// divide finds, where it is not given, the number of tasks for parts of work that take one
// core so long.
func (x *submission) divide(needs time.Duration, parts int) {
	if x.Tasks == 0 {
		fits := float64(x.Length-2*x.Notice) * float64(x.Cores)
		x.Tasks = min(parts, max(1, int(math.Ceil(float64(needs)/fits))))
	}
}

// path is that of a directory as tasks see it.
func (x *submission) path(dir string) string {
	if x.kubernetes {
		return filepath.ToSlash(dir)
	}
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}
	return dir
}

// jobName is a name in letters that all schedulers have.
func jobName(name string) string {
	name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "-"), "-")
	return strings.TrimRight(fmt.Sprintf("helmholtz-%.40s", name), "-")
}

// submit writes the job of a command, whose arguments are given, into a directory, and
// hands it to the scheduler where that is at hand. next is what to do then.
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
	x.Name = jobName(filepath.Base(x.Dir))
	var b bytes.Buffer
	if err := to.job.Execute(&b, x); err != nil {
		return err
	}
	if err := file.MkdirAll(dir); err != nil {
		return err
	}
	path := filepath.Join(dir, to.file)
	if err := file.WriteAside(path, b.Bytes()); err != nil {
		return err
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s: %d tasks of %d cores and %d MiB, of about %s each\n", path, x.Tasks, x.Cores, x.Memory, about(x.Length))
	command := append(to.command, path)
	typed := strings.Join(to.command, " ") + " " + shell.Argument(path)
	if x.onlyWrite {
		fmt.Fprintf(w, "%s submits it\n", typed)
		return nil
	}
	submit := exec.CommandContext(c.Context(), command[0], command[1:]...)
	submit.Stdout, submit.Stderr = w, c.ErrOrStderr()
	err = submit.Run()
	if errors.Is(err, exec.ErrNotFound) {
		fmt.Fprintf(w, "%s is not here; where it is, %s submits it\n", command[0], typed)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", typed, err)
	}
	fmt.Fprintln(w, next)
	return nil
}

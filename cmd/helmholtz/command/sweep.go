package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"gonum.org/v1/gonum/stat"
)

func newSweep() *cobra.Command {
	return newGroup(&cobra.Command{
		Use:   "sweep",
		Short: "Train an experiment with many settings, here or on a cluster",
	}, computing(newSweepPlan()), computing(newSweepRun()), newSweepStatus(), newSweepReport())
}

// aSweep requires one argument, the file or the directory of a sweep.
var aSweep = between(1, 1, "name the file of one sweep, or its directory")

func sweepDir(c *cobra.Command) *string {
	return c.Flags().String("out", "", "`DIR` of the sweep (default: runs/NAME of the file)")
}

// readSweep reads a sweep from its file or from its directory. The directory of a file's sweep is
// out or, by default, named after the file.
func readSweep(c *cobra.Command, path, out string) (s *runs.Sweep, dir string, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if out != "" {
			return nil, "", misuse(c, "%s is the directory of a sweep: omit --out", path)
		}
		s, err := runs.OpenSweep(path)
		return s, path, err
	}
	if s, err = runs.ReadSweep(path); err != nil {
		return nil, "", misuse(c, "%w", err)
	}
	return s, cmp.Or(out, filepath.Join("runs", nameOf(path))), nil
}

func claimSweep(c *cobra.Command, path, out string) (s *runs.Sweep, dir string, err error) {
	if s, dir, err = readSweep(c, path, out); err != nil {
		return nil, "", err
	}
	if err := refuseFile(c, dir); err != nil {
		return nil, "", err
	}
	if err := s.Check(); err != nil {
		return nil, "", misuse(c, "%w", runs.ExplainMissing(path, err))
	}
	return s, dir, s.Claim(dir)
}

func reportOn(c *cobra.Command, path string) (runs.SweepReport, error) {
	s, dir, err := readSweep(c, path, "")
	if err != nil {
		return runs.SweepReport{}, err
	}
	return s.Report(dir)
}

// eachSetting calls each for every setting of a sweep, with its data and the jobs of its seeds.
func eachSetting(s *runs.Sweep, dir string, each func(set *dataset.Set, seeds []runs.Job) error) error {
	jobs, err := s.Jobs(dir)
	if err != nil {
		return err
	}
	settings := len(jobs) / s.Seeds
	var sets runs.Sets
	for i, first := range jobs[:settings] {
		set, err := sets.Open(first.Experiment, first.Dir)
		if err != nil {
			return err
		}
		var seeds []runs.Job
		for n := i; n < len(jobs); n += settings {
			seeds = append(seeds, jobs[n])
		}
		if err := each(set, seeds); err != nil {
			return fmt.Errorf("%s: %w", first.Setting, err)
		}
	}
	return nil
}

// workers is how many runs of a sweep should train in parallel, in one program if all train on a GPU, or else in
// several programs.
type workers struct {
	n     int
	onGPU bool
}

// costs returns the smallest of the numbers of workers for the settings of a sweep, and the memory of the largest run, in
// bytes. A run whose family does not predict its memory counts as 0.
func costs(s *runs.Sweep, dir string) (w workers, bytes int64, err error) {
	w = workers{math.MaxInt, true}
	err = eachSetting(s, dir, func(set *dataset.Set, seeds []runs.Job) error {
		takes, err := memoryOf(seeds[0].Experiment, set)
		if err != nil {
			return err
		}
		n, onGPU, err := runs.Workers(seeds[0].Experiment, set)
		w, bytes = workers{min(w.n, n), w.onGPU && onGPU}, max(bytes, takes)
		return err
	})
	return w, bytes, err
}

func memoryOf(e runs.Experiment, set *dataset.Set) (int64, error) {
	if e, says := e.(runs.Planner); says {
		return e.Memory(set)
	}
	return 0, nil
}

// timeLeft measures steps of each setting. It returns the time that one worker needs to finish all
// runs, and the time for the longest run from its first to its last epoch.
func timeLeft(ctx context.Context, s *runs.Sweep, dir string, progress func(float64)) (left, longest time.Duration, err error) {
	const all, most = 20 * time.Second, time.Second // time for measuring, in total and per setting
	settings, err := s.Settings()
	if err != nil {
		return 0, 0, err
	}
	measured := 0
	err = eachSetting(s, dir, func(set *dataset.Set, seeds []runs.Job) error {
		e := seeds[0].Experiment
		h := e.Header()
		perEpoch := h.StepsPerEpoch(set.Train().Rows)
		warm := min(1, perEpoch-1) // the first step may compute what many later steps use, such as a Fisher matrix
		took, err := timed(ctx, e, set, warm, perEpoch-warm, min(most, all/time.Duration(len(settings))), nil)
		if err != nil {
			return err
		}
		epoch := time.Duration(stat.Mean(took, nil) * float64(perEpoch) * float64(time.Second))
		longest = max(longest, epoch*time.Duration(h.Epochs))
		for _, j := range seeds {
			state, run, _ := j.State()
			if state == runs.Finished || state == runs.Failed {
				continue
			}
			done := 0
			if run != nil {
				done = run.Epochs()
			}
			left += epoch * time.Duration(h.Epochs-done)
		}
		measured++
		if progress != nil {
			progress(float64(measured) / float64(len(settings)))
		}
		return nil
	})
	return left, longest, err
}

func newSweepPlan() *cobra.Command {
	c := &cobra.Command{
		Use:   "plan FILE",
		Short: "Show the runs of a sweep, and the time and memory they take",
		Args:  aSweep,
	}
	out := sweepDir(c)
	tables := newTableFlags(c, "settings", "text")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := tables.check(false); err != nil {
			return err
		}
		s, dir, err := readSweep(c, args[0], *out)
		if err != nil {
			return err
		}
		if err := errors.Join(s.Distinct(), runs.ExplainMissing(args[0], s.Check())); err != nil {
			return misuse(c, "%w", err)
		}
		report, err := s.Report(dir)
		if err != nil {
			return err
		}
		if err := tables.give(report.Table()); err != nil || tables.chosen() {
			return err
		}
		usual, bytes, err := costs(s, dir)
		if err != nil {
			return err
		}
		faster := time.Duration(usual.n)
		if usual.onGPU {
			faster = 1 // one run uses a good part of the GPU
		}
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // one worker's share, with one worker per core
		left, longest, err := timeLeft(c.Context(), s, dir, newFraction(c.ErrOrStderr(), "measuring steps"))
		if err != nil {
			return err
		}
		memory := "not known"
		if bytes > 0 {
			memory = fmt.Sprintf("about %d MB", bytes>>20+1)
		}
		fmt.Fprintf(c.OutOrStdout(), "\nmemory of the largest run: %s\ntime left: about %s with one worker on one core, %s with the %s that run would use here; the longest run: %s\n",
			memory, about(left), about(max(left/faster, min(left, longest))), names.Count(usual.n, "worker"), about(longest))
		return nil
	}
	return c
}

func about(d time.Duration) string {
	if d < time.Minute {
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}

// errKept is part of the error of work that was ended and can be resumed.
var errKept = errors.New("the work so far is kept: repeat the command to resume")

// errPreempted is the error of work that a scheduler preempted.
var errPreempted = fmt.Errorf("ended by the system; %w", errKept)

// resumable returns errPreempted for the error of preempted work, and adds errKept to the error of interrupted work.
func resumable(err error, preempted bool) error {
	switch {
	case err != nil && preempted:
		return errPreempted
	case errors.Is(err, context.Canceled):
		return errors.Join(err, errKept)
	}
	return err
}

func newSweepRun() *cobra.Command {
	var shard string
	var retry bool
	c := &cobra.Command{
		Use:   "run FILE|DIR",
		Short: "Train the unfinished runs of a sweep",
		Args:  aSweep,
	}
	out := sweepDir(c)
	c.Flags().StringVar(&shard, "shard", "", "do only a share of the runs: `INDEX/COUNT`, such as 0/4, or auto")
	several := newWorkerFlags(c.Flags())
	c.Flags().BoolVar(&retry, "retry", false, "train failed runs again")
	c.RunE = func(c *cobra.Command, args []string) error {
		share, err := runs.ParseShard(shard, os.Getenv)
		if err != nil {
			return misuse(c, "%w", err)
		}
		s, dir, err := claimSweep(c, args[0], *out)
		if err != nil {
			return err
		}
		if retry {
			if err := s.Retry(dir, share); err != nil {
				return err
			}
		}
		usual := func() (workers, error) {
			states, err := statesOf(s, dir, share)
			if err != nil {
				return workers{}, err
			}
			of, _, err := costs(s, dir)
			of.n = max(1, min(states[runs.Waiting]+states[runs.Interrupted], of.n))
			return of, err
		}
		w := c.ErrOrStderr()
		train := func(ctx context.Context) error {
			whole := wholeSweep{Recorder: runs.Quiet, w: w, states: func() (map[runs.State]int, error) { return statesOf(s, dir, share) }, begun: time.Now()}
			_, err := s.Train(ctx, dir, share, func(j runs.Job) []runs.Recorder { // one run after the other
				return []runs.Recorder{&whole, runs.Printer(&prefixed{w: w, prefix: j.String() + ": "})}
			})
			return err
		}
		command := []string{"sweep", "run", dir}
		if share.Count > 0 {
			command = append(command, "--shard", share.String())
		}
		if err := several.run(c, usual, command, train, "helmholtz sweep status "+shell.Argument(dir)+" shows which"); err != nil || several.worker {
			return err
		}
		return sayWhatIsLeft(c, s, dir, share)
	}
	return c
}

// workerFlags are the flags of a command that trains runs, in several programs if there are enough of them.
type workerFlags struct {
	n      int
	worker bool // whether another program started this one, and prints the result
}

func newWorkerFlags(f *pflag.FlagSet) *workerFlags {
	w := &workerFlags{}
	optionalFlag(f, &w.n, "workers", 0, 1, "train `N` runs in parallel (default: one per core, as far as memory allows; 4 on a GPU)")
	f.BoolVar(&w.worker, workerFlag, false, "leave the result to the program that started this one")
	_ = f.MarkHidden(workerFlag) // the flag exists
	return w
}

// run calls train, with a context that a scheduler's signal cancels, or runs command in several programs, which do.
func (w *workerFlags) run(c *cobra.Command, usual func() (workers, error), command []string, train func(context.Context) error, remedy string) (err error) {
	ctx, ended := preemptible(c.Context())
	if w.worker {
		ctx = whileOpen(ctx, c.InOrStdin())
	}
	of := workers{n: w.n}
	if w.n != 1 {
		of, err = usual()
		of.n = cmp.Or(w.n, of.n)
	}
	switch {
	case err != nil:
	case of.n > 1:
		err = of.run(ctx, c, append(command, givenBackend(c)...), train, remedy)
	default:
		err = train(ctx)
	}
	preempted := ended()
	if w.worker && !preempted { // the program that started this one says how to resume
		return err
	}
	return resumable(err, preempted)
}

// whileOpen returns a context that is cancelled when r ends. If r is a pipe from a program, it ends
// when that program ends for any reason.
func whileOpen(ctx context.Context, r io.Reader) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		_, _ = io.Copy(io.Discard, r) // an error also ends it
		cancel()
		end()
	}()
	return ctx
}

// wholeSweep reports the progress of this program's share of the sweep when a run begins.
type wholeSweep struct {
	runs.Recorder
	w      io.Writer
	states func() (map[runs.State]int, error)
	begun  time.Time
	before int       // finished runs when this program's first run began
	next   time.Time // when to count again, since counting takes time
}

func (w *wholeSweep) Begin(runs.Plan) {
	now := time.Now()
	if now.Before(w.next) {
		return
	}
	states, err := w.states()
	if err != nil { // training reports it as well
		return
	}
	done, all := states[runs.Finished], 0
	for _, n := range states {
		all += n
	}
	if w.next.IsZero() {
		w.before = done
	}
	text := fmt.Sprintf("%d of %s finished", done, names.Count(all, "run"))
	if n := states[runs.Failed]; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if more := done - w.before; more > 0 {
		left := all - done - states[runs.Failed]
		text += fmt.Sprintf(", about %s left", about(time.Since(w.begun)/time.Duration(more)*time.Duration(left)))
	}
	fmt.Fprintln(w.w, text)
	w.next = time.Now().Add(20 * time.Since(now))
}

// workerFlag marks a program that another program started to train a share of the runs. When the
// other program ends, standard input ends, and the worker saves a checkpoint and exits.
const workerFlag = "one-of-several"

// sayWhatIsLeft reports the states of the runs in a share of a sweep after this program has
// finished its part.
func sayWhatIsLeft(c *cobra.Command, s *runs.Sweep, dir string, share runs.Shard) error {
	states, err := statesOf(s, dir, share)
	if err != nil {
		return err
	}
	text := names.Count(states[runs.Finished], "run") + " finished"
	for _, left := range []struct {
		state runs.State
		is    string
	}{{runs.Running, "trained by other programs"}, {runs.Interrupted, "interrupted"}, {runs.Waiting, "waiting"}, {runs.Failed, "failed (sweep status shows why, --retry trains again)"}} {
		if n := states[left.state]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, left.is)
		}
	}
	fmt.Fprintf(c.ErrOrStderr(), "%s: helmholtz sweep report %s\n", text, shell.Argument(dir))
	return nil
}

// preemptible returns a context that is also cancelled by a scheduler's signal. After the work, the
// returned function reports whether a signal cancelled the context.
func preemptible(ctx context.Context) (context.Context, func() bool) {
	ctx, cancel := context.WithCancel(ctx)
	signals, asked := make(chan os.Signal, 1), make(chan bool, 1)
	signal.Notify(signals, preemptions...)
	go func() {
		select {
		case <-signals:
			cancel()
			end()
			asked <- true
		case <-ctx.Done(): // perhaps by the same signal, which also arrives here
			select {
			case <-signals:
				asked <- true
			case <-time.After(100 * time.Millisecond):
				asked <- false
			}
		}
	}()
	return ctx, func() bool {
		cancel()
		return <-asked
	}
}

func statesOf(s *runs.Sweep, dir string, share runs.Shard) (map[runs.State]int, error) {
	jobs, err := s.Jobs(dir)
	if err != nil {
		return nil, err
	}
	states := map[runs.State]int{}
	for i, j := range jobs {
		if share.Has(i) {
			state, _, _ := j.State()
			states[state]++
		}
	}
	return states, nil
}

// run runs a command in several programs in parallel, each with its part of the cores. On a GPU, which computes for
// one program at a time, it calls train in parallel instead. If one fails, the error ends with the remedy.
func (w workers) run(ctx context.Context, c *cobra.Command, command []string, train func(context.Context) error, remedy string) error {
	failures := make([]error, w.n)
	var all sync.WaitGroup
	if w.onGPU {
		for i := range failures {
			all.Go(func() { failures[i] = train(ctx) })
		}
		all.Wait()
		err := errors.Join(failures...)
		if err != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w\nnot all runs finished: %s", err, remedy)
		}
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	args := append(command, "--workers", "1", "--"+workerFlag)
	cores := max(1, runtime.GOMAXPROCS(0)/w.n)
	for i := range failures {
		worker := exec.CommandContext(ctx, program, args...)
		worker.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", cores))
		worker.Stderr = c.ErrOrStderr()  // which keeps writes apart
		input, err := worker.StdinPipe() // its end stops a worker, also if this program is killed
		if err != nil {
			return err
		}
		worker.Cancel = input.Close // after the interrupt of a terminal, a second one would end the worker at once
		all.Go(func() { failures[i] = worker.Run() })
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return err
	}
	if errors.Join(failures...) != nil {
		return fmt.Errorf("not all runs finished: %s", remedy)
	}
	return nil
}

// prefixed writes whole lines with a prefix.
type prefixed struct {
	w      io.Writer
	prefix string
	begun  []byte // incomplete line
}

func (p *prefixed) Write(b []byte) (int, error) {
	p.begun = append(p.begun, b...)
	for {
		line, rest, whole := strings.Cut(string(p.begun), "\n")
		if !whole {
			return len(b), nil
		}
		p.begun = []byte(rest)
		if _, err := io.WriteString(p.w, p.prefix+line+"\n"); err != nil {
			return 0, err
		}
	}
}

func newSweepStatus() *cobra.Command {
	c := &cobra.Command{
		Use:   "status DIR",
		Short: "Show the progress of a sweep",
		Args:  aSweep,
	}
	c.RunE = func(c *cobra.Command, args []string) error {
		report, err := reportOn(c, args[0])
		if err != nil {
			return err
		}
		w := c.OutOrStdout()
		states := report.States()
		for _, state := range runs.States {
			if states[state] > 0 {
				fmt.Fprintf(w, "%-12s %d\n", state, states[state])
			}
		}
		nameFailures(w, report)
		if best := report.ByBest().Settings[0]; !math.IsNaN(best.Value().Mean) {
			fmt.Fprintf(w, "best so far  %s: %s %s\n", best.Name, report.Objective.Name, best.Value().Text(3))
		}
		return nil
	}
	return c
}

func nameFailures(w io.Writer, r runs.SweepReport) {
	for _, setting := range r.Settings {
		for _, failure := range setting.Failures {
			fmt.Fprintf(w, "failed: %v\n", failure)
		}
	}
}

func newSweepReport() *cobra.Command {
	var figures, format string
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Write the results of a sweep's settings, best first",
		Args:  aSweep,
	}
	tables := newTableFlags(c, "settings", "text")
	c.Flags().StringVar(&figures, "figures", "", "`DIR` to draw figures into")
	figureFormatFlag(c.Flags(), &format)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := firstOf(refuseIdle(c, figures != "", "--figures", "figure-format"), tables.check(false)); err != nil {
			return err
		}
		report, err := reportOn(c, args[0])
		if err != nil {
			return err
		}
		nameFailures(c.ErrOrStderr(), report)
		report = report.ByBest()
		if err := tables.give(report.Table()); err != nil || figures == "" {
			return err
		}
		drawn := false
		for name, figure := range plotting.Sweep(report) {
			drawn = true
			path := filepath.Join(figures, name+"."+format)
			if err := figure.Save(path); err != nil {
				return err
			}
			fmt.Fprintln(c.ErrOrStderr(), path)
		}
		if !drawn {
			fmt.Fprintln(c.ErrOrStderr(), "no figures yet: they need a numeric setting that varies, and a setting whose seeds have all finished")
		}
		return nil
	}
	return c
}

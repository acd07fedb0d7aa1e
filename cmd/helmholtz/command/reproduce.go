package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
	"github.com/helmholtz-go/helmholtz/notebooks/thesis"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
)

type reproduceFlags struct {
	scale        reproduce.Scale
	dir, results string
}

func newReproduceFlags(c *cobra.Command) *reproduceFlags {
	x := &reproduceFlags{scale: reproduce.Laptop}
	textFlag(c.Flags(), &x.scale, "scale", "how much computing: `which` of smoke (seconds each), laptop (shorter training), full (as published)")
	c.Flags().StringVar(&x.dir, "dir", "reproductions", "`DIR` of the runs, shared by all scales except smoke")
	c.Flags().StringVar(&x.results, "results", "", "`DIR` of the findings and figures (default: results in --dir)")
	return x
}

func (x *reproduceFlags) resultsDir() string {
	return cmp.Or(x.results, filepath.Join(x.dir, "results"))
}

func newReproduce() *cobra.Command {
	var shard string
	c := &cobra.Command{
		Use:   "reproduce ID...",
		Short: "Reproduce published figures and tables",
		Args:  some("name the results to make, such as varady/tableD.1, or all: helmholtz reproduce list shows the IDs"),
	}
	x := newReproduceFlags(c)
	c.Flags().StringVar(&shard, "shard", "", "train only a share of the runs: `INDEX/COUNT`, such as 0/4, or auto")
	noWaitFlag(c.Flags())
	c.RunE = func(c *cobra.Command, patterns []string) error {
		share, err := runs.ParseShard(shard, os.Getenv)
		if err != nil {
			return misuse(c, "%w", err)
		}
		chosen, err := selected(c, patterns)
		if err != nil {
			return err
		}
		return x.reproduce(c, chosen, share)
	}
	c.AddCommand(newReproduceList(), newReproduceReport(), newReproduceRejudge())
	return c
}

func selected(c *cobra.Command, patterns []string) (reproduce.Catalog, error) {
	all, err := thesis.Catalog()
	if err != nil {
		return nil, err
	}
	chosen, err := all.Select(patterns...)
	if err != nil {
		return nil, misuse(c, "%w", argumentError(c, patterns, err))
	}
	return chosen, nil
}

// reproduce trains the missing runs of a share, and makes all results that can be made. On a GPU it first
// trains several runs at once.
func (x *reproduceFlags) reproduce(c *cobra.Command, chosen reproduce.Catalog, share runs.Shard) error {
	var jobs []reproduce.Job
	for i, job := range reproduce.Jobs(chosen.Trainings(x.scale), x.dir, x.scale) {
		if share.Has(i) {
			jobs = append(jobs, job)
		}
	}
	backend, _, err := hm.Device()
	if err != nil {
		return err
	}
	all, err := newTrainings(jobs, c.ErrOrStderr())
	if err != nil {
		return err
	}
	var sets runs.Sets
	if backend != "cpu" {
		together := slices.DeleteFunc(all.todo, func(job reproduce.Job) bool {
			set, err := sets.Open(job.Experiment, job.Dir)
			if err != nil {
				return true // it trains below, where errors are reported
			}
			n, onGPU, err := runs.Workers(job.Experiment, set)
			return !onGPU || n < hm.MostOnGPU || err != nil
		})
		if all, err = newTrainings(together, all.w); err == nil {
			err = all.train(c, hm.MostOnGPU, true, &sets)
		}
		if err == nil {
			all, err = newTrainings(jobs, all.w)
		}
	}
	if err == nil {
		err = all.train(c, 1, share.Count > 1, &sets)
	}
	for i := 0; i < len(chosen) && err == nil; i++ {
		err = x.produce(c, chosen[i], share, &sets)
	}
	return err
}

// trainings are runs that are trained one after another or together.
type trainings struct {
	todo  []reproduce.Job
	w     io.Writer
	start time.Time

	mutex sync.Mutex
	left  []int // epochs not yet done, of each training
	done  int   // epochs done by this program
}

// newTrainings returns the trainings of those jobs whose runs are not finished. It refuses runs that their jobs
// cannot use.
func newTrainings(jobs []reproduce.Job, w io.Writer) (*trainings, error) {
	all := &trainings{w: w, start: time.Now()}
	var unusable error
	for _, job := range jobs {
		done, enough, err := job.Done()
		unusable = errors.Join(unusable, err)
		if !enough {
			all.todo, all.left = append(all.todo, job), append(all.left, job.Experiment.Header().Epochs-done)
		}
	}
	return all, unusable
}

// train trains the jobs, a number of them at once, until one fails. If others train as well, it skips runs that start from
// an unfinished one.
func (all *trainings) train(c *cobra.Command, atOnce int, others bool, sets *runs.Sets) error {
	group, ctx := errgroup.WithContext(c.Context())
	group.SetLimit(atOnce)
	for i, job := range all.todo {
		w := all.w
		if atOnce > 1 {
			w = &prefixed{w: w, prefix: fmt.Sprintf("%s, seed %d: ", job.Name, job.Seed)}
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			fmt.Fprintf(w, "training %d of %d: %s, seed %d\n", i+1, len(all.todo), job.Name, job.Seed)
			if err := awaitFree(ctx, c, job.Dir); err != nil {
				return err
			}
			err := job.Train(ctx, sets, &jobProgress{runs.Printer(w), all, i})
			all.count(i, false)
			switch {
			case errors.Is(err, reproduce.ErrWaits) && others:
				fmt.Fprintln(w, err)
			case errors.Is(err, runs.ErrDiverged):
				fmt.Fprintf(w, "%s: %v\n", job.Dir, err)
			case err != nil:
				return fmt.Errorf("%s: %w", job.Dir, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// count counts an epoch of training i or, if goesOn is false, its end. While several trainings are left, it reports
// the remaining time of all: the number of epochs left times the mean time per epoch so far.
func (all *trainings) count(i int, goesOn bool) {
	all.mutex.Lock()
	defer all.mutex.Unlock()
	if !goesOn {
		all.left[i] = 0
		return
	}
	all.done++
	all.left[i] = max(all.left[i]-1, 0)
	epochs, unfinished := 0, 0
	for _, n := range all.left {
		epochs, unfinished = epochs+n, unfinished+min(n, 1)
	}
	if unfinished > 1 {
		each := time.Since(all.start) / time.Duration(all.done)
		fmt.Fprintf(all.w, "%s with %s left, about %s\n", names.Count(unfinished, "training"), names.Count(epochs, "epoch"), (each * time.Duration(epochs)).Round(time.Second))
	}
}

// produce makes a result, unless runs are missing.
func (x *reproduceFlags) produce(c *cobra.Command, e reproduce.Entry, share runs.Shard, sets *runs.Sets) error {
	w := c.OutOrStdout()
	if e.Make == nil {
		text := e.ID + ": cannot be made yet"
		if e.Blocked != "" {
			text += ": " + e.Blocked
		}
		_, err := fmt.Fprintln(w, text)
		return err
	}
	missing, err := newTrainings(reproduce.Jobs(reproduce.Catalog{e}.Trainings(x.scale), x.dir, x.scale), w)
	if err != nil {
		return err
	}
	if n := len(missing.todo); n > 0 {
		fmt.Fprintf(w, "%s: waits for %d trainings\n", e.ID, n)
		return nil
	}
	if share.Count > 1 {
		release, err := e.Claim(x.resultsDir(), x.scale)
		if errors.Is(err, reproduce.ErrMade) {
			fmt.Fprintf(w, "%s: %v\n", e.ID, err)
			return nil
		}
		if err != nil {
			return err
		}
		defer release()
	}
	work := &reproduce.Work{
		Scale:    x.scale,
		Say:      func(format string, values ...any) { fmt.Fprintf(c.ErrOrStderr(), format+"\n", values...) },
		Progress: newFraction(c.ErrOrStderr(), e.ID),
		Sets:     sets,
	}
	made, err := e.Produce(c.Context(), work, x.dir, x.resultsDir())
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s: %s\n", e.ID, e.Title)
	for _, table := range e.Tables(made) {
		if err := table.WriteText(w); err != nil {
			return err
		}
	}
	for _, f := range made.Figures {
		fmt.Fprintf(w, "%s\n", filepath.Join(x.resultsDir(), "figures", f.File))
	}
	fmt.Fprintln(w)
	return nil
}

func newReproduceList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list [ID...]",
		Short: "List the published results and their progress",
		Args:  cobra.ArbitraryArgs,
	}
	x := newReproduceFlags(c)
	tables := newTableFlags(c, "results", "text")
	c.RunE = func(c *cobra.Command, patterns []string) error {
		if err := tables.check(false); err != nil {
			return err
		}
		if len(patterns) == 0 {
			patterns = []string{"all"}
		}
		chosen, err := selected(c, patterns)
		if err != nil {
			return err
		}
		made, err := chosen.ReadMade(x.resultsDir(), reproduce.Full, reproduce.Laptop, reproduce.Smoke)
		if err != nil {
			return err
		}
		return tables.give(chosen.List(made, x.dir, x.scale))
	}
	return c
}

func newReproduceReport() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "report",
		Short: "Write pages about the results that have been made",
		Args:  noArgs,
	}
	x := newReproduceFlags(c)
	c.Flags().Lookup("scale").Hidden = true
	c.Flags().StringVar(&out, "out", "", "`file` to write the first page into, instead of printing it")
	c.RunE = func(c *cobra.Command, _ []string) error {
		all, err := thesis.Catalog()
		conclusions, failure := thesis.Conclusions()
		if err := firstOf(err, failure); err != nil {
			return err
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		if info, err := os.Stat(x.resultsDir()); err != nil || !info.IsDir() {
			return misuse(c, "%s is not a folder: name the folder of the findings with --results, or the folder of the runs with --dir", x.resultsDir())
		}
		made, err := all.ReadMade(x.resultsDir(), reproduce.Full, reproduce.Laptop)
		if err != nil {
			return err
		}
		folder, err := fromPage(out, x.resultsDir())
		if err != nil {
			return err
		}
		pages, err := all.Report(conclusions, made, filepath.ToSlash(folder))
		if err != nil {
			return err
		}
		if out == "" {
			_, err := c.OutOrStdout().Write(pages.First)
			return err
		}
		for name, text := range pages.Beside {
			if err := writeFile(filepath.Join(x.resultsDir(), name), text); err != nil {
				return err
			}
		}
		return writeFile(out, pages.First)
	}
	return c
}

func newReproduceRejudge() *cobra.Command {
	var reason string
	c := &cobra.Command{
		Use:   "rejudge ID...",
		Short: "Judge the stored findings again",
		Args:  some("name the results to judge again, such as varady/tableC.1, or all: helmholtz reproduce list shows the IDs"),
	}
	x := newReproduceFlags(c)
	c.Flags().Lookup("scale").Hidden = true
	c.Flags().StringVar(&reason, "reason", "", "why the findings are judged again, as a `TEXT` for their pages (required)")
	c.RunE = func(c *cobra.Command, patterns []string) error {
		if reason == "" {
			return misuse(c, "say why the findings are judged again: --reason TEXT")
		}
		chosen, err := selected(c, patterns)
		if err != nil {
			return err
		}
		judged, err := chosen.Rejudge(x.resultsDir(), reason)
		for _, name := range slices.Sorted(maps.Keys(judged)) {
			changed := judged[name].Changed
			fmt.Fprintf(c.OutOrStdout(), "%s: %s\n", name, names.Count(len(changed), "change"))
			for _, change := range changed {
				fmt.Fprintf(c.OutOrStdout(), "    %s\n", change)
			}
		}
		if err == nil && len(judged) == 0 {
			err = fmt.Errorf("%s has no findings on %s: name their folder with --results", x.resultsDir(), strings.Join(patterns, ", "))
		}
		return err
	}
	return c
}

// fromPage returns the path of a directory relative to a page, for the page's links.
func fromPage(page, dir string) (string, error) {
	from, err := filepath.Abs(filepath.Dir(page))
	to, failure := filepath.Abs(dir)
	if err := firstOf(err, failure); err != nil {
		return "", err
	}
	return filepath.Rel(from, to)
}

// jobProgress reports the progress of training i.
type jobProgress struct {
	runs.Recorder
	all *trainings
	i   int
}

// Begin reports the number of epochs that the chosen results need from the run. The experiment of the run may plan
// more epochs, for other results.
func (p *jobProgress) Begin(plan runs.Plan) {
	plan.Epochs = min(plan.Epochs, p.all.todo[p.i].Experiment.Header().Epochs)
	p.Recorder.Begin(plan)
}

func (p *jobProgress) Epoch(e runs.Epoch) {
	p.Recorder.Epoch(e)
	p.all.count(p.i, true)
}

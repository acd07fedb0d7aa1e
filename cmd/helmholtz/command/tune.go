package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newTune() *cobra.Command {
	var budget int
	var out string
	var retry bool
	c := &cobra.Command{
		Use:   "tune FILE",
		Short: "Search for better settings within a budget of epochs",
		Args:  between(1, 1, "name the file of one experiment or sweep"),
	}
	c.Flags().IntVar(&budget, "epochs", 0, "`budget`: epochs of all runs together")
	c.Flags().StringVar(&out, "out", "", "`DIR` of the runs (default: runs/NAME-tuned, with the NAME of the file)")
	several := newWorkerFlags(c.Flags())
	c.Flags().BoolVar(&retry, "retry", false, "train failed runs again")
	tables := newTableFlags(c, "candidates", "text")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := tables.check(false); err != nil {
			return err
		}
		if out == "" {
			out = filepath.Join("runs", nameOf(args[0])+"-tuned")
		}
		if err := refuseFile(c, out); err != nil {
			return err
		}
		tuning, err := runs.ReadTuning(args[0], budget)
		if err == nil {
			err = runs.ExplainMissing(args[0], tuning.Check())
		}
		if err != nil {
			return misuse(c, "%w", err)
		}
		if retry {
			if err := tuning.Retry(out); err != nil {
				return err
			}
		}
		stop := func() {}
		if !several.worker {
			stop = watchTuning(c.ErrOrStderr(), tuning, out)
		}
		train := func(ctx context.Context) error {
			_, err := tuning.Train(ctx, out, func(runs.Job) []runs.Recorder { return []runs.Recorder{runs.Quiet} })
			return err
		}
		usual := func() (workers, error) {
			of, _, err := costs(tuning.Sweep, out)
			return of, err
		}
		err = several.run(c, usual, []string{"tune", args[0], "--epochs", strconv.Itoa(budget), "--out", out}, train, "repeat the command to resume")
		stop()
		if err != nil || several.worker {
			return err
		}
		report, err := tuning.Report(out)
		if err != nil {
			return err
		}
		for _, candidate := range report.Candidates {
			if candidate.Failure != nil {
				fmt.Fprintln(c.ErrOrStderr(), "failed:", strings.ReplaceAll(candidate.Failure.Error(), "\n", "\nfailed: ")) // a line per seed
			}
		}
		best := report.Candidates[0]
		if err := tables.give(report.Table()); err != nil {
			return err
		}
		if edges := report.AtEdge(); edges != nil {
			fmt.Fprintf(c.ErrOrStderr(), "at the edge of the search: %s; a wider range may hold better settings\n", strings.Join(edges, ", "))
		}
		fmt.Fprintf(c.ErrOrStderr(), "best: %s, %s %s: helmholtz eval %s\n", best.Name, report.Objective.Name, best.Value.Text(3), shell.Argument(best.Seeds[0].Dir))
		return nil
	}
	return c
}

// watchTuning keeps the table of a search up to date on a terminal. In a log, it writes the table
// whenever candidates have moved to the next rung. The returned function stops watchTuning.
func watchTuning(w io.Writer, t *runs.Tuning, dir string) (stop func()) {
	ended := make(chan struct{})
	var shows sync.WaitGroup
	shows.Go(func() {
		erase, rung, wait := "", 1, time.Second
		for {
			select {
			case <-ended:
				fmt.Fprint(w, erase)
				return
			case <-time.After(wait):
			}
			begun := time.Now()
			report, err := t.Report(dir)
			if err != nil || report.Done { // training reports it
				continue
			}
			text := report.Table().String()
			switch now := report.Candidates[0].Rung; {
			case file.IsTerminal(w):
				fmt.Fprint(w, erase, text)
				erase = fmt.Sprintf("\x1b[%dA\x1b[J", strings.Count(text, "\n"))
			case now > rung:
				fmt.Fprint(w, text)
				rung = now
			}
			wait = max(time.Second, 20*time.Since(begun)) // reading takes time, too
		}
	})
	return func() {
		close(ended)
		shows.Wait()
	}
}

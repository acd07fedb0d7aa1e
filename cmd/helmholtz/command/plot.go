package command

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
)

func newPlot() *cobra.Command {
	var out, format string
	var o plotting.ReportOptions
	var theme plotting.Theme
	c := &cobra.Command{
		Use:   "plot DIR...",
		Short: "Draw the figures of runs",
		Args:  cobra.MatchAll(some("name the directories of one or more runs"), noFiles),
	}
	f := c.Flags()
	f.StringVar(&out, "out", "figures", "`DIR` to draw into")
	figureFormatFlag(f, &format)
	formerly(f, "format", "figure-format")
	f.TextVar(&theme, "theme", plotting.Paper, "`look` of the figures: paper, slide or dark")
	dataFlag(f, &o.Data)
	numberFlag(f, &o.Samples, "samples", 1000, 1, "`K` importance samples per row")
	numberFlag(f, &o.LogZ2, "log-z2", 100_000, 10, "`N` outer samples for log Z², at least 10; the figure of the weights of p* uses a tenth of them as dreams")

	c.RunE = func(c *cobra.Command, args []string) error {
		save := func(figure *plotting.Figure, name string) error {
			path := filepath.Join(out, name+"."+format)
			return savedAt(c, path, figure.Theme(theme).Save(path))
		}
		var histories, normed []runs.History
		var convergences []hm.Convergence
		if err := refuseUnwritable(c, "out", filepath.Join(out, "curves."+format)); err != nil {
			return err
		}
		all, err := runsIn(args)
		if err != nil {
			return err
		}
		labels, err := figureNames(c, all)
		if err != nil {
			return err
		}
		if given := c.Flags().Changed; (given("samples") || given("log-z2")) && !slices.ContainsFunc(all, weighs) {
			if err := refuseUnused(c, "a figure of runs without importance weights", []string{"samples", "log-z2"}, nil); err != nil {
				return err
			}
		}
		for i, run := range all {
			name, history := labels[i], run.History()
			if history.Err != nil {
				return history.Err
			}
			among := func(title string) string {
				if len(all) > 1 {
					title = name + ": " + title
				}
				return title
			}
			history.Name = among(history.Name)
			histories = append(histories, history)
			if hasNorms(history) {
				normed = append(normed, history)
			}
			ofRun := func(f *plotting.Figure, kind string) error { return save(f, name+"-"+kind) }
			if err := drawRecorded(run, ofRun); err != nil {
				return err
			}
			convergence, missing, err := plotting.ModelFigures(c.Context(), run, o, ofRun)
			if err != nil {
				return err
			}
			if convergence != nil {
				convergence.Name = among(convergence.Name)
				convergences = append(convergences, *convergence)
			}
			for _, line := range missing {
				fmt.Fprintf(c.ErrOrStderr(), "%s: %s\n", run.Dir(), line)
			}
		}
		if err := save(plotting.CurvesByEpochAndTime(histories...), "curves"); err != nil {
			return err
		}
		if len(normed) > 1 {
			if err := save(plotting.NetworkNorms(normed...), "norms"); err != nil {
				return err
			}
		}
		if len(convergences) > 0 {
			return save(plotting.LikelihoodBySamples(convergences...), "likelihood-by-samples")
		}
		return nil
	}
	return c
}

func weighs(run *runs.Run) bool {
	model, err := run.ModelAt("last") // drawing the run will return this error
	return err == nil && plotting.Weighs(model)
}

func runsIn(dirs []string) (all []*runs.Run, err error) {
	for _, dir := range dirs {
		seeds, err := runs.OpenSeeds(dir)
		if err != nil {
			return nil, err
		}
		all = append(all, seeds.Runs...)
	}
	return all, nil
}

// figureNames returns a prefix for the names of each run's figures. The prefix is the name of the run's
// directory, preceded by the names of parent directories if they are needed to distinguish runs. It refuses a
// directory that is given twice.
func figureNames(c *cobra.Command, all []*runs.Run) ([]string, error) {
	labels, paths := make([]string, len(all)), make([]string, len(all))
	for i, run := range all {
		path, err := filepath.Abs(run.Dir())
		if err != nil {
			return nil, err
		}
		if slices.Contains(paths[:i], path) {
			return nil, misuse(c, "%s is given twice: name each directory once", run.Dir())
		}
		labels[i], paths[i] = filepath.Base(path), path
	}
	above := slices.Clone(paths)
	for {
		count := map[string]int{}
		for _, label := range labels {
			count[label]++
		}
		if len(count) == len(all) {
			return labels, nil
		}
		for i, label := range labels {
			if above[i] = filepath.Dir(above[i]); count[label] > 1 {
				labels[i] = strings.Trim(filepath.Base(above[i]), string(filepath.Separator)) + "-" + label
			}
		}
	}
}

// eachRun calls work for the run in dir with the file out. If dir has several seeds, it calls work for each
// seed with a separate file, which fileOf names.
func eachRun(dir, out string, work func(dir, out string) error) error {
	all, err := runsIn([]string{dir})
	if err != nil {
		return err
	}
	for _, run := range all {
		if err := work(run.Dir(), fileOf(run.Dir(), dir, out)); err != nil {
			return err
		}
	}
	return nil
}

// fileOf returns path if dir is the directory of the run. If the run is one of several seeds in dir, it inserts
// the name of the seed's directory before the extension, as in out-seed-1.png.
func fileOf(run, dir, path string) string {
	if path == "" || filepath.Clean(run) == filepath.Clean(dir) {
		return path
	}
	extension := filepath.Ext(path)
	return strings.TrimSuffix(path, extension) + "-" + filepath.Base(run) + extension
}

// drawRecorded draws what training recorded for one run of any family: norms, measurements during training, and
// recorded steps. The curves of all runs share a figure, which is drawn elsewhere.
func drawRecorded(run *runs.Run, save func(*plotting.Figure, string) error) error {
	history := run.History()
	if hasNorms(history) {
		if err := save(plotting.Norms(history), "norms"); err != nil {
			return err
		}
	}
	logs := measuredLogs(history)
	for _, name := range slices.Sorted(maps.Keys(logs)) {
		if err := save(plotting.MeasuredAlong(name, logs[name], history), "measured-"+name); err != nil {
			return err
		}
	}
	steps, err := run.Steps()
	if errors.Is(err, runs.ErrNoSteps) {
		return nil
	}
	if err != nil {
		return err
	}
	return save(plotting.CurvesByStep(steps), "steps")
}

// measuredLogs returns, for the name of each measurement during training, the keys of the log-likelihoods that
// it measured after any epoch.
func measuredLogs(h runs.History) map[string][]string {
	logs := map[string][]string{}
	for _, key := range []string{"log_p", "log_p_star", "log_p_tilde_star"} {
		for _, e := range h.Epochs {
			for name, values := range e.Measured {
				if _, ok := values[key]; ok && !slices.Contains(logs[name], key) {
					logs[name] = append(logs[name], key)
				}
			}
		}
	}
	return logs
}

// hasNorms reports whether a run recorded norms; earlier versions did not.
func hasNorms(h runs.History) bool {
	return len(h.Epochs) > 0 && h.Epochs[len(h.Epochs)-1].Norms != nil
}

func newReport() *cobra.Command {
	var out string
	var o plotting.ReportOptions
	var withOthers bool
	c := &cobra.Command{
		Use:   "report DIR",
		Short: "Describe a run on one HTML page",
		Args:  oneRun,
	}
	f := c.Flags()
	fileFlag(f, &out, "out", "", "`file` to write (default DIR.html)", "html")
	numberFlag(f, &o.Samples, "samples", 1000, 2, "`K` importance samples per row")
	numberFlag(f, &o.Rows, "rows", 1000, 1, "evaluate `N` test rows drawn from the run's seed")
	numberFlag(f, &o.LogZ2, "log-z2", 100_000, 10, "`N` outer samples for log Z²")
	dataFlag(f, &o.Data)
	f.BoolVar(&withOthers, "rivals", false, rivalsUsage)
	c.RunE = func(c *cobra.Command, args []string) error {
		if out == "" {
			out = filepath.Join(args[0], "..", file.Name(args[0])+".html") // next to the directory
		}
		if err := refuseUnwritable(c, "out", out); err != nil {
			return err
		}
		if withOthers {
			o.Rivals = withRivals
		}
		return eachRun(args[0], out, func(dir, out string) error { return writeReport(c, dir, out, o) })
	}
	return c
}

func writeReport(c *cobra.Command, dir, out string, o plotting.ReportOptions) error {
	run, model, err := openModel(dir, "last")
	if err != nil {
		return err
	}
	uses := plotting.ReportUses(run, model)
	if err := firstOf(refuseSampling(c, model), refuseUnused(c, "a report of "+run.Noun(), []string{"samples", "rows", "log-z2"}, uses)); err != nil {
		return err
	}
	if o.Rivals != nil && !slices.Contains(uses, "rows") {
		return misuse(c, "--rivals: a report of %s has no evaluation; run helmholtz eval %s --rivals", run.Noun(), dir)
	}
	o.Progress = newFraction(c.ErrOrStderr(), "evaluating")
	page, err := plotting.Report(c.Context(), dir, o)
	if err != nil {
		return err
	}
	return savedAt(c, out, page.Save(out))
}

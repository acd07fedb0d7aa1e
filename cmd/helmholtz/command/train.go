package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newTrain() *cobra.Command {
	c := newTrainOf("train", defaultFamily)
	c.Short = "Train a machine and keep the run in a directory"
	addFamilies(c, func(family string) *cobra.Command { return newTrainOf(family, family) })
	return c
}

// newTrainOf returns a command that trains experiments of a family.
func newTrainOf(use, family string) *cobra.Command {
	var resume, out string
	var seeds int
	c := &cobra.Command{Use: use, Args: noArgs}
	f := c.Flags()
	f.SortFlags = false
	f.StringVar(&resume, "resume", "", "resume the run in `DIR`")
	namesRun(f, "resume")
	f.StringVar(&out, "out", "", "")
	numberFlag(f, &seeds, "seeds", 0, 1, "train `N` runs, with --seed and the seeds after it")
	optionalFlag(f, new(int), "workers", 0, 1, "train `N` seeds in parallel (default: one per core, as far as memory allows; 4 on a GPU)")
	noWaitFlag(f)
	f.Bool(tensorBoard, false, "also write the measures of each epoch for TensorBoard, into the folder tensorboard of the run")
	x := newDraftFlags(f, family)
	usual, method := family, func() string { return family }
	if x.Preset != nil {
		usual, method = "ALGORITHM", f.Lookup("algorithm").Value.String
	}
	f.Lookup("out").Usage = "`DIR` of the run (default runs/DATASET-" + usual + ")"
	c.Short = "Train " + x.Noun
	c.Long = fmt.Sprintf("Train %s (family %s) and keep the run in a directory. Flags describe the\nexperiment, or change the settings of a TOML file; --resume DIR resumes the run.", x.Noun, family)
	needed := " " + x.Example
	for _, row := range x.Settings() {
		if row.Run && row.Wrong() { // the run determines the data
			needed = ""
		}
		if row.Wrong() {
			value, _ := pflag.UnquoteUsage(f.Lookup(row.Flag))
			needed += fmt.Sprintf(" --%s %s", row.Flag, strings.ToUpper(value))
		}
	}
	c.Example = fmt.Sprintf("  helmholtz train %s%s --epochs 5 --out runs/%[1]s\n  helmholtz train %[1]s --config runs/%[1]s/experiment.toml --seeds 5 --out runs/%[1]s-seeds", family, needed)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if resume != "" {
			e, seeds, err := resumed(c, resume, x.Epochs)
			if err != nil {
				return err
			}
			return train(c, e, seeds, resume)
		}
		e, err := x.experiment(c)
		if err != nil {
			return err
		}
		usual := strings.ReplaceAll(e.Header().Dataset.Name, string(filepath.Separator), "-") + "-" + method()
		return x.train(c, e, seeds, cmp.Or(out, filepath.Join("runs", usual)))
	}
	return c
}

// train trains an experiment into a directory, or, one after the other, the jobs that the flags ask for.
func (x *draftFlags) train(c *cobra.Command, e runs.Experiment, seeds int, out string) error {
	jobs := []runs.Job{{Experiment: e, Dir: out}}
	if x.Jobs != nil {
		var err error
		if jobs, err = x.Jobs(out); err != nil {
			return misuse(c, "%w", err)
		}
	}
	last := jobs[len(jobs)-1]
	if len(jobs) > 1 {
		if seeds > 0 {
			return misuse(c, "--seeds with %d runs, one on top of the other: they are trained for one seed at a time; omit --seeds", len(jobs))
		}
		if _, err := openChecked(c, last.Experiment, last.Dir); err != nil { // before the others are trained
			return err
		}
	}
	for _, j := range jobs[:len(jobs)-1] {
		if err := trainPart(c, j.Experiment, 0, j.Dir); err != nil {
			if errors.As(err, new(*runs.Interruption)) {
				fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint in %s; repeat the command to resume and to train the others\n", j.Setting)
			}
			return err
		}
	}
	return train(c, last.Experiment, seeds, last.Dir)
}

// addFamilies adds a command for each family below train or bench train, which itself is for defaultFamily. Its flag
// --algorithm offers the algorithms of all families, which routed turns into their commands.
func addFamilies(c *cobra.Command, of func(family string) *cobra.Command) {
	algorithm := c.Flags().Lookup("algorithm")
	for _, family := range runs.Families() {
		child := of(family)
		if x := runs.NewDraft(family); x.Preset != nil && family != defaultFamily {
			words := child.Flags().Lookup("algorithm").Annotations[wordsOf]
			algorithm.Usage += fmt.Sprintf("; %s train %s (see helmholtz train %s --help)", strings.Join(words, ", "), x.Noun, family)
			algorithm.Annotations[wordsOf] = append(algorithm.Annotations[wordsOf], words...)
		}
		c.AddCommand(computing(child))
	}
}

// defaultFamily is the family that train trains if its arguments name no other.
const defaultFamily = "hm"

// routed adds the family to the arguments of train and bench train: the family of --algorithm or, without it, the
// family of the file of --config. With --up-down, it is updown.
func routed(root *cobra.Command, args []string) []string {
	if completes(args) {
		return append(args[:1:1], routed(root, args[1:])...)
	}
	c, rest, err := root.Find(args)
	if err != nil || c.Name() != "train" {
		return args
	}
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.ParseErrorsAllowlist.UnknownFlags = true
	f.BoolP("help", "h", false, "")
	algorithm, config := f.String("algorithm", "", ""), f.String("config", "", "")
	f.String("up-down", "", "")
	_ = f.Parse(rest) // the command reports the error
	family := familyOf(*algorithm)
	if text, err := file.Read(*config, file.Small); err == nil && family == "" {
		family, _ = runs.FamilyOf(text) // the command reports the error
	}
	if f.Changed("up-down") {
		family = "updown"
		for i, arg := range rest {
			if arg == "--up-down" || strings.HasPrefix(arg, "--up-down=") {
				rest[i] = "--network" + strings.TrimPrefix(arg, "--up-down")
			}
		}
	}
	if family == defaultFamily || runs.NewDraft(family) == nil {
		return args
	}
	return slices.Concat(strings.Fields(c.CommandPath())[1:], []string{family}, rest)
}

// resumed returns the experiment of the run in a directory, and 0. If the directory has several
// seeds, it returns the experiment of the first seed, and 1. If --epochs is given, it extends
// finished runs to that number of epochs.
func resumed(c *cobra.Command, dir string, epochs int) (runs.Experiment, int, error) {
	var others []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"resume", "backend", "epochs", "workers", noWait, tensorBoard}, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if len(others) > 0 {
		return nil, 0, misuse(c, "--resume continues the experiment unchanged, except for a larger number of --epochs: omit %s", strings.Join(others, ", "))
	}
	if err := noFiles(c, []string{dir}); err != nil {
		return nil, 0, misuse(c, "--resume: %w", err)
	}
	longer := c.Flags().Changed("epochs")
	if longer {
		if err := awaitFree(c.Context(), c, dir); err != nil {
			return nil, 0, err
		}
	}
	e, err := runs.ExperimentIn(dir)
	seeds := 0
	if errors.Is(err, os.ErrNotExist) {
		seeds = 1 // all seeds of the directory resume with the first
	}
	switch {
	case seeds == 0 && c.Flags().Changed("workers"):
		return nil, 0, misuse(c, "%s has one seed, so --workers has no effect: omit it", dir)
	case longer:
		e, err = runs.Extend(dir, epochs)
	case seeds > 0:
		all, failure := runs.ReadSeeds(dir)
		if failure != nil {
			return nil, 0, failure
		}
		if len(all) == 0 {
			return nil, 0, fmt.Errorf("%s is not the directory of a run (it has no experiment.toml): name the directory that --out named", dir)
		}
		return all[0], seeds, nil
	}
	return e, seeds, err
}

// train trains an experiment into a directory, for several seeds if seeds is not 0, and prints the
// result or how to resume. On a terminal it also says what to do next.
func train(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	err := trainPart(c, e, seeds, dir)
	if errors.As(err, new(*runs.Interruption)) {
		fmt.Fprintf(c.ErrOrStderr(), "stopped with a checkpoint; resume with helmholtz train --resume %s\n", shell.Argument(dir))
	}
	if err == nil && file.IsTerminal(c.ErrOrStderr()) {
		fmt.Fprintf(c.ErrOrStderr(), "next: helmholtz report %s describes it on a page; eval, sample and plot take the same directory\n", shell.Argument(dir))
	}
	return err
}

// trainPart is like train, for a part of a larger run, but does not print how to resume.
func trainPart(c *cobra.Command, e runs.Experiment, seeds int, dir string) error {
	if seeds == 0 && c.Flags().Changed("workers") {
		return misuse(c, "--workers has no effect without --seeds: omit it")
	}
	if err := refuseFile(c, dir); err != nil {
		return err
	}
	home := dir // directory of the data, if they are stored with a run
	if seeds > 0 {
		home = runs.SeedDir(dir, e.Header().Seed)
	}
	if err := awaitFree(c.Context(), c, dir); err != nil {
		return err
	}
	set, err := openTrained(c, e, home)
	if err != nil {
		return err
	}
	about, err := work.Interruptible(func() (string, error) { return announcement(e, set) })
	if err != nil {
		return err
	}
	fmt.Fprint(c.ErrOrStderr(), about)
	if later := laterSettings(e, set.Train().Rows); len(later) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "without full effect within %s: %s\n", names.Count(e.Header().Epochs, "epoch"), strings.Join(later, ", "))
	}
	result, err := trainRuns(c, e, set, seeds, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%v: %s\n", e, result)
	return nil
}

// trainRuns trains a run, or several seeds if seeds is not 0, and describes the result.
func trainRuns(c *cobra.Command, e runs.Experiment, set *dataset.Set, seeds int, dir string) (result string, err error) {
	ctx, events := c.Context(), runs.TensorBoard()
	recorders := []runs.Recorder{runs.Printer(c.ErrOrStderr())}
	if wanted, _ := c.Flags().GetBool(tensorBoard); wanted { // a flag of training commands
		recorders = append(recorders, events)
	}
	if seeds == 0 {
		var run *runs.Run
		if run, err = runs.Train(ctx, e, set, dir, recorders...); err == nil {
			result = fmt.Sprintf("%s in %s%s", names.Count(run.Epochs(), "epoch"), run.Dir(), lastWarning("; ", run))
		}
	} else {
		if n, err := c.Flags().GetInt("workers"); err == nil && n > 0 {
			ctx = runs.AtOnce(ctx, n)
		}
		var all *runs.Seeds
		if all, err = runs.TrainSeeds(ctx, e, set, seeds, dir, recorders...); err == nil {
			result = fmt.Sprintf("%s in %s\n%s", names.Count(len(all.Runs), "seed"), all.Dir(), all.LastMeasures())
			for _, run := range all.Runs {
				result += lastWarning(fmt.Sprintf("\nseed %d: ", run.Experiment().Header().Seed), run)
			}
		}
	}
	if failure := events.Err(); failure != nil {
		fmt.Fprintln(c.ErrOrStderr(), failure)
	}
	return result, err
}

// tensorBoard is the flag that makes training commands write event files for TensorBoard.
const tensorBoard = "tensorboard"

// noWait is the flag that makes training commands refuse a directory instead of waiting.
const noWait = "no-wait"

func noWaitFlag(f *pflag.FlagSet) {
	f.Bool(noWait, false, "refuse a directory immediately if another machine may be training in it, or stopped during training, instead of waiting a minute for a sign of life")
}

// awaitFree waits until no program trains in a directory or in the directories of its seeds. With
// --no-wait, it refuses a directory in which a program may be training.
func awaitFree(ctx context.Context, c *cobra.Command, dir string) error {
	dirs := []string{dir}
	seeds, _ := runs.ReadSeeds(dir) // a later read returns the error
	for _, e := range seeds {
		dirs = append(dirs, runs.SeedDir(dir, e.Header().Seed))
	}
	for _, dir := range dirs {
		err := runs.Taken(dir)
		if atOnce, _ := c.Flags().GetBool(noWait); !atOnce { // a flag of training commands
			err = runs.Await(ctx, dir, runs.Printer(c.ErrOrStderr()))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// openTrained is like openChecked, for training on the device that --backend names.
func openTrained(c *cobra.Command, e runs.Experiment, dir string) (*dataset.Set, error) {
	if _, shares := e.(runs.Planner); !shares && c.Flags().Lookup("backend").Value.String() == "cuda" {
		return nil, misuse(c, "--backend cuda: only Helmholtz machines compute on a GPU: omit --backend")
	}
	return openChecked(c, e, dir)
}

// openChecked opens the data of an experiment, which may be stored with its run in a directory, and
// refuses an experiment that cannot be trained on them.
func openChecked(c *cobra.Command, e runs.Experiment, dir string) (*dataset.Set, error) {
	set, err := runs.OpenDataset(e, dir)
	if config := c.Flags().Lookup("config"); err != nil && config != nil && config.Changed {
		err = runs.ExplainMissing(config.Value.String(), err)
	}
	_, missing := os.Stat(e.Header().Dataset.Name) // otherwise a file beside the data is missing
	if of := c.Flags().Lookup("dataset"); errors.Is(err, os.ErrNotExist) && missing != nil && of != nil && !of.Changed && !c.Flags().Changed("resume") {
		err = fmt.Errorf("%w; or name the data with --dataset", err)
	}
	if err != nil {
		return nil, err
	}
	if err := e.Check(set); err != nil {
		return nil, misuse(c, "%w", err)
	}
	return set, nil
}

// announcement describes the data and the experiment.
func announcement(e runs.Experiment, set *dataset.Set) (string, error) {
	more := "\n"
	if set.Validation().Rows == 0 {
		more = " (--validation N sets N rows aside for validation, which then select a best epoch)\n"
	}
	if e, describes := e.(runs.Planner); describes {
		text, err := e.Describe(set)
		if err != nil {
			return "", err
		}
		more += text
	}
	return set.String() + more, nil
}

// laterSettings returns the settings of an experiment that have no effect, or not their full
// effect, before its last epoch ends.
func laterSettings(e runs.Experiment, rows int) (later []string) {
	h := e.Header()
	add := func(epochs int, setting string) { // full effect after that many epochs
		if epochs > h.Epochs {
			later = append(later, setting)
		}
	}
	for _, epoch := range h.Keep {
		add(epoch, fmt.Sprintf("--keep %d", epoch))
	}
	add((h.RecordSteps-1)/h.StepsPerEpoch(rows)+1, fmt.Sprintf("--record-steps %d", h.RecordSteps))
	add(h.Patience+1, fmt.Sprintf("--patience %d", h.Patience))
	for _, row := range e.Rows() {
		if row.Idle == "" {
			add(row.Epochs, fmt.Sprintf("--%s %v", row.Flag, reflect.ValueOf(row.Value).Elem()))
		}
	}
	return later
}

// lastWarning returns the text after, followed by the run's warning or by a note that the run is no
// better than its baseline. It returns "" if neither applies.
func lastWarning(after string, run *runs.Run) string {
	if text := cmp.Or(run.Warning(), run.Shortfall()); text != "" {
		return after + text
	}
	return ""
}

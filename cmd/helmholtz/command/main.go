// Package command implements the command line of helmholtz. If your own program imports a family and
// calls Main, it has the same command line with this family: runs/FAMILY.md has an example.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"github.com/helmholtz-go/helmholtz/docs"
	_ "github.com/helmholtz-go/helmholtz/gpu" // the engine cuda
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/spf13/cobra"
)

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
	exitClosedPipe  = 141 // as if SIGPIPE had ended the program
	exitRequeue     = 75  // for training that a scheduler preempts (EX_TEMPFAIL in sysexits.h)
)

// end interrupts the program that Main runs.
var end = func() {}

// Main runs the command given by the program's arguments, and exits with its exit code.
func Main() {
	limitGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		// Never stop this handler: a closing terminal may send the signal twice.
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	ctx, end = context.WithCancel(ctx)
	work.EndWith(ctx)
	if file.IsTerminal(os.Stderr) {
		work.Show(longWork(ctx, os.Stderr))
	}
	context.AfterFunc(ctx, stop) // a second interrupt ends the program immediately
	// Without this handler, writing to a closed pipe would end the program. With it, the write fails: the command
	// ends quietly, but training continues without its progress lines.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	addHelp(root)
	if completes(args) {
		completeWords(root)
	}
	args = routed(root, args)
	root.SetArgs(args)
	out := &output{w: stdout}
	root.SetOut(out)
	errs := &output{w: stderr}
	root.SetErr(errs)
	stderr = errs
	err := firstOf(refuseRepeated(root, args), refuseHelpWord(root, args))
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	if at, is := errors.AsType[*fs.PathError](err); is && at.Path == os.Stdout.Name() && errors.Is(at, syscall.EPIPE) {
		return exitClosedPipe
	}
	text, code := err.Error(), exitFailed
	use, misused := errors.AsType[*usageError](err)
	switch {
	case errors.Is(err, context.Canceled):
		text, code = "interrupted", exitInterrupted
		if errors.Is(err, errKept) {
			text += "; " + errKept.Error()
		}
	case errors.Is(err, errPreempted):
		code = exitRequeue
	case misused:
		text, code = fmt.Sprintf("%v\nSee %s --help.", err, use.command), exitUsage
	}
	fmt.Fprintf(stderr, "helmholtz: %s\n", text)
	return code
}

type usageError struct {
	error
	command string
}

func (e *usageError) Unwrap() error { return e.error }

func misuse(c *cobra.Command, format string, values ...any) error {
	return &usageError{fmt.Errorf(format, values...), c.CommandPath()}
}

func newRoot() *cobra.Command {
	root := newGroup(&cobra.Command{
		Use:           "helmholtz",
		Short:         "Train, evaluate and draw Helmholtz machines",
		SilenceErrors: true,
		SilenceUsage:  true,
	}, newNew(), computing(newTrain()), newImport(), computing(newEval()), computing(newSample()), computing(newInpaint()), computing(newImpute()), computing(newServe()), computing(newFeatures()),
		computing(newPlot()), computing(newReport()), computing(newCompare()), newRuns(), newHistory(), computing(newReproduce()), newSweep(), computing(newTune()), newData(), newPretrained(), newBench(), newKernel(), newDoctor(), newDocs(), newVersion())
	addManuals(root)
	reportMisuse(root)
	groupHelp(root)
	shortHelp(root)
	return root
}

// addManuals gives a command and its subcommands the descriptions and examples that the guides have for them.
func addManuals(c *cobra.Command) {
	if description, examples := docs.Manual(c.CommandPath()); description+examples != "" {
		c.Long, c.Example = description, examples
	}
	for _, below := range c.Commands() {
		addManuals(below)
	}
}

// reportMisuse turns wrong flags and arguments of a command and its subcommands into usage errors.
func reportMisuse(c *cobra.Command) {
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return misuse(c, "%w", flagError(c, err)) })
	check := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := refuseEmpty(c); err != nil {
			return err
		}
		if err := check(c, args); err != nil {
			return misuse(c, "%w", argumentError(c, args, err))
		}
		return nil
	}
	for _, child := range c.Commands() {
		reportMisuse(child)
	}
}

// someRuns requires arguments, the directories of runs or of several seeds.
var someRuns = cobra.MatchAll(some("name the directories of runs, or of the seeds of an experiment"), noFiles)

// some requires arguments; ask is the error's text.
func some(ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(ask)
		}
		return nil
	}
}

// oneRun requires one argument, the directory of a run.
var oneRun = cobra.MatchAll(between(1, 1, "name the directory of one run"), noFiles)

// between requires from least to most arguments; ask begins the error's text.
func between(least, most int, ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s, got %s", ask, names.Count(len(args), "argument"))
		}
		return nil
	}
}

func newGroup(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(below...)
	return c
}

// ofNames returns a command that does something with each of its arguments.
func ofNames(use, short string, args cobra.PositionalArgs, do func(c *cobra.Command, name string) error) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(c *cobra.Command, names []string) error {
		for _, name := range names {
			if err := do(c, name); err != nil {
				return err
			}
		}
		return nil
	}}
}

func noFiles(_ *cobra.Command, paths []string) error {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file: name the directory of a run, such as %s", path, filepath.Dir(path))
		}
	}
	return nil
}

// refuseFile refuses an output directory that is a file or lies below one.
func refuseFile(c *cobra.Command, dir string) error {
	for at := filepath.Clean(dir); ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case err == nil && !info.IsDir():
			return misuse(c, "--out %s: %s is a file: name a directory", dir, at)
		case err == nil || at == filepath.Dir(at):
			return nil
		}
	}
}

// limitGarbage makes the collector run before garbage fills the available memory. By default, the
// collector runs only when garbage takes as much memory as live data, for which training may leave no
// room. GOMEMLIMIT takes precedence.
func limitGarbage() {
	if debug.SetMemoryLimit(-1) < math.MaxInt64 {
		return
	}
	if available, _ := memory.Available(); available > 0 {
		debug.SetMemoryLimit(available / 10 * 9)
	}
}

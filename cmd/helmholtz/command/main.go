// Package command is the command line of helmholtz. A program of one's own that calls Main, and
// imports a family, is the same command line with that family: runs/FAMILY.md has an example.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"

	_ "github.com/helmholtz-go/helmholtz/gpu" // the engine cuda
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/spf13/cobra"
)

// The exit codes.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
	exitRequeue     = 75 // of training that a scheduler ends before its time (EX_TEMPFAIL of sysexits.h)
)

// Main performs the command of the program's arguments, and ends the program with its exit code.
func Main() {
	limitGarbage()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup leaves it
		// It stays so: a terminal that closes may send it twice.
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	context.AfterFunc(ctx, stop) // so that a second interrupt ends the program at once
	// A pipe that is closed is an error of the command that prints; progress, on
	// standard error, may end there and training goes on.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run performs the command of args and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	addHelp(root)
	root.SetArgs(args)
	out := &output{w: stdout}
	root.SetOut(out)
	errs := &output{w: stderr}
	root.SetErr(errs)
	stderr = errs
	err := refuseRepeated(root, args)
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	if err == nil {
		err = out.err
	}
	if err == nil {
		return 0
	}
	var use *usageError
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "helmholtz: interrupted")
		return exitInterrupted
	case errors.Is(err, errPreempted):
		fmt.Fprintf(stderr, "helmholtz: %v\n", err)
		return exitRequeue
	case errors.As(err, &use):
		fmt.Fprintf(stderr, "helmholtz: %v\nSee %s --help.\n", err, use.command)
		return exitUsage
	}
	fmt.Fprintf(stderr, "helmholtz: %v\n", err)
	return exitFailed
}

// usageError is a command used in a wrong way.
type usageError struct {
	error
	command string
}

func (e *usageError) Unwrap() error { return e.error }

// misuse returns the usage error of a command.
func misuse(c *cobra.Command, format string, values ...any) error {
	return &usageError{fmt.Errorf(format, values...), c.CommandPath()}
}

func newRoot() *cobra.Command {
	root := newGroup(&cobra.Command{
		Use:   "helmholtz",
		Short: "Train, evaluate and draw Helmholtz machines",
		Long: `Train, evaluate and draw Helmholtz machines with wake-sleep, reweighted
wake-sleep, bidirectional training and their natural-gradient versions.`,
		Example: `  helmholtz train --dataset glyphs --algorithm nrws --layers 100,50,20 --epochs 5 --out runs/glyphs
  helmholtz eval runs/glyphs --samples 1000
  helmholtz sample runs/glyphs --out sheet.png`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}, newNew(), computing(newTrain()), newImport(), computing(newEval()), computing(newSample()), computing(newInpaint()),
		computing(newPlot()), computing(newReport()), computing(newCompare()), newRuns(), newHistory(), computing(newReproduce()), newSweep(), newData(), newPretrained(), newBench(), newKernel(), newDoctor(), newVersion())
	reportMisuse(root)
	completeWords(root)
	groupHelp(root)
	shortHelp(root)
	return root
}

// reportMisuse makes wrong flags and arguments of a command, and of those
// below it, usage errors.
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

// someRuns asks for arguments, the directories of runs or of several seeds.
var someRuns = cobra.MatchAll(some("name the directories of runs, or of the seeds of an experiment"), noFiles)

// some asks for arguments, in these words.
func some(ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New(ask)
		}
		return nil
	}
}

// oneRun asks for one argument, the directory of a run.
var oneRun = cobra.MatchAll(between(1, 1, "name the directory of one run"), noFiles)

// between asks for a number of arguments, in these words.
func between(least, most int, ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return fmt.Errorf("%s, got %d arguments", ask, len(args))
		}
		return nil
	}
}

// newGroup returns a command that only has commands below it.
func newGroup(c *cobra.Command, below ...*cobra.Command) *cobra.Command {
	c.Args, c.RunE = cobra.NoArgs, func(c *cobra.Command, _ []string) error { return c.Help() }
	c.AddCommand(below...)
	return c
}

// noFiles refuses files where directories of runs are asked for.
func noFiles(_ *cobra.Command, paths []string) error {
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			return fmt.Errorf("%s is a file: name the directory of a run, such as %s", path, filepath.Dir(path))
		}
	}
	return nil
}

// refuseFile refuses a directory to write into that is a file, or lies below one.
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

// limitGarbage has garbage collected before it fills the memory there is: what a
// training takes by its estimate leaves no room for as much garbage again, which the
// collector would otherwise wait for. GOMEMLIMIT goes before it.
func limitGarbage() {
	if debug.SetMemoryLimit(-1) < math.MaxInt64 {
		return
	}
	if available, _ := memory.Available(); available > 0 {
		debug.SetMemoryLimit(available / 10 * 9)
	}
}

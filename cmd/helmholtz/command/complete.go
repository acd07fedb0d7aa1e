package command

import (
	"encoding"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/notebooks/thesis"
	"github.com/helmholtz-go/helmholtz/runs/pretrained"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wordsOf is the annotation that lists the words that a flag accepts.
const wordsOf = "words"

// takes records the words that a flag accepts, for completion in the shell.
func takes(f *pflag.FlagSet, name string, words ...string) {
	annotate(f.Lookup(name), wordsOf, words...)
}

// textWords returns the texts of an enumeration, whose values are integers from 0, or nil for another type.
func textWords(v encoding.TextMarshaler) (words []string) {
	value := reflect.New(reflect.TypeOf(v).Elem())
	if !value.Elem().CanInt() {
		return nil
	}
	for i := int64(0); ; i++ {
		value.Elem().SetInt(i)
		text, err := value.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return words
		}
		words = append(words, string(text))
	}
}

// completes reports whether the shell asks for the words that complete the arguments.
func completes(args []string) bool {
	return len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd)
}

// completeWords lets the shell complete the flags and arguments of a command and its subcommands. Cobra keeps all of these
// commands until the program ends.
func completeWords(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		complete := cobra.FixedCompletions(f.Annotations[wordsOf], cobra.ShellCompDirectiveNoFileComp)
		switch {
		case f.Name == "dataset":
			complete = completeDatasets
		case f.Name == "checkpoint" || f.Name == "from-checkpoint":
			complete = cobra.FixedCompletions([]string{"last", "best"}, cobra.ShellCompDirectiveNoFileComp)
		case f.Name == "config":
			complete = completeTOML
		case f.Annotations[runOf] != nil:
			complete = completeRuns
		case f.Annotations[wordsOf] == nil:
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, complete) // fails only for an unknown flag
	})
	switch _, arguments, _ := strings.Cut(c.Use, " "); {
	case strings.HasPrefix(arguments, "FILE"):
		c.ValidArgsFunction = completeTOML
	case strings.HasPrefix(arguments, "DIR") && c.Parent().Name() == "sweep":
		c.ValidArgsFunction = completeSweeps
	case strings.HasPrefix(arguments, "DIR"):
		c.ValidArgsFunction = completeRuns
	case strings.Contains(arguments, "ID..."):
		c.ValidArgsFunction = completeResults
	case arguments == "NAME..." && c.Parent().Name() == "pretrained":
		c.ValidArgsFunction = func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
			return pretrained.Names(), cobra.ShellCompDirectiveNoFileComp
		}
	case arguments == "NAME...":
		c.ValidArgsFunction = completeDatasets
	}
	for _, child := range c.Commands() {
		completeWords(child)
	}
}

func completeDatasets(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	names := lists.Map(dataset.List(), func(i dataset.Info) cobra.Completion { return cobra.CompletionWithDesc(i.Name, i.Description) })
	return names, cobra.ShellCompDirectiveDefault
}

func completeResults(_ *cobra.Command, _ []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var ids []cobra.Completion
	all, _ := thesis.Catalog() // empty if there is an error
	for _, e := range all {
		if strings.HasPrefix(e.ID, written) {
			ids = append(ids, e.ID)
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

func completeTOML(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return []cobra.Completion{"toml"}, cobra.ShellCompDirectiveFilterFileExt
}

// deepestCompletion is the depth to which folders are searched for runs, and mostCompletions the
// largest number of completions.
const deepestCompletion, mostCompletions = 4, 500

// completeRuns completes the directories of runs and of several seeds, and completeSweeps the directories of sweeps.
var completeRuns, completeSweeps = completeDirectories("experiment.toml", "seeds.json"), completeDirectories("sweep.toml")

// completeDirectories completes directories that contain one of the files. It searches below the typed folder, which may be a
// link, or below runs if no folder is typed. If there are none, it completes all folders.
func completeDirectories(files ...string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
		root := filepath.Dir(written)
		if !strings.Contains(written, string(filepath.Separator)) {
			root = "runs"
		}
		var found []cobra.Completion
		_ = filepath.WalkDir(root+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
			depth := strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator))
			switch {
			case err != nil || len(found) >= mostCompletions:
				return fs.SkipAll
			case entry.IsDir() && depth > deepestCompletion:
				return fs.SkipDir
			case slices.Contains(files, entry.Name()):
				if dir := filepath.Dir(path); strings.HasPrefix(dir, written) {
					found = append(found, dir)
				}
			}
			return nil
		})
		if len(found) == 0 {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}

package main

import (
	"encoding"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// wordsOf is the annotation of a flag with the words that it takes.
const wordsOf = "words"

// takes notes the words that a flag takes, for the shell to complete.
func takes(f *pflag.FlagSet, name string, words ...string) {
	annotate(f.Lookup(name), wordsOf, words...)
}

// textWords are the texts of an enumeration, which are those of its first integers.
func textWords(v encoding.TextMarshaler) (words []string) {
	of := reflect.New(reflect.TypeOf(v).Elem())
	if !of.Elem().CanInt() {
		return nil
	}
	for i := int64(0); ; i++ {
		of.Elem().SetInt(i)
		text, err := of.Interface().(encoding.TextMarshaler).MarshalText()
		if err != nil {
			return words
		}
		words = append(words, string(text))
	}
}

// runFlags are the flags that name the directory of a run.
var runFlags = []string{"resume", "from"}

// completeWords lets the shell complete, of a command and of those below it, the words that
// flags take, and the directories of runs.
func completeWords(c *cobra.Command) {
	c.Flags().VisitAll(func(f *pflag.Flag) {
		complete := cobra.FixedCompletions(f.Annotations[wordsOf], cobra.ShellCompDirectiveNoFileComp)
		switch {
		case f.Name == "dataset":
			complete = completeDatasets
		case f.Name == "checkpoint" || f.Name == "from-checkpoint":
			complete = cobra.FixedCompletions([]string{"last", "best"}, cobra.ShellCompDirectiveNoFileComp)
		case slices.Contains(runFlags, f.Name):
			complete = completeRuns
		case f.Annotations[wordsOf] == nil:
			return
		}
		_ = c.RegisterFlagCompletionFunc(f.Name, complete) // fails of a flag that there is not
	})
	if strings.Contains(c.Use, " DIR") {
		c.ValidArgsFunction = completeRuns
	}
	for _, child := range c.Commands() {
		completeWords(child)
	}
}

// completeDatasets completes the names of data sets, and those of files.
func completeDatasets(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var names []cobra.Completion
	for _, i := range dataset.List() {
		names = append(names, cobra.CompletionWithDesc(i.Name, i.Description))
	}
	return names, cobra.ShellCompDirectiveDefault
}

// deepestCompletion is how many folders deep runs are looked for, and mostCompletions how many
// are offered.
const deepestCompletion, mostCompletions = 4, 500

// completeRuns completes the directories of runs and of several seeds, below the folder runs or
// that which is written. Where there are none, those of folders.
func completeRuns(_ *cobra.Command, _ []string, written string) ([]cobra.Completion, cobra.ShellCompDirective) {
	root := filepath.Dir(written)
	if !strings.Contains(written, string(filepath.Separator)) {
		root = "runs"
	}
	var found []cobra.Completion
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		depth := strings.Count(strings.TrimPrefix(path, root), string(filepath.Separator))
		switch {
		case err != nil || len(found) >= mostCompletions:
			return fs.SkipAll
		case entry.IsDir() && depth > deepestCompletion:
			return fs.SkipDir
		case entry.Name() == "experiment.toml" || entry.Name() == "seeds.json":
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

package command

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newNew() *cobra.Command {
	c := &cobra.Command{
		Use:   "new FILE",
		Short: "Write a commented experiment file to edit and train",
		Args:  between(1, 1, "name the file to write, such as experiment.toml"),
	}
	c.Flags().SortFlags = false
	x := newDraftFlags(c.Flags(), defaultFamily)
	c.RunE = func(c *cobra.Command, args []string) error {
		path := args[0]
		if path == "" {
			return misuse(c, "the name of the file is empty: name the file to write, such as experiment.toml")
		}
		if _, err := os.Lstat(path); err == nil {
			return misuse(c, "%s already exists: name a new file", path)
		}
		given := givenFlags(c.Flags())
		described, err := x.experiment(c)
		if err != nil {
			return err
		}
		of := described.Header().Dataset
		set, err := openToTrain(c, of)
		if err != nil {
			return misuse(c, "%w", err)
		}
		all := x.config == "" && !c.Flags().Changed("algorithm") && x.from.Run == ""
		if all || of.Binarization != set.Spec().Binarization { // openToTrain changed it
			x.Suggest(set, all)
		}
		if all {
			if err := handOn(c, given, c.Flags()); err != nil {
				return err
			}
		}
		x.Dataset, x.Fingerprint = set.Spec(), "" // training sets this and Start.Parameters
		if start := *x.Start; start != nil {
			*x.Start = &runs.Source{Run: start.Run, Checkpoint: start.Checkpoint}
		}
		e, err := x.Experiment()
		if err == nil {
			_, err = runs.Resolve(e, set, "") // reads the parameters that training starts from
		}
		if err != nil {
			return misuse(c, "%w", err)
		}
		notice, err := work.Interruptible(func() (string, error) { return names.Lines(set.Notice(), set.ScaleNotice()), nil })
		if err != nil {
			return err
		}
		h := e.Header()
		h.Dataset = besideFile(h.Dataset, path)
		if err := writeFile(path, commented(path, e.WithHeader(h), set, c.Flags())); err != nil {
			return err
		}
		if notice != "" {
			fmt.Fprintln(c.ErrOrStderr(), notice)
		}
		fmt.Fprintf(c.OutOrStdout(), "%s: %v\ntrain it with helmholtz train --config %s --out %s\n", path, set, shell.Argument(path), shell.Argument("runs/"+nameOf(path)))
		return nil
	}
	return c
}

// openToTrain opens data as OpenSuggested does, unless flags or the file of --config say otherwise.
func openToTrain(c *cobra.Command, of dataset.Spec) (*dataset.Set, error) {
	if c.Flags().Changed("binarization") && of.Binarization == dataset.Fixed {
		return of.Open()
	}
	set, err := of.OpenSuggested()
	if err != nil {
		return nil, err
	}
	as := set.Spec()
	if c.Flags().Changed("standardize") {
		as.Standardize = of.Standardize
	}
	if !c.Flags().Changed("dataset") {
		as.Validation = of.Validation
	}
	if reflect.DeepEqual(as, set.Spec()) {
		return set, nil
	}
	return as.Open()
}

// besideFile returns of with its relative paths rewritten. They are then relative to the folder of the file
// at path instead of the working directory.
func besideFile(of dataset.Spec, path string) dataset.Spec {
	for _, name := range of.Paths() {
		if *name == "" || filepath.IsAbs(*name) {
			continue
		}
		file, err := filepath.Abs(*name)
		folder, failure := filepath.Abs(filepath.Dir(path))
		if err != nil || failure != nil {
			continue
		}
		if beside, err := filepath.Rel(folder, file); err == nil {
			*name = beside
		}
	}
	return of
}

func nameOf(path string) string {
	return strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
}

// commented returns the TOML of an experiment, with a comment on each setting: the help text of its flag.
func commented(path string, e runs.Experiment, set *dataset.Set, flags *pflag.FlagSet) []byte {
	flagOf := map[string]string{"dataset.name": "dataset", "dataset.seed": "data-seed", "start.run": "from", "start.checkpoint": "from-checkpoint"}
	for _, row := range e.Rows() {
		flagOf[row.Key] = row.Flag
	}
	meaning := func(table, key string) string {
		flag := strings.ReplaceAll(key, "_", "-")
		switch {
		case table+key == "dataset.rules":
			return "version of the rules by which the file is read"
		case table == "measure.":
			return "as " + flag + " of --measure"
		}
		return usageOf(flags.Lookup(cmp.Or(flagOf[table+key], flag)))
	}
	var b bytes.Buffer
	about := fmt.Sprintf("%v.\nTrained by: helmholtz train --config %s --out %s\nAn omitted setting has the default of the preset of [method], or no value.",
		set, shell.Argument(path), shell.Argument("runs/"+nameOf(path)))
	fmt.Fprintf(&b, "# %s\n\n", strings.ReplaceAll(names.Printable(about), "\n", "\n# "))
	table := ""
	for line := range strings.Lines(string(e.TOML())) {
		line = strings.TrimRight(line, "\n")
		text := strings.TrimSpace(line)
		key, _, isSetting := strings.Cut(text, " = ")
		switch {
		case isSetting:
			line += "  # " + meaning(table, key)
		case text == "[[measure]]":
			line += "  # " + usageOf(flags.Lookup("measure"))
			fallthrough
		case text != "":
			table = strings.Trim(text, "[]") + "."
		}
		b.WriteString(line + "\n")
	}
	return b.Bytes()
}

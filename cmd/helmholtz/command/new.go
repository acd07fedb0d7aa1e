package command

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
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
		e := described.(hm.Experiment)
		set, err := openToTrain(c, e.Dataset)
		if err != nil {
			return misuse(c, "%w", err)
		}
		if x.config == "" && !c.Flags().Changed("algorithm") && x.from.Run == "" {
			if e, err = x.suggested(c, set, given); err != nil {
				return err
			}
		} else {
			if m := &e.Machine; e.Dataset.Binarization != set.Spec().Binarization && len(m.Units)+len(m.Groups) == 0 { // openToTrain changed it
				like, _ := hm.Suggested(set)
				m.Units, m.Groups = like.Spec().Units, like.Spec().Groups
				fitUnits(m)
			}
			e.Dataset = set.Spec()
		}
		e.Fingerprint = "" // training sets this and Start.Parameters
		if e.Start != nil {
			e.Start.Parameters = ""
		}
		if err := e.Check(set); err != nil {
			return misuse(c, "%w", err)
		}
		if _, err := e.Resolve(set); err != nil { // reads the parameters that training starts from
			return misuse(c, "%w", err)
		}
		notice, err := work.Interruptible(func() (string, error) { return names.Lines(set.Notice(), set.ScaleNotice()), nil })
		if err != nil {
			return err
		}
		e.Dataset = besideFile(e.Dataset, path)
		if err := writeFile(path, commented(path, e, set, c.Flags())); err != nil {
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

// suggested returns the experiment that hm.Suggested proposes for a set, with the values of the given flags
// instead of its own.
func (x *draftFlags) suggested(c *cobra.Command, set *dataset.Set, given map[string][]string) (e hm.Experiment, err error) {
	machine, method := hm.Suggested(set)
	e = method.Experiment(machine, set)
	e.Fingerprint = ""
	if err := firstOf(x.Read(e.TOML()), handOn(c, given, c.Flags())); err != nil {
		return e, err
	}
	of, err := x.Experiment()
	if err != nil {
		return e, err
	}
	e = of.(hm.Experiment)
	e.Dataset = set.Spec()
	switch m := &e.Machine; {
	case c.Flags().Changed("units"):
	case len(m.Groups) > 0:
		m.Units = nil // the groups decide
	default:
		fitUnits(m)
	}
	return e, nil
}

// fitUnits gives each layer above the visible one Bernoulli units, unless the groups of columns decide.
func fitUnits(m *hm.MachineSpec) {
	if len(m.Units) > 0 {
		m.Units = append(m.Units[:1], make([]hm.Kind, len(m.Layers)+len(m.Convolutions))...)
	}
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
func commented(path string, e hm.Experiment, set *dataset.Set, flags *pflag.FlagSet) []byte {
	flagOf := map[string]string{"dataset.name": "dataset", "dataset.seed": "data-seed", "start.run": "from", "start.checkpoint": "from-checkpoint"}
	rows := runs.ByKey("method", &e.Method, e.Method.Hyperparameters())
	maps.Copy(rows, runs.ByKey("machine", &e.Machine, e.Machine.Hyperparameters()))
	meaning := func(table, key string) string {
		flag := strings.ReplaceAll(key, "_", "-")
		switch {
		case table+key == "dataset.rules":
			return "version of the rules by which the file is read"
		case table == "measure.":
			return "as " + flag + " of --measure"
		}
		return usageOf(flags.Lookup(cmp.Or(rows[table+key].Flag, flagOf[table+key], flag)))
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

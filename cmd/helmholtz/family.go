package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	_ "github.com/helmholtz-go/helmholtz/hm/deterministic" // the family deterministic
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// familyFlags are the flags of train that experiments of every family have.
var familyFlags = []string{"config", "out", "seeds", "seed", "epochs", "keep", "record-steps", "backend"}

// trainOtherFamily trains the experiment of the file of --config where it is of
// another family than the flags describe, and says whether it is.
func trainOtherFamily(c *cobra.Command, x *experimentFlags, seeds int, out string) (is bool, err error) {
	if x.config == "" {
		return false, nil
	}
	e, err := runs.ReadExperiment(x.config)
	if err != nil {
		return false, misuse(c, "%w", err)
	}
	switch e.(type) {
	case hm.Experiment:
		return false, nil
	case boltzmann.Experiment: // which flags describe, with an algorithm of its own
		return true, misuse(c, "%s is an experiment of another family, %v, which --algorithm %s does not train: leave one of them out", x.config, e, x.values.Method.Preset)
	}
	family, err := runs.FamilyOf(e.TOML())
	if err != nil {
		return true, err
	}
	var others []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains(familyFlags, f.Name) {
			others = append(others, "--"+f.Name)
		}
	})
	if len(others) > 0 {
		return true, misuse(c, "%s is an experiment of the family %s, whose settings flags do not change: write them into the file, and leave %s away (--%s can be given)",
			x.config, family, strings.Join(others, ", "), strings.Join(familyFlags[1:], ", --"))
	}
	h := e.Header()
	if c.Flags().Changed("seed") {
		h.Seed = x.values.Seed
	}
	if c.Flags().Changed("epochs") {
		h.Epochs = x.values.Epochs
	}
	if c.Flags().Changed("keep") {
		h.Keep = x.values.Keep
	}
	if c.Flags().Changed("record-steps") {
		h.RecordSteps = x.values.RecordSteps
	}
	if out == "" {
		out = usualDir(h.Dataset, family)
	}
	return true, train(c, e.WithHeader(h), seeds, out)
}

// usualDir is the directory of a run of a method on data where --out names none.
func usualDir(data dataset.Spec, method string) string {
	return filepath.Join("runs", strings.ReplaceAll(data.Name, string(filepath.Separator), "-")+"-"+method)
}

package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	_ "github.com/helmholtz-go/helmholtz/boltzmann/energies" // convolutional-rbm and other families
	_ "github.com/helmholtz-go/helmholtz/boltzmann/general"  // the family general-boltzmann
	_ "github.com/helmholtz-go/helmholtz/boltzmann/updown"   // the family updown
	"github.com/helmholtz-go/helmholtz/dataset"
	_ "github.com/helmholtz-go/helmholtz/factors"             // the families ppca, factor-analysis, ica and sparse-coding
	_ "github.com/helmholtz-go/helmholtz/factors/autoencoder" // the family autoencoder
	_ "github.com/helmholtz-go/helmholtz/hm/deterministic"    // the family deterministic
	"github.com/helmholtz-go/helmholtz/internal/file"
	"github.com/helmholtz-go/helmholtz/runs"
	_ "github.com/helmholtz-go/helmholtz/sequences" // the families rnn-rbm and temporal-belief
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// familyFlags are the flags of train and bench train that experiments of every family have.
var familyFlags = []string{"config", "out", "seeds", "workers", "seed", "epochs", "keep", "record-steps", "backend", noWait, tensorBoard, "steps", "json", "profile"}

func isFamilyFlag(f *pflag.Flag) bool { return slices.Contains(familyFlags, f.Name) }

// draftFlags are the flags that describe an experiment of a family, with one flag per setting of
// the family.
type draftFlags struct {
	*runs.Draft
	config, out string
	seeds       int
}

func newDraftFlags(f *pflag.FlagSet, family string) *draftFlags {
	x := &draftFlags{Draft: runs.NewDraft(family)}
	x.Dataset.Name = "glyphs"
	if strings.Contains(x.Data, "--binarization grey") { // the family refuses rounded values
		x.Dataset.Binarization = dataset.Gray
	}
	f.StringVar(&x.out, "out", "", "`DIR` of the run (default runs/DATASET-"+family+")")
	seedsFlags(f, &x.seeds)
	inGroup(f, "run", func(f *pflag.FlagSet) {
		f.StringVar(&x.config, "config", "", "TOML `file` of an experiment; flags change its settings")
		trainingFlags(f, &x.Epochs, &x.Patience, &x.RecordSteps, &x.Seed, &x.Keep)
	})
	dataFlags(f, &x.Dataset)
	hyperparameterFlags(f, x.Settings())
	return x
}

func newTrainFamily(family string) *cobra.Command {
	c := &cobra.Command{Use: family, Args: noArgs}
	c.Flags().SortFlags = false
	x := newDraftFlags(c.Flags(), family)
	noWaitFlag(c.Flags())
	tensorBoardFlag(c.Flags())
	c.Short = "Train " + x.Noun
	c.Long = fmt.Sprintf("Train %s (family %s) and keep the run in a directory. Flags describe the\nexperiment, or change the settings of a TOML file; helmholtz train --resume DIR\nresumes the run.", x.Noun, family)
	needed := " " + x.Data
	for _, row := range x.Settings() {
		if row.Run { // the run determines the data
			needed = ""
		}
		if row.Wrong() {
			value, _ := pflag.UnquoteUsage(c.Flags().Lookup(row.Flag))
			needed += fmt.Sprintf(" --%s %s", row.Flag, strings.ToUpper(value))
		}
	}
	c.Example = fmt.Sprintf("  helmholtz train %s%s --epochs 5 --out runs/%[1]s\n  helmholtz train %[1]s --config runs/%[1]s/experiment.toml --seeds 5 --out runs/%[1]s-seeds", family, needed)
	c.RunE = func(c *cobra.Command, _ []string) error {
		e, err := x.experiment(c, c.Flags())
		if err != nil {
			return err
		}
		return train(c, e, x.seeds, orUsual(x.out, e, family))
	}
	return c
}

// experiment returns the experiment that flags describe; f holds the command's own flags or flags
// derived from them.
func (x *draftFlags) experiment(c *cobra.Command, f *pflag.FlagSet) (runs.Experiment, error) {
	given := givenFlags(f)
	of := dataOf(f, x.Dataset)
	if x.config != "" {
		text, err := file.Read(x.config, file.Small)
		if err == nil {
			if err = x.Read(text); err != nil {
				err = fmt.Errorf("%s: %w", x.config, err)
			}
			x.Dataset = runs.DataOfFile(x.Dataset, x.config, text)
		}
		if err != nil {
			return nil, misuse(c, "%w", err)
		}
		of = x.Dataset
	}
	x.Dataset = of
	if err := handOn(c, given, f); err != nil {
		return nil, err
	}
	if err := settleData(c, &x.Dataset, of, &x.Fingerprint); err != nil {
		return nil, err
	}
	return x.Experiment(), refuseIdleHyperparameters(c, x.Settings())
}

// upDown returns the experiment of train --up-down. It fine-tunes the belief network of the run in
// a directory, by default on the data of that run.
func upDown(c *cobra.Command, dir string) (runs.Experiment, error) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	x := newDraftFlags(own, "updown")
	if err := own.Set("network", dir); err != nil {
		return nil, err
	}
	others := namesOf(c.Flags(), func(f *pflag.Flag) bool {
		return f.Name == "up-down" || f.Name != "config" && own.Lookup(f.Name) != nil
	})
	if len(others) > 0 {
		slices.Sort(others)
		return nil, misuse(c, "--up-down starts from a run and has no %s: omit it", strings.Join(others, ", "))
	}
	if err := handOn(c, givenFlags(c.Flags()), own); err != nil {
		return nil, err
	}
	return x.experiment(c, own)
}

// ofOtherFamily returns the experiment of --config, which does not belong to the family that the flags describe, with
// the settings that they can change, and the name of its family.
func ofOtherFamily(c *cobra.Command, e runs.Experiment, x *experimentFlags) (runs.Experiment, string, error) {
	family, err := runs.FamilyOf(e.TOML())
	if err != nil {
		return nil, "", err
	}
	if others := namesOf(c.Flags(), isFamilyFlag); len(others) > 0 {
		remedy := "write them into the file"
		if runs.NewDraft(family) != nil {
			remedy = fmt.Sprintf("give the flags of %s %s", c.CommandPath(), family)
		}
		can := slices.DeleteFunc(slices.Clone(familyFlags[1:]), func(name string) bool { return c.Flags().Lookup(name) == nil })
		return nil, "", misuse(c, "%s is an experiment of the family %s, and these flags do not change its settings: %s, and omit %s (--%s can be given)",
			x.config, family, remedy, strings.Join(others, ", "), strings.Join(can, ", --"))
	}
	h := e.Header()
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	trainingFlags(own, &h.Epochs, &h.Patience, &h.RecordSteps, &h.Seed, &h.Keep)
	err = handOn(c, givenFlags(c.Flags()), own)
	return e.WithHeader(h), family, err
}

// orUsual returns the directory that --out names or, if it is empty, the default directory for the
// data and the method.
func orUsual(out string, e runs.Experiment, method string) string {
	if out != "" {
		return out
	}
	return filepath.Join("runs", strings.ReplaceAll(e.Header().Dataset.Name, string(filepath.Separator), "-")+"-"+method)
}

// dataOf returns the data to train on if no file of --config names it: the value of --dataset or,
// if that flag is not given, the data of the run that another flag names.
func dataOf(f *pflag.FlagSet, usual dataset.Spec) dataset.Spec {
	if f.Changed("dataset") {
		return usual
	}
	f.Visit(func(flag *pflag.Flag) {
		if flag.Annotations[runOf] != nil {
			if e, err := runs.ExperimentIn(flag.Value.String()); err == nil { // a later read returns the error
				usual = e.Header().Dataset
			}
		}
	})
	return usual
}

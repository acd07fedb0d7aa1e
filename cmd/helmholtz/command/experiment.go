package command

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	_ "github.com/helmholtz-go/helmholtz/boltzmann/energies" // convolutional-rbm and other families
	_ "github.com/helmholtz-go/helmholtz/boltzmann/general"  // the family general-boltzmann
	_ "github.com/helmholtz-go/helmholtz/boltzmann/updown"   // the family updown
	"github.com/helmholtz-go/helmholtz/dataset"
	_ "github.com/helmholtz-go/helmholtz/factors"             // the families ppca, factor-analysis, ica and sparse-coding
	_ "github.com/helmholtz-go/helmholtz/factors/autoencoder" // the families adversarial and autoencoder
	_ "github.com/helmholtz-go/helmholtz/hm/deterministic"    // the family deterministic
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	_ "github.com/helmholtz-go/helmholtz/sequences" // the families rnn-rbm and temporal-belief
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// draftFlags are the flags that describe an experiment of a family, with one flag for each of its settings.
type draftFlags struct {
	*runs.Draft
	family, config string
	from           runs.Source
}

func newDraftFlags(f *pflag.FlagSet, family string) *draftFlags {
	x := &draftFlags{Draft: runs.NewDraft(family), family: family}
	x.Dataset.Name = "glyphs"
	if strings.Contains(x.Example, "--binarization grey") { // the family refuses rounded values
		x.Dataset.Binarization = dataset.Gray
	}
	inGroup(f, "run", func(f *pflag.FlagSet) {
		f.StringVar(&x.config, "config", "", "TOML `file` of an experiment; flags change its settings")
		f.IntVar(&x.Epochs, "epochs", x.Epochs, "passes over the training rows")
		f.IntVar(&x.Patience, "patience", x.Patience, "stop when the validation objective has not improved for this many `epochs` (0 never)")
		f.Uint64Var(&x.Seed, "seed", x.Seed, "`seed` of all random numbers of training")
		f.IntSliceVar(&x.Keep, "keep", x.Keep, "keep the checkpoints of these `epochs`")
		f.IntVar(&x.RecordSteps, "record-steps", x.RecordSteps, "record the measures of every `N`-th step, 0 for epochs only")
		if x.Start != nil {
			f.StringVar(&x.from.Run, "from", "", "start from the parameters of the run in `DIR` (fine-tuning), on its data unless --config or --dataset names other data")
			namesRun(f, "from")
			f.StringVar(&x.from.Checkpoint, "from-checkpoint", "", "`which` of its checkpoints: last, best, or the number of an epoch that it keeps (default last)")
		}
	})
	dataFlags(f, &x.Dataset)
	if x.Labels {
		inGroup(f, "data", func(f *pflag.FlagSet) {
			numberFlag(f, &x.Dataset.Labels, "labels", 0, 0, "keep the labels of `N` training rows, the same number per class, drawn from the data seed")
		})
	}
	hyperparameterFlags(f, x.Settings())
	return x
}

// experiment returns the experiment that the flags of a command describe. It prints which settings of the file of
// --config were replaced by a method's defaults.
func (x *draftFlags) experiment(c *cobra.Command) (runs.Experiment, error) {
	given := givenFlags(c.Flags())
	data := dataOf(c.Flags(), x.Dataset)
	var algorithm []string
	if x.Preset != nil {
		algorithm = given["algorithm"]
	}
	var inFile runs.Experiment
	if x.config != "" {
		var err error
		if inFile, err = x.read(c, algorithm); err != nil {
			return nil, misuse(c, "%w", err)
		}
		data = x.Dataset
	}
	x.Dataset = data
	if algorithm != nil && x.Preset(algorithm[0]) != nil {
		return nil, x.unknown(c, algorithm[0])
	}
	if err := firstOf(handOn(c, given, c.Flags()), x.started(c)); err != nil {
		return nil, err
	}
	if err := firstOf(refuseIdleHyperparameters(c, x.Settings()), settleData(c, &x.Dataset, data, &x.Fingerprint)); err != nil {
		return nil, err
	}
	e, err := x.Experiment()
	if err == nil {
		err = runs.CheckPreset(e)
	}
	if err != nil {
		return nil, misuse(c, "%w", err)
	}
	if inFile != nil && algorithm != nil {
		replaced := slices.DeleteFunc(runs.Differences(e, inFile), func(difference string) bool { return !strings.HasPrefix(difference, "method.") })
		if len(replaced) > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "--algorithm starts from the defaults of %s, not from %s: %s\n", algorithm[0], x.config, strings.Join(replaced, "; "))
		}
	}
	return e, nil
}

// read reads the file of --config and returns its experiment. algorithm is the value of --algorithm, or nil.
func (x *draftFlags) read(c *cobra.Command, algorithm []string) (runs.Experiment, error) {
	e, err := runs.ReadExperiment(x.config)
	if err != nil {
		return nil, err
	}
	if family, _ := runs.FamilyOf(e.TOML()); family != x.family {
		who := c.CommandPath()
		if algorithm != nil {
			who = "--algorithm " + algorithm[0]
		}
		return nil, fmt.Errorf("%s is an experiment of the family %s, and %s describes %s: omit --config, or give it to helmholtz train alone", x.config, family, who, x.Noun)
	}
	if err := x.Read(e.TOML()); err != nil {
		return nil, fmt.Errorf("%s: %w", x.config, err)
	}
	return x.Experiment()
}

// unknown returns the error for an algorithm that the family does not have.
func (x *draftFlags) unknown(c *cobra.Command, algorithm string) error {
	words := c.Flags().Lookup("algorithm").Annotations[wordsOf]
	if family := familyOf(algorithm); family != "" {
		return misuse(c, "--algorithm %s trains %s, and %s describes %s: use helmholtz train, or one of %s", algorithm, runs.NewDraft(family).Noun, c.CommandPath(), x.Noun, strings.Join(words, ", "))
	}
	path, families := c.Root().Name()+" train", runs.Families()
	if of := trainOf(c); of != nil {
		path = of.CommandPath()
	}
	switch meant := names.Closest(algorithm, slices.Concat(words, families)...); {
	case meant != "" && strings.EqualFold(meant, algorithm) && !slices.Contains(words, meant):
		return misuse(c, "%[1]s is a command, not a method: use %[2]s %[1]s", meant, path)
	case slices.Contains(families, meant):
		return misuse(c, "unknown method %q (did you mean the command %s %s?): use one of %s", algorithm, path, meant, strings.Join(words, ", "))
	}
	if meant := names.Meant(algorithm, words...); meant != "" {
		return misuse(c, "unknown method %q%s: use one of %s", algorithm, meant, strings.Join(words, ", "))
	}
	return misuse(c, "unknown method %q: use one of %s, or %s with the name of a family: %s", algorithm, strings.Join(words, ", "), path, strings.Join(families, ", "))
}

// familyOf returns the family that has an algorithm, or "" if none has.
func familyOf(algorithm string) string {
	all := runs.Families()
	i := slices.IndexFunc(all, func(family string) bool {
		x := runs.NewDraft(family)
		return x.Preset != nil && x.Preset(algorithm) == nil
	})
	if i < 0 {
		return ""
	}
	return all[i]
}

// started replaces the run from which training starts if the user sets --from or --from-checkpoint.
func (x *draftFlags) started(c *cobra.Command) error {
	switch {
	case c.Flags().Changed("from"):
		from, err := runs.ExperimentIn(x.from.Run) // a later read returns the error
		if err == nil {
			if family, _ := runs.FamilyOf(from.TOML()); family != x.family {
				return misuse(c, "--from %s is a run of another family, %v: describe its machine with --config %s", x.from.Run, from, shell.Argument(filepath.Join(x.from.Run, "experiment.toml")))
			}
		}
		*x.Start = &x.from
	case !c.Flags().Changed("from-checkpoint"):
	case *x.Start == nil:
		return misuse(c, "--from-checkpoint has no effect without --from: name the run of the checkpoint, or omit it")
	default:
		*x.Start = &runs.Source{Run: (*x.Start).Run, Checkpoint: x.from.Checkpoint}
	}
	return nil
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

func dataFlags(f *pflag.FlagSet, data *dataset.Spec) {
	inGroup(f, "data", func(f *pflag.FlagSet) {
		f.StringVar(&data.Name, "dataset", data.Name, "data set: a `name` that \"data list\" shows, or a file's path")
		readingFlags(f, data)
		validation := 0
		parsedFlag(f, &validation, "validation", "int", "set `N` rows aside for validation (default: the data set's own split, or a tenth of the rows of a file)", func(text string) (int, error) {
			n, err := wholeNumber(text, 0, false)
			if err == nil {
				data.Validation = &n
			}
			return n, err
		})
		numberFlag(f, &data.Subset, "subset", 0, 0, "train on `N` rows drawn from the data seed, 0 for all")
		f.Uint64Var(&data.Seed, "data-seed", 0, "`seed` that selects the rows for validation and the rows kept")
	})
}

// readingFlags adds the flags that describe how to read the user's files.
func readingFlags(f *pflag.FlagSet, data *dataset.Spec) {
	f.StringVar(&data.Test, "test", "", "`file` of test rows, if the data set is a file")
	f.StringVar(&data.LabelFile, "label-file", "", "`file` with the class of each row, if the data set is a file")
	f.StringVar(&data.TestLabelFile, "test-label-file", "", "`file` with the class of each row of --test")
	f.StringVar(&data.WeightFile, "weight-file", "", "`file` with the weight of each training row, if the data set is a file: how often training visits it")
	numberFlag(f, &data.FirstLabel, "first-label", 0, 0, "`number` of the first class in a file, for example 1 if classes are numbered from 1")
	f.StringVar(&data.Columns, "columns", "", "`kinds` of table columns, NAME=KIND,...: binary, categorical, real, real:N in N ranges, log (real, by its logarithm), label, identifier or skip (default: inferred)")
	f.StringVar(&data.Schema, "schema", "", "`file` that declares the columns of a table, which \"data show --write-schema\" writes")
	f.StringVar(&data.Header, "header", "", "whether the first line of a table has the names of the columns: yes or no (default: inferred)")
	takes(f, "header", "yes", "no")
	f.StringVar(&data.Decimal, "decimal", "", "`character` before the decimals of numbers in text, . or , (default: inferred)")
	f.StringVar(&data.Shape, "shape", "", "height and width of the images in a file of rows × units, such as `28x28`")
	f.Float64Var(&data.Largest, "largest", 0, "`value` in the file that stands for 1 (default: 255 or 1)")
	f.StringArrayVar((*[]string)(&data.Missing), "missing", nil, "`code` of a missing value, in addition to NaN, and in tables empty fields, ?, NA, None, null and the like; may be repeated")
	f.BoolVar(&data.Gaps, "gaps", false, "keep rows with missing values, for a model that learns from rows with gaps, instead of refusing them")
	textFlag(f, &data.Binarization, "binarization", "`how` grey values become binary: once by rounding (fixed) or at random (drawn), at random in each step (stochastic), or never (grey, or real for the unchanged numbers of a file, for gaussian units)")
	f.BoolVar(&data.Standardize, "standardize", false, "subtract the mean of each real column over the training rows, and divide by its standard deviation; written samples have the file's numbers again")
}

// settleData clears the fingerprint if the data differs from the data in the file of --config. It
// splits the user's file given by --dataset as OpenNew does, and refuses a file of test rows that is
// also the training file.
func settleData(c *cobra.Command, of *dataset.Spec, file dataset.Spec, fingerprint *string) error {
	if c.Flags().Changed("dataset") && of.IsFile() {
		set, err := of.OpenNew()
		if err == nil {
			*of = set.Spec()
		} else if _, failure := of.Open(); failure == nil { // else the error is reported when the data are read
			return misuse(c, "with validation rows held out: %w", err)
		}
	}
	if !reflect.DeepEqual(*of, file) {
		*fingerprint = ""
	}
	train, err := os.Stat(of.Name)
	test, failure := os.Stat(of.Test)
	if err == nil && failure == nil && os.SameFile(train, test) {
		return misuse(c, "--test %s is also the file of the training rows: give a file of rows that training does not use, or none", of.Test)
	}
	return nil // a missing file is reported when it is read
}

func givenFlags(f *pflag.FlagSet) map[string][]string {
	given := map[string][]string{}
	f.VisitAll(func(f *pflag.Flag) {
		if list, ok := f.Value.(pflag.SliceValue); ok && f.Changed {
			given[f.Name] = list.GetSlice()
		} else if f.Changed {
			given[f.Name] = []string{f.Value.String()}
		}
	})
	return given
}

// handOn copies the values of given flags, as givenFlags returns them, to the flags with the same
// names.
func handOn(c *cobra.Command, given map[string][]string, to *pflag.FlagSet) (err error) {
	for name, values := range given {
		flag := to.Lookup(name)
		if flag == nil {
			continue
		}
		flag.Changed = true
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			err = list.Replace(values)
		} else {
			err = flag.Value.Set(values[0])
		}
		if err != nil {
			return misuse(c, "--%s: %w", name, err)
		}
	}
	return nil
}

package command

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/internal/shell"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

type experimentFlags struct {
	config  string
	measure []string
	start   runs.Source
	// values holds first the flags' defaults and then their values.
	values hm.Experiment
}

func newExperimentFlags(f *pflag.FlagSet) *experimentFlags {
	x := &experimentFlags{values: hm.Experiment{
		Data:    runs.Data{Dataset: dataset.Spec{Name: "glyphs"}},
		Machine: hm.New(dataset.Shape{}).Dense(100, 50, 20).Spec(),
		Method:  hm.NRWS().Spec(),
		Budget:  runs.Budget{Epochs: 20, Seed: 1},
	}}
	e := &x.values
	inGroup(f, "run", func(f *pflag.FlagSet) {
		f.StringVar(&x.config, "config", "", "TOML `file` of an experiment; flags change its settings")
		trainingFlags(f, &e.Epochs, &e.Patience, &e.RecordSteps, &e.Seed, &e.Keep)
		f.StringVar(&x.start.Run, "from", "", "start from the parameters of the run in `DIR` (fine-tuning), on its data unless --config or --dataset names other data")
		namesRun(f, "from")
		f.StringVar(&x.start.Checkpoint, "from-checkpoint", "", "`which` of its checkpoints: last, best, or the number of an epoch that it keeps (default last)")
		f.StringArrayVar(&x.measure, "measure", nil, "measure likelihoods during training: `WHAT` is a list of every=EPOCHS, split=test, rows=N, samples=K, log-z2=N, log-z2-inner=N, name=NAME; may be repeated")
	})
	dataFlags(f, &e.Dataset)
	inGroup(f, "data", func(f *pflag.FlagSet) {
		numberFlag(f, &e.Dataset.Labels, "labels", 0, 0, "keep the labels of `N` training rows, the same number per class, drawn from the data seed")
	})
	hyperparameterFlags(f, e.Machine.Hyperparameters())
	hyperparameterFlags(f, e.Method.Hyperparameters())
	takes(f, "algorithm", hm.Presets()...)
	return x
}

func dataFlags(f *pflag.FlagSet, data *dataset.Spec) {
	inGroup(f, "data", func(f *pflag.FlagSet) {
		f.StringVar(&data.Name, "dataset", data.Name, "data set: a `name` that \"data list\" shows, or a file's path")
		readingFlags(f, data)
		validation := 0
		show := func() string { return strconv.Itoa(validation) }
		f.Var(&value{show, "int", func(text string) error {
			n, err := wholeNumber(text, 0, false)
			if err == nil {
				validation, data.Validation = n, &n
			}
			return err
		}}, "validation", "set `N` rows aside for validation (default: the data set's own split, or a tenth of the rows of a file)")
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
	f.StringVar(&data.Missing, "missing", "", "`code` of a missing value, in addition to NaN, and in tables empty fields, ?, NA, None, null and the like")
	textFlag(f, &data.Binarization, "binarization", "`how` grey values become binary: once by rounding (fixed) or at random (drawn), at random in each step (stochastic), or never (grey, or real for the unchanged numbers of a file, for gaussian units)")
	f.BoolVar(&data.Standardize, "standardize", false, "subtract the mean of each real column over the training rows, and divide by its standard deviation; written samples have the file's numbers again")
}

func trainingFlags(f *pflag.FlagSet, epochs, patience, recordSteps *int, seed *uint64, keep *[]int) {
	f.IntVar(epochs, "epochs", *epochs, "passes over the training rows")
	f.IntVar(patience, "patience", *patience, "stop when the validation objective has not improved for this many `epochs` (0 never)")
	f.Uint64Var(seed, "seed", *seed, "`seed` of all random numbers of training")
	f.IntSliceVar(keep, "keep", *keep, "keep the checkpoints of these `epochs`")
	f.IntVar(recordSteps, "record-steps", *recordSteps, "record the measures of every `N`-th step, 0 for epochs only")
}

// started returns the run from which e starts. It is of, the run that the file of --config names,
// unless the user sets --from or --from-checkpoint. given holds the values of these two flags.
func started(c *cobra.Command, e runs.Experiment, of *runs.Source, given runs.Source) (*runs.Source, error) {
	if c.Flags().Changed("from") {
		from, err := runs.ExperimentIn(given.Run) // a later read returns the error
		if err == nil && !runs.SameFamily(from, e) {
			return nil, misuse(c, "--from %s is a run of another family, %v: describe its machine with --config %s", given.Run, from, shell.Argument(filepath.Join(given.Run, "experiment.toml")))
		}
		return &given, nil
	}
	if !c.Flags().Changed("from-checkpoint") {
		return of, nil
	}
	if of == nil {
		return nil, misuse(c, "--from-checkpoint has no effect without --from: name the run of the checkpoint, or omit it")
	}
	return &runs.Source{Run: of.Run, Checkpoint: given.Checkpoint}, nil
}

// experiment returns the experiment that the flags describe. It prints which settings of the file
// were replaced by a method's defaults.
func (x *experimentFlags) experiment(c *cobra.Command) (e hm.Experiment, err error) {
	methodGiven, given := c.Flags().Changed("algorithm"), givenFlags(c.Flags())
	var file hm.Experiment
	method := x.values.Method.Preset
	if x.config == "" {
		x.values.Dataset = dataOf(c.Flags(), x.values.Dataset)
	} else if file, err = hm.ReadExperiment(x.config); err == nil {
		x.values = file // the flags point to it
	}
	if err == nil && (x.config == "" || methodGiven) {
		var preset hm.Method
		if preset, err = hm.Preset(method); err != nil {
			switch ofBoltzmann := new(boltzmann.Algorithm).UnmarshalText([]byte(method)) == nil; {
			case ofBoltzmann:
				err = fmt.Errorf("--algorithm %s trains a Boltzmann machine, and %s is for Helmholtz machines: use helmholtz train, or one of %s", method, c.CommandPath(), strings.Join(hm.Presets(), ", "))
			case c.Flags().Lookup("pretrain") != nil: // train
				err = fmt.Errorf("%w, or, for a Boltzmann machine, of cd, pcd, pt, pl, ptt", err)
			}
		}
		x.values.Method = preset.Spec()
	}
	if err != nil {
		return e, misuse(c, "%w", err)
	}
	if err := x.handOn(c, given); err != nil {
		return e, err
	}
	if x.values.Start, err = started(c, x.values, x.values.Start, x.start); err != nil {
		return e, err
	}
	if err := refuseIdleHyperparameters(c, slices.Concat(x.values.Method.Hyperparameters(), x.values.Machine.Hyperparameters())); err != nil {
		return e, err
	}
	if err := settleData(c, &x.values.Dataset, file.Dataset, &x.values.Fingerprint); err != nil {
		return e, err
	}
	if err := runs.CheckPreset(x.values); err != nil {
		return e, misuse(c, "%w", err)
	}
	if x.config != "" && methodGiven {
		explainDefaults(c, x.values.Method.Preset, x.config, file, x.values)
	}
	return x.values, nil
}

// handOn copies the values of given flags, as givenFlags returns them, to the experiment.
func (x *experimentFlags) handOn(c *cobra.Command, given map[string][]string) error {
	if err := handOn(c, given, c.Flags()); err != nil || len(x.measure) == 0 {
		return err
	}
	x.values.Measurements = nil
	for _, text := range x.measure {
		one, err := hm.ParseMeasurement(text)
		if err != nil {
			return misuse(c, "--measure=%s: %w", text, err)
		}
		x.values.Measurements = append(x.values.Measurements, one)
	}
	return nil
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

// explainDefaults prints which settings of the method in a file were replaced by flags and by the
// defaults of the method that --algorithm names.
func explainDefaults(c *cobra.Command, method, path string, file, to runs.Experiment) {
	replaced := slices.DeleteFunc(runs.Differences(to, file), func(difference string) bool { return !strings.HasPrefix(difference, "method.") })
	if len(replaced) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "--algorithm starts from the defaults of %s, not from %s: %s\n", method, path, strings.Join(replaced, "; "))
	}
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

// namesOf returns the names of the given flags, with dashes. It omits flags for which but returns
// true.
func namesOf(given *pflag.FlagSet, but func(*pflag.Flag) bool) (all []string) {
	given.Visit(func(f *pflag.Flag) {
		if !but(f) {
			all = append(all, "--"+f.Name)
		}
	})
	return all
}

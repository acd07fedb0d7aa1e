package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/BurntSushi/toml"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/file"
)

// Kind describes the runs of one type of experiment and the models that they train. A family that
// implements Experiment itself declares a Kind; a Family creates its own.
type Kind[E Experiment, M any] struct {
	Name  string // value of the key family in its experiment files
	Noun  string // name of a model in messages, such as "a Boltzmann machine"
	Parse func(text []byte) (E, error)
	// Model returns the model of a snapshot of an experiment.
	Model func(E, Snapshot) (M, error)
	// Draft returns the default experiment, as flags change it. Optional: without it, flags change only the settings
	// that all families share.
	Draft func() *Draft
}

// Registered registers the family of the kind, and returns the kind. It panics if the name is
// taken.
func (k Kind[E, M]) Registered() Kind[E, M] {
	if k.Draft == nil {
		k.Draft = k.fromFile
	}
	families.Lock()
	defer families.Unlock()
	if _, taken := families.all[k.Name]; taken {
		panic("runs: the family " + k.Name + " is registered twice")
	}
	families.all[k.Name] = Kind[Experiment, any]{
		Noun: k.Noun, Draft: k.Draft,
		Parse: func(text []byte) (Experiment, error) { return k.Parse(text) },
		Model: func(e Experiment, s Snapshot) (any, error) {
			of, is := e.(E)
			if !is {
				return nil, fmt.Errorf("%v is not an experiment of the family %s", e, k.Name)
			}
			return k.Model(of, s)
		},
	}
	return k
}

// fromFile returns a draft of the experiment of a file.
func (k Kind[E, M]) fromFile() *Draft {
	var e Experiment
	base := &Base{}
	return &Draft{
		Example: "--config FILE", Data: &base.Data, Budget: &base.Budget, Settings: func() []Hyperparameter { return nil },
		Read: func(text []byte) error {
			of, err := k.Parse(text)
			if err == nil {
				e, *base = of, of.Header().Base
			}
			return err
		},
		Experiment: func() (Experiment, error) {
			if e == nil {
				return nil, errors.New("flags do not describe an experiment of the family " + k.Name + ": give its file with --config")
			}
			return e.WithHeader(Header{*base, e.Header().BatchSize}), nil
		},
	}
}

// Train trains an experiment like the function Train, and returns the run with the model of the last
// checkpoint.
func (k Kind[E, M]) Train(ctx context.Context, e E, set *dataset.Set, dir string, recorders ...Recorder) (*Typed[E, M], error) {
	return k.Opened(Train(ctx, e, set, dir, recorders...))
}

// Open opens the run in a directory, finished or not, with the model of the last checkpoint.
func (k Kind[E, M]) Open(dir string) (*Typed[E, M], error) { return k.Opened(Open(dir)) }

// Opened takes the results of Train or Open, adds the model of the last checkpoint, and returns the run
// together with failure. It returns nil if run is nil, and nil with another error if the run belongs to
// another family or its model cannot be read.
func (k Kind[E, M]) Opened(run *Run, failure error) (*Typed[E, M], error) {
	if run == nil {
		return nil, failure
	}
	e, is := run.experiment.(E)
	if !is {
		return nil, fmt.Errorf("%s is a run of %v, not of %s: open it with the package of its family", run.dir, run.experiment, k.Noun)
	}
	last, err := k.Model(e, run.snapshot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy", filepath.Join(run.dir, checkpointFile), err)
	}
	return &Typed[E, M]{run, e, last, k}, failure
}

// LoadModel reads a model file that Run.SaveModel wrote. If r is a file, errors name it.
func (k Kind[E, M]) LoadModel(r io.Reader) (m M, err error) {
	defer func() {
		if file, ok := r.(*os.File); ok && err != nil {
			err = fmt.Errorf("%s: %w: restore the file from a copy, or save the model again", file.Name(), err)
		}
	}()
	family, s, _, err := readModel(r)
	if err != nil {
		return m, err
	}
	e, is := family.(E)
	if !is {
		return m, fmt.Errorf("the model is of %v, not of %s: load it with the package of its family", family, k.Noun)
	}
	return k.Model(e, s)
}

// ModelOf returns the model of a snapshot of an experiment of any family. Test it for capabilities
// such as Sampler.
func ModelOf(e Experiment, s Snapshot) (any, error) {
	of, err := registered(familyName(e))
	if err != nil {
		return nil, err
	}
	return of.Model(e, s)
}

// DecodeExperiment reads the text of a family's experiment file. Settings that the file omits have the values that usual
// returns, given the settings of the file on which these values depend. DecodeExperiment refuses unknown settings, numbers that
// are not finite, and seeds that do not fit into TOML's integers.
func DecodeExperiment[N any, E Experiment](text []byte, family string, usual func(named N) (E, error)) (e E, err error) {
	var named N
	if _, err := decodeTOML(text, &named); err != nil {
		return e, err
	}
	if e, err = usual(named); err != nil {
		return e, err
	}
	if err := decodeFamily(text, family, &e); err != nil {
		return e, err
	}
	if data, is := any(&e).(interface{ openedBefore() }); is {
		data.openedBefore()
	}
	return e, checkSettings(e)
}

// decodeFamily reads the text of a family's experiment file into a struct of settings, to which into points.
func decodeFamily(text []byte, family string, into any) error {
	if is, err := FamilyOf(text); err != nil {
		return err
	} else if is != family {
		return fmt.Errorf("family = %q is not an experiment of this package: write family = %q, or read the file with runs.ParseExperiment", is, family)
	}
	return DecodeTOML(text, into)
}

// EncodeExperiment writes the settings of a family's experiment in the form that DecodeExperiment reads.
// It panics if a setting's value has no name, which Experiment.Check refuses.
func EncodeExperiment(family string, settings any) []byte {
	text, err := toml.Marshal(settings)
	if err != nil {
		panic(err)
	}
	if family == eldest {
		return text
	}
	return append(fmt.Appendf(nil, "family = %q\n", family), text...)
}

// Typed is a run whose experiment has type E and whose models have type M. A family can embed it in a
// type for its runs.
type Typed[E Experiment, M any] struct {
	*Run
	experiment E
	last       M
	kind       Kind[E, M]
}

// Model returns the model of the last checkpoint.
func (t *Typed[E, M]) Model() M { return t.last }

// Experiment returns the experiment of the run.
func (t *Typed[E, M]) Experiment() E { return t.experiment }

// Best returns the model of the epoch with the best objective on the validation rows.
func (t *Typed[E, M]) Best() (M, error) { return t.of(t.Run.Best()) }

// At returns the model after an epoch whose checkpoint the experiment keeps, or after the last
// epoch.
func (t *Typed[E, M]) At(epoch int) (M, error) { return t.of(t.Run.At(epoch)) }

// Checkpoint returns the model of a named checkpoint: last, best, or the number of an epoch.
func (t *Typed[E, M]) Checkpoint(name string) (M, error) { return t.of(t.Run.Checkpoint(name)) }

func (t *Typed[E, M]) of(s Snapshot, err error) (model M, _ error) {
	if err != nil {
		return model, err
	}
	if model, err = t.kind.Model(t.experiment, s); err != nil {
		return model, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", t.dir, err)
	}
	return model, nil
}

// SaveModel writes the model of the last checkpoint together with its experiment and the schema of its data. LoadModel of the
// family's package reads the file without the run.
func (r *Run) SaveModel(w io.Writer) error {
	texts := map[string]string{experimentKey: string(r.experiment.TOML())}
	if schema, err := file.Read(r.path(schemaFile), longestSchema); err == nil {
		texts[schemaKey] = string(schema)
	}
	b, err := marshal(r.snapshot, texts)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Draft is an experiment with settings that flags can change. Settings returns descriptions of the
// settings with pointers to them.
//
// Fields marked optional may be nil or zero.
type Draft struct {
	Noun string // name of a model in messages; NewDraft sets it
	// Example has the data flags for the examples in the help; optional, default --dataset 3by3.
	Example string
	*Data
	*Budget
	Settings   func() []Hyperparameter    // descriptions of the current settings
	Experiment func() (Experiment, error) // experiment with the current settings
	// Read replaces all settings by those in the text of an experiment file of the family.
	Read func(text []byte) error
	// Preset replaces the settings of the method by the defaults of the method that the flag algorithm names. Optional.
	Preset func(algorithm string) error
	Start  **Source // run whose parameters training starts from; optional
	Labels bool     // whether training uses the labels of some rows only
	// Suggest chooses the kinds of units that suit a set, if no setting names them, and with all the other settings,
	// too. Optional: the command new uses it.
	Suggest func(set *dataset.Set, all bool)
	// Jobs returns the trainings that the settings ask for, in order, in a directory. Optional: by default, training is
	// one run.
	Jobs func(dir string) ([]Job, error)
}

// NewDraft returns a draft of a family's default experiment, or nil if the family is not part of this program.
func NewDraft(family string) *Draft {
	of, err := registered(family)
	if err != nil {
		return nil
	}
	d := of.Draft()
	d.Noun, d.Example = of.Noun, cmp.Or(d.Example, "--dataset 3by3")
	return d
}

// Families returns the names of the families in this program, sorted.
func Families() []string {
	families.RLock()
	defer families.RUnlock()
	return slices.Sorted(maps.Keys(families.all))
}

func (f *Family[S, M]) draft() *Draft {
	e := f.Empty()
	return &Draft{
		Example: f.Data, Data: &e.Data, Budget: &e.Budget, Settings: e.rows,
		Experiment: func() (Experiment, error) { return e, nil },
		Read: func(text []byte) (err error) {
			e, err = f.Parse(text)
			return err
		},
	}
}

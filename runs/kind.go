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

	"github.com/helmholtz-go/helmholtz/dataset"
)

// Kind describes the runs of one type of experiment and the models that they train. A family that
// implements Experiment itself has a Kind; a Family makes its own.
type Kind[E Experiment, M any] struct {
	Name  string // the key family of its experiment files
	Noun  string // names a model in messages, such as "a Boltzmann machine"
	Parse func(text []byte) (E, error)
	// Model returns the model of a snapshot of an experiment.
	Model func(E, Snapshot) (M, error)
}

// Registered registers the family of the kind, and returns the kind. It panics if the name is taken.
func (k Kind[E, M]) Registered() Kind[E, M] {
	register(k.Name, k.entry())
	return k
}

func (k Kind[E, M]) entry() entry {
	return entry{
		noun:  k.Noun,
		parse: func(text []byte) (Experiment, error) { return k.Parse(text) },
		model: func(e Experiment, s Snapshot) (any, error) {
			of, is := e.(E)
			if !is {
				return nil, fmt.Errorf("%v is not an experiment of the family %s", e, k.Name)
			}
			return k.Model(of, s)
		},
	}
}

// Train trains an experiment as the function Train does, and returns its run with the model of the
// last checkpoint.
func (k Kind[E, M]) Train(ctx context.Context, e E, set *dataset.Set, dir string, recorders ...Recorder) (*Typed[E, M], error) {
	return k.Opened(Train(ctx, e, set, dir, recorders...))
}

// Open opens the run in a directory, finished or not, with the model of the last checkpoint.
func (k Kind[E, M]) Open(dir string) (*Typed[E, M], error) { return k.Opened(Open(dir)) }

// Opened adds the model of the last checkpoint to what Train or Open of this package returned. It
// returns nil if there is no run, and the run beside the error if there are both.
func (k Kind[E, M]) Opened(run *Run, failure error) (*Typed[E, M], error) {
	if run == nil {
		return nil, failure
	}
	e, is := run.experiment.(E)
	if !is {
		return nil, fmt.Errorf("%s is a run of %v, not of %s: open it by the package of its family", run.dir, run.experiment, k.Noun)
	}
	last, err := k.Model(e, run.snapshot)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: restore the file from a copy", filepath.Join(run.dir, checkpointFile), err)
	}
	return &Typed[E, M]{run, e, last, k}, failure
}

// LoadModel reads a model file, which SaveModel of a run wrote. Its errors name the file, if r is one.
func (k Kind[E, M]) LoadModel(r io.Reader) (m M, err error) {
	defer func() {
		if file, ok := r.(*os.File); ok && err != nil {
			err = fmt.Errorf("%s: %w: restore the file from a copy, or save the model again", file.Name(), err)
		}
	}()
	family, s, err := ReadModel(r)
	if err != nil {
		return m, err
	}
	e, is := family.(E)
	if !is {
		return m, fmt.Errorf("a model of %v, not of %s: load it by the package of its family", family, k.Noun)
	}
	return k.Model(e, s)
}

// ErrNoModels is the error of ModelOf of a family that has no models outside of training.
var ErrNoModels = errors.New("it has no models outside of training")

// ModelOf returns the model of a snapshot of an experiment of any family, to be asked for what it
// can do: a Sampler, for one.
func ModelOf(e Experiment, s Snapshot) (any, error) {
	name := familyName(e)
	of, err := registered(name)
	if err != nil {
		return nil, err
	}
	if of.model == nil {
		return nil, fmt.Errorf("the family %s: %w", name, ErrNoModels)
	}
	return of.model(e, s)
}

// DecodeExperiment reads the text of an experiment file of a family into a pointer to a struct of its
// settings. It leaves settings that the file does not give, and refuses unknown ones.
func DecodeExperiment(text []byte, family string, into any) error {
	var named struct{ Family string }
	if _, err := DecodeTOML(text, &named); err != nil {
		return err
	}
	if cmp.Or(named.Family, eldest) != family {
		return fmt.Errorf("family = %q is not an experiment of this package: give family = %q, or read it by runs.ParseExperiment", named.Family, family)
	}
	meta, err := DecodeTOML(text, into)
	if err != nil {
		return err
	}
	return CheckDecoded(meta, into)
}

// EncodeExperiment writes the settings of an experiment of a family as DecodeExperiment reads them.
// It panics if a setting has no name, which Check of an experiment refuses.
func EncodeExperiment(family string, settings any) []byte {
	return append(fmt.Appendf(nil, "family = %q\n", family), EncodeTOML(settings)...)
}

// Typed is a run of experiments of one type, with models of one type. A family embeds it in its
// own type of run, beside the model of the last checkpoint.
type Typed[E Experiment, M any] struct {
	*Run
	experiment E
	last       M
	kind       Kind[E, M]
}

// Model returns the model of the last checkpoint.
func (t *Typed[E, M]) Model() M { return t.last }

// Experiment is what the run trains.
func (t *Typed[E, M]) Experiment() E { return t.experiment }

// Best is the model of the epoch with the best validation measure.
func (t *Typed[E, M]) Best() (M, error) { return t.of(t.Run.Best()) }

// At is the model after an epoch whose checkpoint the experiment keeps, or after the last.
func (t *Typed[E, M]) At(epoch int) (M, error) { return t.of(t.Run.At(epoch)) }

// Checkpoint is the model of a checkpoint by its name: last, best, or the number of an epoch.
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

// SaveModel writes the model of the last checkpoint, with the experiment that it comes from: a
// file that LoadModel of its family's package reads anywhere.
func (r *Run) SaveModel(w io.Writer) error {
	b, err := MarshalModel(r.experiment, r.snapshot)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Draft is an experiment in the making, whose family describes its settings as rows: flags point into
// it.
type Draft struct {
	Family string
	Noun   string
	Data   string // flags for data in the examples of help
	*Base
	Settings   func() []Hyperparameter // the rows, as the settings are now
	Experiment func() Experiment       // with the settings as they are now
	// Read takes all settings from the text of an experiment file of the family.
	Read func(text []byte) error
}

// NewDraft returns a draft of the usual experiment of a family. It is nil if the family does not
// describe its settings as rows, or is no part of this program.
func NewDraft(family string) *Draft {
	of, err := registered(family)
	if err != nil || of.draft == nil {
		return nil
	}
	return of.draft()
}

// Families returns the names of the families that this program has, in their order.
func Families() []string {
	families.RLock()
	defer families.RUnlock()
	return slices.Sorted(maps.Keys(families.all))
}

func (f *Family[S, M]) draft() *Draft {
	e := f.Empty()
	return &Draft{
		Family: f.Name, Noun: f.Noun, Data: cmp.Or(f.Data, "--dataset 3by3"), Base: &e.Base, Settings: e.rows,
		Experiment: func() Experiment { return e },
		Read: func(text []byte) (err error) {
			e, err = f.Parse(text)
			return err
		},
	}
}

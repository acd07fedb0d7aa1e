package runs

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/helmholtz-go/helmholtz/dataset"
)

// The interfaces below are what a model or an experiment of any family may be able to do. Programs
// ask the model that ModelOf returns, or the experiment, and do without what it lacks.

// An Estimator is a model whose measures are estimated on rows.
type Estimator interface {
	// Estimate estimates measures by their keys on rows, with a number of samples a row, or of
	// chains, drawn by seed. progress, which may be nil, is called with the fraction of the work
	// done.
	Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (Estimates, error)
}

// A Sampler is a model that draws images.
type Sampler interface {
	// Drawings lists the kinds of images that the model draws, the usual kind first.
	Drawings() []Drawing
}

// Drawing is a kind of images that a model draws.
type Drawing struct {
	// Kind is means (expected values), draws, reconstructions (of rows), layers or filters.
	Kind string
	// Uses lists the options that the images depend on: gibbs (sweeps of chains), candidates, inner
	// and retain (of chains), split (rows) and seed.
	Uses []string
	// Sweeps is the number of sweeps to suggest if chains start anywhere, and 0 if none are needed.
	Sweeps int
	// Columns says that the sheets are columns of a figure, whose rows belong together.
	Columns bool
	Draw    func(ctx context.Context, s Sampling) ([]dataset.Sheet, error)
}

// Sampling says what a Drawing draws.
type Sampling struct {
	N        int // number of images
	Chain    Chain
	Rows     dataset.Split // to reconstruct, a number N of them
	Seed     uint64
	Progress func(float64) // is called with the fraction of the work done; may be nil
}

// Sheet returns images of the only sheet of a Drawing, as its Draw does.
func Sheet(s dataset.Sheet, err error) ([]dataset.Sheet, error) { return []dataset.Sheet{s}, err }

// Chain says how Markov chains go. A sweep draws each unit or layer in turn, given all others.
type Chain struct {
	Sweeps int // 0 returns where the chains start
	// The others are of models whose sweeps draw a layer by picking one of K candidates by its
	// importance weight (BiHM thesis 2016, Algorithm 2).
	Candidates int // K of each layer; 0 stands for 100
	// Inner is the number of samples h ~ q(h|x) from which p̃*(x) of each
	// candidate for x is estimated; 0 stands for 10. The estimate of √p̃*(x)
	// has no bias: it is K that has to be large.
	Inner int
	// Retain makes the state before one of the K candidates. Without it, as
	// Algorithm 2 has it, chains settle at a distribution whose distance from
	// p* falls as 1/K; with it they settle at p* itself, but move less.
	Retain bool
}

// An Inpainter is a model that fills in parts of images.
type Inpainter interface {
	// Inpainting says how the model fills in what a mask hides.
	Inpainting() Inpainting
}

// Inpainting is how a model fills in what a mask hides of each row, by a number of chains a row.
type Inpainting struct {
	Uses []string // the options of chains that are not in vain, of candidates, inner and retain
	Fill func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error)
}

// A Saver is a model that writes a model file without what only training needs.
type Saver interface {
	Save(w io.Writer) error
}

// An Evaluator is a model of which there is more to say on rows than an Estimator does.
type Evaluator interface {
	// Evaluations says how the model is evaluated.
	Evaluations() Evaluations
}

// A RowEvaluator is a model that has log p of each row, or an estimate or a bound.
type RowEvaluator interface {
	// LogPOfRows returns log p of each of the Rows of the options in nats, and says what it is, such as
	// "exact". It uses the options that Evaluations says are used, of a set whose rows are read alike.
	LogPOfRows(ctx context.Context, o EvaluationOptions) (logP []float64, what string, err error)
}

// A Measurer is an Experiment that says how much memory its training takes.
type Measurer interface {
	Experiment
	// Memory returns the bytes that training on set takes.
	Memory(set *dataset.Set) (int64, error)
}

// A Describer is an Experiment that says more before its training on set than the data it is on.
type Describer interface {
	Experiment
	// Describe returns lines that follow the line of the data.
	Describe(set *dataset.Set) (string, error)
}

// A Deferrer is an Experiment with settings that have their full effect only after some epochs.
type Deferrer interface {
	Experiment
	// Deferred lists these settings.
	Deferred() []Deferred
}

// Deferred is a setting that takes a number of epochs until it has its full effect.
type Deferred struct {
	Setting string // as a flag with its value, such as --warmup 3
	Epochs  int
}

// DeferredBy lists the settings, of the rows given, that take epochs until they have their full effect.
func DeferredBy(rows []Hyperparameter) (all []Deferred) {
	for _, row := range rows {
		if row.Epochs > 0 && row.Idle == "" {
			all = append(all, Deferred{fmt.Sprintf("--%s %v", row.Flag, row.value()), row.Epochs})
		}
	}
	return all
}

// A Presetter is an Experiment with a setting that names a published method, which decides others.
type Presetter interface {
	Experiment
	// Preset returns the setting that names the method, and the settings that it decides, by their
	// full names in TOML.
	Preset() (name string, decides []string)
	// CheckPreset returns an error if the experiment trains another published method than it names.
	CheckPreset() error
}

// CheckPreset returns an error if an experiment trains another published method than it names. A new
// training is checked. A run that is there already keeps what it says.
func CheckPreset(e Experiment) error {
	if of, is := e.(Presetter); is {
		return of.CheckPreset()
	}
	return nil
}

// SameFamily says whether two experiments are of one family.
func SameFamily(a, b Experiment) bool { return familyName(a) == familyName(b) }

// familyName returns the name of the family of an experiment.
func familyName(e Experiment) string {
	name, _ := FamilyOf(e.TOML()) // an experiment has one
	return name
}

// NounOf names the models of an experiment in messages, such as "a Boltzmann machine".
func NounOf(e Experiment) string {
	name := familyName(e)
	if of, err := registered(name); err == nil && of.noun != "" {
		return of.noun
	}
	return "a model of the family " + name
}

// Lacks returns the error of a run whose models cannot do what a program is asked for.
func Lacks(r *Run, what string) error {
	return fmt.Errorf("%s: %v is %s, which %s: name a run of another family", r.Dir(), r.Experiment(), NounOf(r.Experiment()), what)
}

// ModelAt returns the model of a checkpoint by its name, as Checkpoint has it, to be asked for what it
// can do.
func (r *Run) ModelAt(checkpoint string) (any, error) {
	at, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	m, err := ModelOf(r.experiment, at)
	if err != nil && !errors.Is(err, ErrNoModels) {
		return nil, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", r.dir, err)
	}
	return m, err
}

package runs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

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

// A Measurer is an Experiment that says how much memory its training takes.
type Measurer interface {
	Experiment
	// Memory returns the bytes that training on set takes.
	Memory(set *dataset.Set) (int64, error)
}

// A Describer is an Experiment that says more before its training on set than the data it is on.
type Describer interface {
	Experiment
	// Describe returns what follows the data in a sentence, maybe with lines below it.
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

// A Departer is an Experiment that can depart from the preset that it names.
type Departer interface {
	Experiment
	// Departures says which settings that make the preset what it is are otherwise here.
	Departures() []string
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

// Evaluations says how a model is evaluated.
type Evaluations struct {
	// Uses lists the options of EvaluationOptions, by the names of flags, that are not in vain: of
	// samples, log-z2, log-z2-inner, parts, shard, schedule, chains, raise and raise-chains.
	Uses []string
	// Named says that texts name the run and the checkpoint of each evaluation.
	Named bool
	// Parts returns the number of parts in which the evaluation of rows is kept; nil of a model that is
	// not evaluated in parts.
	Parts    func(rows, samples int) int
	Evaluate func(ctx context.Context, o EvaluationOptions) (Evaluation, error)
}

// EvaluationOptions say on what and how a model is evaluated. An option that is zero has the value
// that the model usually has, but for the numbers that leave something out.
type EvaluationOptions struct {
	Set     *dataset.Set
	Rows    dataset.Split // of the set
	Samples int           // a row
	Seed    uint64        // of draws
	// LogZ2 is the number of outer samples for log Z², each with LogZ2Inner; 0 leaves it out.
	LogZ2, LogZ2Inner int
	// Parts is the directory that keeps parts, empty for none. Share says which of them are done: if
	// others are left, the error is an UnfinishedError.
	Parts string
	Share Shard
	// Schedule is the text of a schedule of annealing, and Chains the number of its chains.
	Schedule string
	Chains   int
	// Raise is the number of rows evaluated by RAISE, too, by RaiseChains each; 0 leaves it out.
	Raise, RaiseChains int
	// Progress returns what is called with the fraction of a kind of work that is done; it may be nil.
	Progress func(work string) func(float64)
}

// ProgressOf returns what is called with the fraction of a kind of work that is done, or nil.
func (o EvaluationOptions) ProgressOf(work string) func(float64) {
	if o.Progress == nil {
		return nil
	}
	return o.Progress(work)
}

// An Evaluation is what there is to say of a model on rows. JSON has it, too, as an object.
type Evaluation interface {
	// String has a line for each estimate, and ends a line.
	String() string
	// Table has one row, whose columns have the keys of the JSON.
	Table() *Table
	// Quantities lists what has a mean over seeds.
	Quantities() []Quantity
}

// Quantity is a number of an evaluation that has a mean over seeds.
type Quantity struct {
	Key   string
	Value float64 // NaN if it was not computed
	// Name and Unit are of the line of a text, and Scale is what the value is multiplied by there; 0
	// stands for 1. Texts leave out what has no name.
	Name, Unit string
	Scale      float64
}

// OptionError is the error of an evaluation that has no use for an option.
type OptionError struct{ Option, Reason string }

func (e *OptionError) Error() string { return e.Option + ": " + e.Reason }

// OverSeeds are the spreads of quantities over seeds, in their order.
type OverSeeds []struct {
	Quantity
	Spread
}

// QuantitiesOver returns the spreads of the quantities of evaluations, one a seed.
func QuantitiesOver(each []Evaluation) (over OverSeeds) {
	for i, q := range each[0].Quantities() {
		over = append(over, struct {
			Quantity
			Spread
		}{q, SpreadOf(each, func(e Evaluation) float64 { return e.Quantities()[i].Value })})
	}
	return over
}

// MarshalJSON writes an object of spreads by their keys, null for what was not computed.
func (o OverSeeds) MarshalJSON() ([]byte, error) {
	of := map[string]*Spread{}
	for _, q := range o {
		of[q.Key] = nil
		if !math.IsNaN(q.Mean) {
			of[q.Key] = &q.Spread
		}
	}
	return json.Marshal(of)
}

// String is a line for each spread that has a name.
func (o OverSeeds) String() string {
	var b strings.Builder
	for _, q := range o {
		if scale := cmp.Or(q.Scale, 1); q.Name != "" && !math.IsNaN(q.Mean) {
			b.WriteString(Spread{scale * q.Mean, scale * q.SD}.Line(q.Name, q.Unit))
		}
	}
	return b.String()
}

// EvaluatorOf returns how a model of a run is evaluated: as an Evaluator says, or else by the measures
// of an Estimator. It refuses a model that is neither.
func EvaluatorOf(r *Run, model any) (Evaluations, error) {
	if m, is := model.(Evaluator); is {
		return m.Evaluations(), nil
	}
	m, is := model.(Estimator)
	if !is {
		return Evaluations{}, Lacks(r, "has no estimates")
	}
	measures := r.Experiment().Measures()
	return Evaluations{Uses: []string{"samples"}, Named: true, Evaluate: func(ctx context.Context, o EvaluationOptions) (Evaluation, error) {
		start := time.Now()
		e := estimated{Measures: measures, Split: o.Rows.Name, Samples: cmp.Or(o.Samples, 1000), Data: o.Rows.Rows, DrawSeed: o.Seed}
		var err error
		e.Estimates, err = m.Estimate(ctx, o.Rows, e.Samples, o.Seed, o.ProgressOf("evaluating"))
		e.Seconds = time.Since(start).Seconds()
		return e, err
	}}, nil
}

// estimated is the evaluation by an Estimator.
type estimated struct {
	Estimates
	Measures      []Measure // of the experiment
	Split         string
	Samples, Data int
	DrawSeed      uint64
	Seconds       float64
}

// estimatedMeasures are those with an estimate, in the order of the experiment, with others behind them.
func (e estimated) estimatedMeasures() []Measure {
	all := slices.DeleteFunc(slices.Clone(e.Measures), func(m Measure) bool {
		_, is := e.Estimates[m.Key]
		return !is
	})
	for _, key := range slices.Sorted(maps.Keys(e.Estimates)) {
		if !slices.ContainsFunc(all, func(m Measure) bool { return m.Key == key }) {
			all = append(all, Measure{Key: key, Name: key})
		}
	}
	return all
}

// String implements Evaluation.
func (e estimated) String() string {
	var b strings.Builder
	for _, m := range e.estimatedMeasures() {
		of := e.Estimates[m.Key]
		scale, unit := m.scaled()
		b.WriteString(Spread{scale * of.Value, scale * of.SE}.Line(m.Name, unit))
	}
	fmt.Fprintf(&b, "%d samples a row, %d %s rows, draws of seed %d, %.1f s\n", e.Samples, e.Data, e.Split, e.DrawSeed, e.Seconds)
	return b.String()
}

// Table implements Evaluation.
func (e estimated) Table() *Table {
	var columns []Column
	var row []any
	for _, m := range e.estimatedMeasures() {
		c := m.column(m.Key, "")
		columns = append(columns, c, c.standardError())
		row = append(row, e.Estimates[m.Key].Value, e.Estimates[m.Key].SE)
	}
	columns = append(columns, Column{Key: "split"}, Column{Key: "samples", Kind: Integer}, Column{Key: "data", Kind: Integer},
		Column{Key: "draw_seed", Label: "seed of draws", Kind: Integer}, Column{Key: "seconds", Unit: "s", Kind: Number, Decimals: 1})
	t := NewTable("evaluation", "", columns...)
	t.Add(append(row, e.Split, e.Samples, e.Data, e.DrawSeed, e.Seconds)...)
	return t
}

// MarshalJSON writes the only row of the table as an object.
func (e estimated) MarshalJSON() ([]byte, error) {
	t := e.Table()
	of := map[string]any{}
	for i, c := range t.Columns() {
		of[c.Key] = t.Rows()[0][i]
	}
	return json.Marshal(of)
}

// Quantities implements Evaluation.
func (e estimated) Quantities() (all []Quantity) {
	for _, m := range e.estimatedMeasures() {
		q := Quantity{Key: m.Key, Value: e.Estimates[m.Key].Value, Name: m.Name}
		q.Scale, q.Unit = m.scaled()
		all = append(all, q)
	}
	return all
}

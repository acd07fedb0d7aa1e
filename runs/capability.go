package runs

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
)

// The interfaces below are optional capabilities of a model or an experiment. Programs test whether the
// experiment, or the model that ModelOf returns, implements an interface, and do without it otherwise.

// An Estimator is a model whose measures can be estimated on rows. If it has a method Along(schedule string) (Estimator, error), it
// anneals, and the method returns the same model with an annealing schedule, given as text.
type Estimator interface {
	// Estimate returns estimates of measures on rows, by key. seed determines its draws. samples is
	// the number of samples per row, or the number of chains. progress, which may be nil, is called
	// with the fraction of the work done.
	Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (Estimates, error)
}

// A RowEstimator is an Estimator that also returns log p of each row, so that models can be compared row by row.
type RowEstimator interface {
	Estimator
	// EstimateRows returns the result of Estimate, and log p of each row, or an estimate of it, in nats.
	EstimateRows(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (all Estimates, logP []float64, err error)
}

// A SampleCounter is an Estimator that does not draw samples for each row, or not always.
type SampleCounter interface {
	// CountSamples describes n samples of Estimate, such as "100 chains". It returns "" if Estimate draws no samples.
	CountSamples(n int) string
}

// A Sampler is a model that draws images.
type Sampler interface {
	// Drawings lists the kinds of images that the model draws, the default first. It returns them
	// through the function Drawings, which checks the number of images.
	Drawings() []Drawing
}

// Drawing is one kind of image that a model draws.
type Drawing struct {
	// Kind names the kind, such as means (expected values), draws, reconstructions (of rows), layers
	// or filters.
	Kind string
	// Uses lists the options that the images depend on: gibbs (Chain.Sweeps), candidates, inner and
	// retain (the other fields of Chain), split (Rows) and seed.
	Uses []string
	// Sweeps is the suggested number of sweeps for chains that start from arbitrary states, or 0 if
	// no sweeps are needed.
	Sweeps int
	// Columns reports whether the sheets are the columns of one figure, in which the images of a row
	// belong together.
	Columns bool
	// Steps reports whether the images are sequences, one step per row.
	Steps bool
	Draw  func(ctx context.Context, s Sampling) ([]dataset.Sheet, error)
}

// Sampling holds the options of a Drawing.
type Sampling struct {
	N        int // number of images, at least 1
	Chain    Chain
	Rows     dataset.Split // source of the N rows to reconstruct
	Seed     uint64
	Progress func(float64) // called with the fraction of the work done; may be nil
}

// Drawings returns the drawings of a Sampler. Their Draw refuses to draw fewer than 1 image.
func Drawings(all ...Drawing) []Drawing {
	all = slices.Clone(all)
	for i, d := range all {
		all[i].Draw = func(ctx context.Context, s Sampling) ([]dataset.Sheet, error) {
			if s.N < 1 {
				return nil, fmt.Errorf("%d samples: use at least 1", s.N)
			}
			return d.Draw(ctx, s)
		}
	}
	return all
}

// Samples returns two drawings of sampled rows: means, which are without noise, and draws, the rows themselves.
func Samples(shape dataset.Shape, sample func(n int, seed uint64) (rows, means [][]float64)) []Drawing {
	drawing := func(kind string, of func(rows, means [][]float64) [][]float64) Drawing {
		return Drawing{Kind: kind, Uses: []string{"seed"}, Draw: func(_ context.Context, s Sampling) ([]dataset.Sheet, error) {
			if err := memory.Check(names.Count(s.N, "sample"), 16*float64(s.N)*float64(shape.Units()), "use fewer"); err != nil {
				return nil, err
			}
			return Sheet(dataset.Sheet{Shape: shape, Values: of(sample(s.N, s.Seed))}, nil)
		}}
	}
	return []Drawing{
		drawing("means", func(_, means [][]float64) [][]float64 { return means }),
		drawing("draws", func(rows, _ [][]float64) [][]float64 { return rows }),
	}
}

// Reconstructions returns a drawing of rows, each followed by its reconstruction. The function reconstruct
// returns the rows as the model reads them and the reconstructions.
func Reconstructions(shape dataset.Shape, reconstruct func(rows dataset.Split, seed uint64) (x, means [][]float64, err error)) Drawing {
	return Drawing{Kind: "reconstructions", Uses: []string{"split", "seed"}, Draw: func(_ context.Context, s Sampling) ([]dataset.Sheet, error) {
		if err := CheckRows(shape.Units(), false, s.Rows); err != nil {
			return nil, err
		}
		x, means, err := reconstruct(s.Rows.Subset(s.N, s.Seed), s.Seed)
		both := dataset.Sheet{Shape: shape}
		for r := range x {
			both.Values = append(both.Values, x[r], means[r])
		}
		return Sheet(both, err)
	}}
}

// Sheet wraps a single sheet as the result of Drawing.Draw.
func Sheet(s dataset.Sheet, err error) ([]dataset.Sheet, error) { return []dataset.Sheet{s}, err }

// Chain holds the options of Markov chains. A sweep draws each unit or layer in turn, given all
// other units or layers.
type Chain struct {
	Sweeps int // 0 returns the initial states
	// The fields below apply to models whose sweeps draw K candidates for a layer and pick one of
	// them by importance weight (BiHM thesis 2016, Algorithm 2).
	Candidates int // K, the number of candidates per layer; 0 means 100
	// Inner is the number of samples h ~ q(h|x) that estimate p̃*(x) for each candidate x; 0 means
	// 10. The estimate of √p̃*(x) is unbiased, so only K has to be large.
	Inner int
	// Retain makes the previous state one of the K candidates. Chains then converge to p* itself, but
	// move less. Without Retain, as in Algorithm 2, they converge to a distribution whose distance
	// from p* falls as 1/K.
	Retain bool
	// Draws makes an Inpainter return draws of the missing units in the last sweep instead of their expected values, with
	// exactly one unit on in each categorical column.
	Draws bool
}

// An Inpainter is a model that fills in parts of images.
type Inpainter interface {
	// Inpainting returns the function that fills in pixels, and the options that it uses.
	Inpainting() Inpainting
}

// Inpainting describes how a model fills in the pixels that a mask hides, with Fill and a number of
// chains per row.
type Inpainting struct {
	Uses []string // the chain options that have an effect: candidates, inner, retain, draws
	// Sweeps is the suggested number of sweeps for draws, or 0 if Fill needs no chains. With Chain.Draws, a mask may hide
	// all pixels.
	Sweeps int
	Fill   func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error)
}

// A Saver is a model that writes a model file without the state that only training needs.
type Saver interface {
	Save(w io.Writer) error
}

// An Evaluator is a model with a richer evaluation than an Estimator.
type Evaluator interface {
	// Evaluations returns the evaluation function and the options that it uses.
	Evaluations() Evaluations
}

// A RowEvaluator is a model that returns log p of each row, or an estimate of log p or a bound on it.
type RowEvaluator interface {
	// LogPOfRows returns log p of each row of o.Rows in nats. what describes how log p was computed,
	// such as "exact". LogPOfRows uses the options listed in Evaluations.Uses. The rows of o.Set must
	// be encoded like o.Rows.
	LogPOfRows(ctx context.Context, o EvaluationOptions) (logP []float64, what string, err error)
}

// A RowErrorEvaluator is a RowEvaluator whose log p may be estimates with standard errors.
type RowErrorEvaluator interface {
	RowEvaluator
	// LogPAndErrors is like LogPOfRows, and also returns the standard error of each log p in nats: NaN for an estimate from
	// few effective samples or chains (see SampleSize.Few), and nil if log p is exact or its error unknown.
	LogPAndErrors(ctx context.Context, o EvaluationOptions) (logP, se []float64, what string, err error)
}

// An Encoder is a model that describes rows by features, such as the means of its hidden units.
type Encoder interface {
	// Encodings lists the kinds of features, the default first.
	Encodings() []Encoding
}

// Encoding is one kind of features, or of parameters that describe them.
type Encoding struct {
	Kind    string   // such as means, regression or loadings
	Columns []string // the names of the numbers in a line
	Samples int      // the usual number of samples per row, or 0 if Encode draws none
	// Encode returns a line of numbers for each row or, if Units is true, for each unit of a row, whatever the rows are.
	Encode   func(ctx context.Context, rows dataset.Split, samples int, seed uint64) ([][]float64, error)
	Units    bool
	Lines    string // what a line describes, such as factor, if it is neither a row nor a unit
	Training bool   // whether Encode describes the training rows, which it gets then
}

// A Rotator is an Encoder whose features can be rotated.
type Rotator interface {
	Encoder
	// Rotations lists the names of the rotations.
	Rotations() []string
	// Rotated lists the kinds of features after a rotation, the default first.
	Rotated(how string) ([]Encoding, error)
}

// A Labeler is a model that can predict the labels of rows.
type Labeler interface {
	// LogLabels returns log p(y|x) of each row of o.Rows and each class y, in nats, or nil if the model has no labels. It
	// uses the same options as LogPOfRows.
	LogLabels(ctx context.Context, o EvaluationOptions) ([][]float64, error)
}

// A Planner is an Experiment that knows what its training needs.
type Planner interface {
	Experiment
	// Memory returns the number of bytes that training on set needs.
	Memory(set *dataset.Set) (int64, error)
	// AtOnce returns how many runs on set the experiment's device trains well in parallel, or 0 if the experiment
	// computes on the program's threads.
	AtOnce(set *dataset.Set) (int, error)
	// Describe returns the lines to print before training, after the line about the data.
	Describe(set *dataset.Set) (string, error)
}

func familyName(e Experiment) string {
	name, _ := FamilyOf(e.TOML()) // every experiment has one
	return name
}

// Noun returns a noun for the run's models, such as "a Boltzmann machine".
func (r *Run) Noun() string {
	name := familyName(r.experiment)
	if of, err := registered(name); err == nil && of.Noun != "" {
		return of.Noun
	}
	return "a model of the family " + name
}

// Lacks returns the error for a run whose models lack a capability. what says what they lack, such as
// "has no estimates".
func (r *Run) Lacks(what string) error {
	return fmt.Errorf("%s: %v is %s, which %s: name a run of another family", r.dir, r.experiment, r.Noun(), what)
}

// ModelAt returns the model of a named checkpoint (see Checkpoint). Test it for capabilities such as
// Sampler.
func (r *Run) ModelAt(checkpoint string) (any, error) {
	at, err := r.Checkpoint(checkpoint)
	if err != nil {
		return nil, err
	}
	m, err := ModelOf(r.experiment, at)
	if err != nil {
		return nil, fmt.Errorf("a checkpoint in %s: %w: restore the file from a copy", r.dir, err)
	}
	return m, nil
}

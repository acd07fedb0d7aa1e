package plotting

import (
	"context"
	"errors"
	"slices"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
)

// weighed is a model with importance weights, as Helmholtz machines have them.
type weighed interface {
	ImportanceWeights(ctx context.Context, rows dataset.Split, samples int) (hm.ImportanceWeights, error)
	DreamWeights(ctx context.Context, n, inner int) (hm.DreamWeights, error)
	LogZ2(ctx context.Context, outer, inner int) (hm.LogZ2, error)
	Convergence(ctx context.Context, rows dataset.Split, samples ...int) (hm.Convergence, error)
	Bidirectional() bool
}

// layered is a model of two networks whose Fisher matrix falls apart into blocks.
type layered interface{ Architecture() engine.Architecture }

// Weighs says whether a model has importance weights, of which figures show more the more samples
// there are.
func Weighs(model any) bool {
	_, is := model.(weighed)
	return is
}

// Drawn draws what a model drew.
func Drawn(d runs.Drawing, sheets []dataset.Sheet) *Figure {
	if d.Columns {
		return Descents(sheets)
	}
	return Samples(sheets[0])
}

// usual draws n images of the kind that a model usually draws; nil if it draws none, or only after
// many sweeps of chains.
func usual(ctx context.Context, model any, seed uint64, n int) (*Figure, error) {
	sampler, is := model.(runs.Sampler)
	if !is {
		return nil, nil
	}
	d := sampler.Drawings()[0]
	if d.Sweeps > 0 {
		return nil, nil
	}
	sheets, err := d.Draw(ctx, runs.Sampling{N: n, Seed: seed})
	if err != nil {
		return nil, err
	}
	return Drawn(d, sheets), nil
}

// UsualSamples draws n images of the last checkpoint of a run; nil if its model draws none, or only
// after many sweeps of chains.
func UsualSamples(ctx context.Context, run *runs.Run, n int) (*Figure, error) {
	model, err := run.ModelAt("last")
	if err != nil {
		return nil, err
	}
	return usual(ctx, model, run.Experiment().Header().Seed, n)
}

// ModelFigures draws what the models of runs show, beside what training recorded.
type ModelFigures struct {
	Samples int // importance samples a datum
	LogZ2   int // outer samples for log Z²

	convergences []hm.Convergence
}

// Draw draws the figures of the last checkpoint of a run, and hands each to save with the kind of it. A
// name, if there is one, stands before what the run is called in the figure of all.
func (m *ModelFigures) Draw(ctx context.Context, run *runs.Run, name string, save func(f *Figure, kind string) error) error {
	model, err := run.ModelAt("last")
	if errors.Is(err, runs.ErrNoModels) {
		return nil
	}
	if err != nil {
		return err
	}
	if of, is := model.(weighed); is {
		if err := m.weigh(ctx, run, of, name, save); err != nil {
			return err
		}
	}
	seed := run.Experiment().Header().Seed
	figure, err := usual(ctx, model, seed, 100)
	if err == nil && figure != nil {
		err = save(figure, "samples")
	}
	if err != nil {
		return err
	}
	if sampler, is := model.(runs.Sampler); is {
		for _, d := range sampler.Drawings() {
			if !d.Columns {
				continue
			}
			sheets, err := d.Draw(ctx, runs.Sampling{N: 10, Seed: seed})
			if err != nil {
				return err
			}
			if err := save(Drawn(d, sheets), d.Kind); err != nil {
				return err
			}
		}
	}
	if of, is := model.(layered); is {
		return save(FisherStructure(of.Architecture()), "fisher-structure")
	}
	return nil
}

// weigh draws importance weights, and keeps what goes into the figure of all.
func (m *ModelFigures) weigh(ctx context.Context, run *runs.Run, model weighed, name string, save func(*Figure, string) error) error {
	set, err := run.Dataset()
	if err != nil {
		return err
	}
	weights, err := model.ImportanceWeights(ctx, set.Test(), m.Samples)
	if err != nil {
		return err
	}
	z, err := model.LogZ2(ctx, m.LogZ2, 1)
	if err != nil {
		return err
	}
	dreams, err := model.DreamWeights(ctx, max(1, m.LogZ2/10), 100)
	if err != nil {
		return err
	}
	numbers := slices.DeleteFunc([]int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000}, func(k int) bool { return k >= m.Samples })
	convergence, err := model.Convergence(ctx, set.Test().Subset(1000, run.Experiment().Header().Seed), append(numbers, m.Samples)...)
	if err != nil {
		return err
	}
	if model.Bidirectional() {
		convergence = convergence.WithLogZ2(z)
	}
	if name != "" {
		convergence.Name = name + ": " + convergence.Name
	}
	m.convergences = append(m.convergences, convergence)
	return errors.Join(save(ImportanceWeights(weights), "importance-weights"), save(ProposalWeights(weights, dreams), "proposal-weights"), save(LogZ2(z), "log-z2"))
}

// Likelihoods draws log p of all models against the number of samples; nil if none has importance
// weights.
func (m *ModelFigures) Likelihoods() *Figure {
	if len(m.convergences) == 0 {
		return nil
	}
	return LikelihoodBySamples(m.convergences...)
}

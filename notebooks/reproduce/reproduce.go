// Package reproduce reproduces published results: it trains the missing runs that a result needs, measures the
// runs, draws figures, and compares the findings with the published values.
//
// A catalogue, such as the one in package notebooks/thesis, lists results. Each result has its criteria, the
// trainings that it needs, and a function that makes the result from their runs. Results that need the same runs
// name the same training.
package reproduce

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Scale is the amount of computing for a result.
type Scale string

const (
	Smoke  Scale = "smoke"  // seconds: small machines and synthetic data, to show that the code works
	Laptop Scale = "laptop" // minutes to hours on two cores: shorter training, fewer samples
	Full   Scale = "full"   // as published
)

var _ encoding.TextUnmarshaler = (*Scale)(nil)

// UnmarshalText reads the name of a scale.
func (s *Scale) UnmarshalText(text []byte) error {
	switch scale := Scale(text); scale {
	case Smoke, Laptop, Full:
		*s = scale
		return nil
	}
	return fmt.Errorf("scale %q: use smoke, laptop or full", text)
}

// MarshalText writes the name of the scale.
func (s Scale) MarshalText() ([]byte, error) { return []byte(s), nil }

// Training is an experiment that results need, for several seeds.
type Training struct {
	// Name is the name of its directory. All scales except smoke share the directory: a longer run continues a
	// shorter one.
	Name string
	// Experiment is the experiment of the first seed, with the scale's number of epochs.
	Experiment runs.Experiment
	// Seeds is the number of seeds: the seed of Experiment and those after it.
	Seeds int
	// Arithmetic names the arithmetic in which a step computes its products, such as "fixed".
	Arithmetic string
	// Needs lists the epochs, besides the last, whose checkpoints the result uses. The experiment keeps these
	// checkpoints, and may keep others.
	Needs []int
	// From is the training that this one starts from, or nil. Each run starts from the last epoch of From's run
	// with the same seed. Begin returns e changed to start from an epoch of the run in dir.
	From  *Training
	Begin func(e runs.Experiment, dir string, epoch int) runs.Experiment
}

// Entry is a result and how to make it.
type Entry struct {
	Result
	// Trainings returns the trainings that the result needs at a scale. Make measures their runs and draws
	// figures. Both are nil if the result cannot be made yet.
	Trainings func(Scale) []Training
	Make      func(context.Context, *Work) error
}

// Catalog lists entries.
type Catalog []Entry

// Select returns the entries whose id matches one of the patterns, such as varady/table5.1 or bihm/*. The pattern
// all matches every entry. Select returns an error if a pattern matches no entry.
func (c Catalog) Select(patterns ...string) (Catalog, error) {
	chosen := make([]bool, len(c))
	for _, pattern := range patterns {
		matched := false
		for i, e := range c {
			match, err := path.Match(pattern, e.ID)
			if err != nil {
				return nil, fmt.Errorf("%q is not a pattern of ids: %w", pattern, err)
			}
			if match || pattern == "all" {
				chosen[i], matched = true, true
			}
		}
		if !matched {
			ids := lists.Map(c, func(e Entry) string { return e.ID })
			return nil, fmt.Errorf("no result is named %q%s: helmholtz reproduce list shows the names", pattern, names.Meant(pattern, ids...))
		}
	}
	var selected Catalog
	for i, e := range c {
		if chosen[i] {
			selected = append(selected, e)
		}
	}
	return selected, nil
}

// Trainings returns the trainings of the entries at a scale. Each training appears once, after the training that
// it starts from, and is as long as the longest that an entry asks for. Trainings panics if two entries give one
// name to different experiments, unless one is the beginning of the other.
func (c Catalog) Trainings(s Scale) []Training {
	var all []Training
	add := func(id string, t Training) {
		i := slices.IndexFunc(all, func(other Training) bool { return other.Name == t.Name })
		if i < 0 {
			all = append(all, t)
			return
		}
		joined, err := all[i].join(t)
		if err != nil {
			panic(fmt.Sprintf("%s: two experiments are named %s: %v", id, t.Name, err))
		}
		all[i] = joined
	}
	for _, e := range c {
		if e.Trainings == nil {
			continue
		}
		for _, t := range e.Trainings(s) {
			if t.From != nil {
				add(e.ID, *t.From)
			}
			add(e.ID, t)
		}
	}
	return all
}

// join returns the longer of t and another training of the same name, with the seeds and the kept epochs of both.
// It returns an error if the shorter training is not the beginning of the longer.
func (t Training) join(other Training) (Training, error) {
	short, long := t, other
	if short.Experiment.Header().Epochs > long.Experiment.Header().Epochs {
		short, long = long, short
	}
	h, last := long.Experiment.Header(), short.Experiment.Header().Epochs
	continued := short.Experiment.Header()
	continued.Epochs = h.Epochs
	if e := short.Experiment.WithHeader(continued); e.Hash() != long.Experiment.Hash() {
		return Training{}, errors.New(strings.Join(runs.Differences(e, long.Experiment), "; "))
	}
	const stepsPerEpoch = 8 // any number shows a difference
	for step := range last * stepsPerEpoch {
		if short.Experiment.LearningRate(step, stepsPerEpoch) != long.Experiment.LearningRate(step, stepsPerEpoch) {
			return Training{}, fmt.Errorf("the learning rate of %d epochs differs from the learning rate of %d", last, h.Epochs)
		}
	}
	long.Seeds = max(long.Seeds, short.Seeds)
	long.Needs = Union(long.Needs, short.Needs)
	h.Keep = Union(h.Keep, continued.Keep)
	if last < h.Epochs {
		long.Needs = Union(long.Needs, []int{last})
		h.Keep = Union(h.Keep, []int{last})
	}
	long.Experiment = long.Experiment.WithHeader(h)
	return long, nil
}

// Union returns the epochs in any of some lists, sorted and without duplicates.
func Union(lists ...[]int) []int {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

package sequences

import (
	"context"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/runs"
)

// The number of particles, and the lag of their weights, for completions and posteriors.
const (
	posteriorParticles = 200
	posteriorLag       = 2
)

// complete draws a second half for each sequence, beginning at a particle of the filter at the end of the
// first half. It returns each sequence followed by its completion.
func (m *Belief) complete(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error) {
	sheet := newSheet(m.shape, 2*rows.Rows)
	for i := range rows.Rows {
		f, source := gather(rows, []int{i}), draws{key: philox.Key(seed), purpose: philox.Posterior, step: uint32(i)}
		half := (f.steps() + 1) / 2
		given := frames{v: kernels.Rows(f.v, 0, half), start: f.start[:half+1], rows: f.rows}
		r := m.filter(given, posteriorParticles, resampleBelow, source)
		u := source.key.Block(philox.Counter{Purpose: philox.Pick, Datum: uint32(half), Step: source.step, Unit: 1})
		last := (half - 1) * posteriorParticles
		particle := last + pick(r.weights[last:], float64(philox.Uniform(u[0])))
		copy(sheet.Values[2*i], rows.Floats(i)[0])
		source.purpose = philox.Ancestral
		m.dream(f, half, kernels.Rows(r.state, particle, particle+1), source)
		for t := range f.steps() {
			write(dataset.Sheet{Shape: m.shape, Values: sheet.Values[2*i+1 : 2*i+2]}, f.at(f.v, t, 1), t)
		}
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
	}
	return sheet, nil
}

// posterior returns the expected values of the hidden units at each step of the sequences, given the steps up
// to posteriorLag steps later.
func (m *Belief) posterior(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error) {
	sheet := newSheet(dataset.Shape{Height: m.shape.Height, Width: m.hidden + m.deep}, rows.Rows)
	for i := range rows.Rows {
		f := gather(rows, []int{i})
		r := m.filter(f, posteriorParticles, resampleBelow, draws{key: philox.Key(seed), purpose: philox.Posterior, step: uint32(i)})
		means, next := kernels.NewMatrix(f.v.Rows, m.hidden+m.deep), make([]float32, m.stateWidth())
		for particle, weight := range r.smoothed(f, posteriorParticles, posteriorLag) {
			m.remember(next, kernels.Row(r.state, particle))
			kernels.AddMultiple(kernels.Row(means, particle/posteriorParticles), float32(weight), next[m.hidden:2*m.hidden+m.deep])
		}
		for t := range f.steps() {
			write(dataset.Sheet{Shape: sheet.Shape, Values: sheet.Values[i : i+1]}, f.at(means, t, 1), t)
		}
		if err := ctx.Err(); err != nil {
			return sheet, err
		}
	}
	return sheet, nil
}

// Drawings returns drawings whose images have one row per step: draws of sequences, and their means;
// sequences of a split, each followed by a completion of its first half; and, if there are hidden units,
// their expected values along sequences of a split.
func (m *Belief) Drawings() []runs.Drawing {
	drawn := func(means bool) func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(m.sample(ctx, s.N, means, s.Seed))
		}
	}
	ofRows := func(draw func(ctx context.Context, rows dataset.Split, seed uint64) (dataset.Sheet, error)) func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			if err := runs.First(
				func() error { return runs.CheckRows(m.shape.Units(), s.Rows) },
				func() error { return checkRows(m.shape.Width, m.gaussian, s.Rows) },
			); err != nil {
				return nil, err
			}
			return runs.Sheet(draw(ctx, s.Rows.Subset(s.N, s.Seed), s.Seed))
		}
	}
	all := []runs.Drawing{
		{Kind: "draws", Steps: true, Uses: []string{"seed"}, Draw: drawn(false)},
		{Kind: "means", Steps: true, Uses: []string{"seed"}, Draw: drawn(true)},
		{Kind: "completions", Steps: true, Uses: []string{"split", "seed"}, Draw: ofRows(m.complete)},
	}
	if m.hidden > 0 {
		all = append(all, runs.Drawing{Kind: "posterior", Steps: true, Uses: []string{"split", "seed"}, Draw: ofRows(m.posterior)})
	}
	return runs.Drawings(all...)
}

package energies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/memory"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Model is a machine defined by its energy. Its parameters are in double precision. Its exported methods do not
// change it.
type Model struct {
	shape   dataset.Shape
	energy  energy
	free    []int // the units whose distribution is modelled
	given   bool  // whether the other units are given
	scaling *scaling
	seed    uint64

	// For training: Adam's running means of gradients and of their squares, and the persistent chains.
	first, second, chains []float64

	schedule boltzmann.AnnealingSchedule // of AIS

	above *Model // the second machine of a stack, or nil
	layer uint8  // 1 for a second machine, so that its draws differ from the draws of the first
}

// tensors lists the parameters of the energy, the scaling of real numbers, Adam's means and the chains.
func (m *Model) tensors() (all []runs.Tensor) {
	for _, p := range m.energy.Parameters() {
		all = append(all, p.Tensor)
	}
	if s := m.scaling; s != nil {
		all = append(all, runs.Wide("mean", s.mean), runs.Wide("scaling", s.matrix, len(s.mean), len(s.mean)), runs.Wide("log_scaling", s.log))
	}
	all = append(all, runs.Wide("first_moments", m.first), runs.Wide("second_moments", m.second))
	if n := m.shape.Units(); len(m.chains) > 0 {
		all = append(all, runs.Wide("chains", m.chains, len(m.chains)/n, n))
	}
	if m.above != nil {
		for _, t := range m.above.tensors() {
			t.Name = "above." + t.Name
			all = append(all, t)
		}
	}
	return all
}

// restored returns an error if a mean of squares is negative.
func (m *Model) restored() error {
	for _, v := range m.second {
		if v < 0 {
			return fmt.Errorf("the tensor second_moments has the value %v: means of squares cannot be negative", v)
		}
	}
	if m.above != nil {
		return m.above.restored()
	}
	return nil
}

func (m *Model) bare() *Model {
	bare := *m
	bare.first, bare.second, bare.chains = nil, nil, nil
	if m.above != nil {
		bare.above = m.above.bare()
	}
	return &bare
}

// check refuses rows that do not fit the machine, and real numbers for a machine of binary units.
func (m *Model) check(rows dataset.Split) error {
	return runs.CheckRows(m.shape.Units(), m.scaling == nil, rows)
}

// read returns the rows with the given indices, or all rows. It scales real numbers for the energy, or rounds grey
// values for binary units.
func (m *Model) read(rows dataset.Split, index ...int) [][]float64 {
	x := rows.Floats(index...)
	if m.scaling != nil {
		m.scaling.turn(x)
		return x
	}
	for _, row := range x {
		for i, v := range row {
			row[i] = math.Round(v)
		}
	}
	return x
}

// logScale returns the log density of an original row minus the log density of the scaled row.
func (m *Model) logScale() float64 {
	if m.scaling == nil {
		return 0
	}
	return m.scaling.log[0]
}

// LogP returns log p of each row, −F(x) − log Z, in nats. For real units it is the log density of the original rows,
// before whitening or standardisation. Binary units round grey values, and refuse real numbers. log Z is exact if it is a
// sum over few states. Otherwise AIS estimates it with the given number of chains, at least 2, and seed, and log p is
// too high in expectation. A conditional machine has a separate log Z for each row; the returned log Z is that with the
// smallest effective sample size. progress, which may be nil, is called with the fraction of the annealing done, or of
// the rows if log Z is exact.
func (m *Model) LogP(ctx context.Context, rows dataset.Split, chains int, seed uint64, progress func(float64)) (logP []float64, logZ boltzmann.LogZ, err error) {
	logP, logZ, _, err = m.logP(ctx, rows, chains, seed, progress)
	return logP, logZ, err
}

// logP returns LogP, and describes the chains behind the mean of log p.
func (m *Model) logP(ctx context.Context, rows dataset.Split, chains int, seed uint64, progress func(float64)) (logP []float64, logZ boltzmann.LogZ, size runs.SampleSize, err error) {
	if err := m.check(rows); err != nil {
		return nil, logZ, size, err
	}
	x := m.read(rows)
	logP = make([]float64, len(x))
	var of boltzmann.LogZ // of the row
	var ess, moved []float64
	for r, row := range x {
		if err := ctx.Err(); err != nil {
			return nil, logZ, size, err
		}
		if r == 0 || m.given {
			if m.energy.exact() {
				of = boltzmann.KnownLogZ(m.energy.LogZ(row))
			} else {
				part := progress
				if m.given && progress != nil {
					part = func(done float64) { progress((float64(r) + done) / float64(len(x))) }
				}
				if of, err = anneal(ctx, m.energy, row, chains, m.schedule, seed, philox.Counter{Step: uint32(r)}, part); err != nil {
					return nil, logZ, size, err
				}
				size = of.SampleSize()
				ess, moved = append(ess, float64(of.ESS)), append(moved, float64(size.Moved))
			}
			if r == 0 || of.ESS < logZ.ESS {
				logZ = of
			}
		}
		logP[r] = m.logScale() - m.energy.FreeEnergy(row) - float64(of.Value)
		if progress != nil && m.energy.exact() {
			progress(float64(r+1) / float64(len(x)))
		}
	}
	if m.given && size.Count > 0 {
		size = runs.MeanSampleSize(rows.MeanWeights(), runs.ErrsLow, "chains a row", chains, ess, moved)
	}
	return logP, logZ, size.Negative(), ctx.Err()
}

// HiddenMeans returns, for each row, the probability that each hidden unit of a conditional or gated machine is on.
// In a gated machine, hidden units represent the relation between the two images of a pair.
func (m *Model) HiddenMeans(rows dataset.Split) ([][]float64, error) {
	e, is := m.energy.(interface{ on(x []float64) []float64 })
	if !is {
		return nil, fmt.Errorf("this machine has no hidden units that are independent given a row: use a conditional or a gated RBM")
	}
	if err := m.check(rows); err != nil {
		return nil, err
	}
	means := m.read(rows)
	work.Parallel(len(means), func(r int) { means[r] = e.on(means[r]) })
	return means, nil
}

// Estimate returns the mean of log p over rows, as LogP computes it; samples is the number of chains of AIS. The
// standard error covers the spread over rows. It also covers the error of log Z, except in conditional machines, where
// each row has a separate log Z. For other machines, Estimate also returns log Z. If AIS estimates log Z, Estimate also
// returns its effective sample size, as a fraction of the chains.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	logP, logZ, size, err := m.logP(ctx, rows, samples, seed, progress)
	if err != nil {
		return nil, err
	}
	mean, all := runs.EstimateOver(rows, logP), runs.Estimates{}
	mean.SampleSize = size
	if !m.given {
		mean.SE = math.Hypot(mean.SE, float64(logZ.SE))
		all[runs.LogZ.Key] = runs.Estimate{Value: float64(logZ.Value), SE: float64(logZ.SE), SampleSize: logZ.SampleSize()}
	}
	if !m.energy.exact() {
		all[runs.ESS.Key] = runs.Estimate{Value: float64(logZ.ESS), SE: math.NaN()}
	}
	all[runs.LogP.Key] = mean
	return all, nil
}

// CountSamples describes n chains of AIS, or returns "" if log Z is exact.
func (m *Model) CountSamples(n int) string {
	if m.energy.exact() {
		return ""
	}
	if m.given {
		return names.Count(n, "chain") + " a row"
	}
	return names.Count(n, "chain")
}

// LogPOfRows returns log p of each row of o.Rows in nats, as LogP computes it with o.Samples chains of AIS, by default
// 100. It also says how: "exact", or "by AIS" with the number of chains, which makes log p too high in expectation.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	chains, along := cmp.Or(o.Samples, 100), *m
	if o.Schedule != "" {
		if err := along.schedule.UnmarshalText([]byte(o.Schedule)); err != nil {
			return nil, "", err
		}
	}
	logP, _, size, err := along.logP(ctx, o.Rows, chains, o.Seed, o.ProgressOf("annealing"))
	if m.energy.exact() {
		return logP, "exact", err
	}
	return logP, fmt.Sprintf("by AIS with %s, and too high in expectation", m.CountSamples(chains)) + names.Clause(size.Detail()), err
}

// Scores returns −F(x) of each row in nats, which is exact. It refuses conditional machines.
func (m *Model) Scores(ctx context.Context, rows dataset.Split) (logs []float64, exact bool, err error) {
	if m.given {
		return nil, false, errors.New("a conditional machine has no distribution of its given units, and no log p by column: use a machine of all units")
	}
	if err := m.check(rows); err != nil {
		return nil, false, err
	}
	for _, x := range m.read(rows) {
		logs = append(logs, -m.energy.FreeEnergy(x))
	}
	return logs, true, ctx.Err()
}

// run draws states from the base model and moves each by sweeps+1 sweeps. Before each sweep, it resets the known units
// to their original values. The last sweep replaces the states by expected values, if the energy has them, and this
// includes the known units. first is the number of the first chain in the counters of the draws.
func (m *Model) run(ctx context.Context, states [][]float64, sweeps int, known []int, purpose philox.Purpose, first int) {
	p := m.energy.Products()
	work.Parts(len(states), chainsTogether, func(from, to int) {
		states, streams, was := states[from:to], make([]*rand.Rand, to-from), make([][]float64, to-from)
		for c, x := range states {
			streams[c], was[c] = m.stream(purpose, first+from+c, 0), slices.Clone(x)
			m.energy.Base(x, streams[c])
		}
		for sweep := 0; ctx.Err() == nil && sweep <= sweeps; sweep++ {
			for c, x := range states {
				for _, i := range known {
					x[i] = was[c][i]
				}
			}
			p.Sweeps(states, streams, sweep == sweeps)
		}
	})
}

func (m *Model) withSeed(seed uint64) *Model {
	c := *m
	c.seed = seed
	return &c
}

// Inpainting fills in masked units by Markov chains in which the other units are known. It refuses conditional
// machines and machines of real units.
func (m *Model) Inpainting() runs.Inpainting {
	return runs.Inpainting{Sweeps: 500, Fill: func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c runs.Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error) {
		if m.given || m.scaling != nil {
			return dataset.Inpainting{}, fmt.Errorf("this machine cannot inpaint: sample from it if it is conditional or gated, or use a machine of binary units")
		}
		if err := runs.First(func() error { return m.check(rows) }, func() error { return mask.Check(m.shape) }); err != nil {
			return dataset.Inpainting{}, err
		}
		if chains < 1 || c.Sweeps < 1 {
			return dataset.Inpainting{}, fmt.Errorf("%s of %s for each row: give at least 1 of each", names.Count(chains, "chain"), names.Count(c.Sweeps, "sweep"))
		}
		if err := memory.Check(names.Count(chains, "chain")+" for each row", float64(chains)*float64(rows.Rows)*chainBytes(m.shape.Units()), "use fewer"); err != nil {
			return dataset.Inpainting{}, err
		}
		return rows.Inpaint(ctx, m.shape, mask, m.read(rows), chains, func(chain int) [][]float64 {
			states := m.read(rows)
			m.withSeed(seed).run(ctx, states, c.Sweeps, where(mask, false), philox.Clamp, chain*rows.Rows)
			return states
		}, progress)
	}}
}

// Drawings returns two drawings: the means of chains that start at the base model, and the filters. With a second
// machine there is a third drawing, of the second machine's filters as images.
func (m *Model) Drawings() []runs.Drawing {
	chains := runs.Drawing{Kind: "means", Uses: []string{"gibbs", "seed"}, Sweeps: 1000, Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		if err := memory.Check(names.Count(s.N, "chain"), float64(s.N)*chainBytes(m.shape.Units()), "use fewer"); err != nil {
			return nil, err
		}
		states := lists.N(s.N, func(int) []float64 { return make([]float64, m.shape.Units()) })
		return m.sheet(ctx, states, s)
	}}
	if m.given {
		chains.Uses, chains.Sweeps = append(chains.Uses, "split"), 100
		chains.Draw = func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			if err := m.check(s.Rows); err != nil {
				return nil, err
			}
			return m.sheet(ctx, m.read(s.Rows.Subset(s.N, s.Seed)), s)
		}
	}
	drawings := []runs.Drawing{chains, {Kind: "filters", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		shape, all := m.energy.Fields()
		return runs.Sheet(m.filters(shape, all, s.N), nil)
	}}}
	if m.above != nil {
		drawings = append(drawings, runs.Drawing{Kind: "filters-above", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			shape, all := m.energy.(*convolution).project(m.above.energy.(*convolution))
			return runs.Sheet(m.filters(shape, all, s.N), nil)
		}})
	}
	return runs.Drawings(drawings...)
}

func (m *Model) sheet(ctx context.Context, states [][]float64, s runs.Sampling) ([]dataset.Sheet, error) {
	m.withSeed(s.Seed).run(ctx, states, s.Chain.Sweeps, nil, philox.Chain, 0)
	if m.scaling != nil {
		if err := m.scaling.back(states); err != nil {
			return nil, err
		}
	}
	return runs.Sheet(dataset.Sheet{Shape: m.shape, Values: states}, ctx.Err())
}

// filters returns the first n filters as images. The images have the shape of the rows if shape is zero.
func (m *Model) filters(shape dataset.Shape, all [][]float64, n int) dataset.Sheet {
	if shape == (dataset.Shape{}) {
		shape = m.shape
	}
	all = all[:min(n, len(all))]
	if m.scaling == nil {
		return dataset.Filters(shape, all)
	}
	images := make([][]float64, len(all))
	for k, filter := range all {
		images[k] = make([]float64, len(filter))
		times(images[k], m.scaling.m(), filter)
	}
	return dataset.Filters(shape, images)
}

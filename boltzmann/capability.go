package boltzmann

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/runs"
)

// FromChains returns a drawing of what a model's chains reach from random starts, such as the means of the visible units.
// The function draw runs n chains for a number of sweeps, with draws from the seed.
func FromChains(kind string, draw func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error)) runs.Drawing {
	return runs.Drawing{Kind: kind, Uses: []string{"gibbs", "seed"}, Sweeps: 5000,
		Draw: func(ctx context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
			return runs.Sheet(draw(ctx, s.Seed, s.N, s.Chain.Sweeps))
		}}
}

// Drawings returns three drawings: means and draws that chains reach from random starts, and the weights of hidden
// units.
func (m *Model) Drawings() []runs.Drawing {
	means := FromChains("means", func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error) {
		return m.WithSeed(seed).Means(ctx, n, sweeps)
	})
	draws := FromChains("draws", func(ctx context.Context, seed uint64, n, sweeps int) (dataset.Sheet, error) {
		return m.WithSeed(seed).Sample(ctx, n, sweeps)
	})
	return runs.Drawings(means, draws, runs.Drawing{Kind: "filters", Draw: func(_ context.Context, s runs.Sampling) ([]dataset.Sheet, error) {
		return runs.Sheet(m.Filters(min(s.N, m.bottom().Spec.Hidden)))
	}})
}

// Inpainting fills in masked units by Inpaint. The seed replaces the model's seed.
func (m *Model) Inpainting() runs.Inpainting {
	return runs.Inpainting{Uses: []string{"draws"}, Sweeps: 500, Fill: func(ctx context.Context, rows dataset.Split, mask dataset.Mask, chains int, c runs.Chain, seed uint64, progress func(float64)) (dataset.Inpainting, error) {
		return m.WithSeed(seed).inpaint(ctx, rows, mask, chains, c, progress)
	}}
}

// Evaluations evaluates the model by Evaluate, and also by RAISE if the options ask for it. It refuses annealing
// options if log Z is exact. If the options ask for RAISE, it refuses a machine or rows that RAISE cannot evaluate.
func (m *Model) Evaluations() runs.Evaluations {
	uses := []string{"schedule", "chains", "raise", "raise-chains"}
	if m.below != nil {
		uses = append(uses, "samples")
	}
	return runs.Evaluations{Uses: uses, Named: true, Evaluate: func(ctx context.Context, o runs.EvaluationOptions) (runs.Evaluation, error) {
		if o.Raise > 0 {
			if err := m.checkRAISE(o.Set.Train(), o.Rows.Subset(o.Raise, o.Seed)); err != nil {
				return nil, &runs.OptionError{Option: "raise", Reason: strings.TrimSuffix(err.Error(), "; leave it out")}
			}
		}
		a, err := m.AnnealingOf(o)
		if err != nil {
			return nil, err
		}
		m := m.WithSeed(o.Seed)
		e, err := m.Evaluate(ctx, o.Set, o.Rows, a, o.ProgressOf("annealing"))
		if err != nil || o.Raise == 0 {
			return e, err
		}
		a.Chains = o.RaiseChains
		return e.WithRAISE(ctx, m, o.Set, o.Rows.Subset(o.Raise, o.Seed), a, o.ProgressOf("reverse annealing"))
	}}
}

// AnnealingOf returns the annealing that the options of an evaluation describe. It refuses a malformed schedule and, like
// RefuseAnnealing, options of annealing if log Z of the model is exact. If it is not, it refuses training rows with missing
// values, which have no base rates.
func (m *Model) AnnealingOf(o runs.EvaluationOptions) (Annealing, error) {
	a := Annealing{Chains: o.Chains, Samples: o.Samples}
	if o.Schedule != "" {
		if err := a.Schedule.UnmarshalText([]byte(o.Schedule)); err != nil {
			return a, err
		}
	}
	if m.checkEnumerable() != nil {
		return a, runs.CheckRows(o.Set.Shape().Units(), false, o.Set.Train())
	}
	return a, RefuseAnnealing(o)
}

// RefuseAnnealing refuses the options chains and schedule for an exact log Z, because nothing is annealed then. It
// allows a schedule for RAISE.
func RefuseAnnealing(o runs.EvaluationOptions) error {
	option := ""
	switch {
	case o.Chains > 0:
		option = "chains"
	case o.Schedule != "" && o.Raise == 0:
		option = "schedule"
	default:
		return nil
	}
	return &runs.OptionError{Option: option, Reason: "log Z is exact, since the machine is small enough to sum out, and nothing is annealed"}
}

// Estimate returns the measures of Evaluate that can be averaged over seeds, above all the mean of log p(v) over rows,
// in nats. If log Z is not exact, AIS estimates it along the published schedule, from the base rates of these rows;
// samples is the number of chains, and in a belief network also the number of importance samples per row. The standard
// error of log p omits the error of log Z. Estimate refuses fewer than one chain, and rows that do not fit the machine.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	if samples < 1 {
		return nil, fmt.Errorf("%d chains: give at least 1", samples)
	}
	m = m.WithSeed(seed)
	a := Annealing{Chains: samples, Samples: samples}
	energies, size, err := m.bestFreeEnergy(ctx, rows, m.countable(rows), a.samples())
	if err != nil {
		return nil, err
	}
	z, err := m.LogZ(ctx, rows, a, progress)
	settle(energies, rows, float64(z.Value))
	of := Evaluation{LogZ: z, SampleSizes: sampleSizes(size, runs.SampleSize{}, z, 0)} // AIS refuses base rates of rows with gaps
	of.FreeEnergy, of.FreeEnergySE = meanAndError(rows, energies)
	of.LogP, of.LogPSE = -of.FreeEnergy-z.Value-runs.Float(m.encoding.logScale()), of.FreeEnergySE
	if err != nil {
		return nil, err
	}
	of.Classification, err = m.classification(ctx, rows)
	return of.Findings().Estimates(), err
}

// LogPOfRows returns log p(v) = −F(v) − log Z of each row in nats, and describes in words how exact it is. If log Z is
// not exact, AIS estimates it from the base rates of the training rows. LogPOfRows refuses a malformed schedule, and
// rows that do not fit the machine.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) ([]float64, string, error) {
	logP, _, what, err := m.LogPAndErrors(ctx, o)
	return logP, what, err
}

// LogPAndErrors is like LogPOfRows, and also returns the standard error of log Z, which all rows with observed values share, unless
// log Z or the free energies are exact or bounds.
func (m *Model) LogPAndErrors(ctx context.Context, o runs.EvaluationOptions) (logP, se []float64, what string, err error) {
	a, err := m.AnnealingOf(o)
	if err != nil {
		return nil, nil, "", err
	}
	m = m.WithSeed(o.Seed)
	energies, size, err := m.bestFreeEnergy(ctx, o.Rows, m.countable(o.Rows), a.samples())
	if err != nil {
		return nil, nil, "", err
	}
	z, err := m.LogZ(ctx, o.Set.Train(), a, o.ProgressOf("annealing"))
	settle(energies, o.Rows, float64(z.Value))
	logP, what = LogPBy(energies, size, z)
	for r := range logP {
		logP[r] -= m.encoding.logScale()
	}
	if size.Errs == runs.Exact && z.Chains > 0 {
		error := float64(z.SE)
		if z.SampleSize().Few() {
			error = math.NaN()
		}
		se = slices.Repeat([]float64{error}, len(logP))
		for r := range se {
			if o.Rows.Mask(r).HidesAll() {
				se[r] = 0
			}
		}
	}
	return logP, se, what, err
}

// Scores returns −F(v) of each row in nats, and reports whether F(v) is exact.
func (m *Model) Scores(ctx context.Context, rows dataset.Split) ([]float64, bool, error) {
	energies, size, err := m.bestFreeEnergy(ctx, rows, m.countable(rows), Annealing{}.samples())
	if err == nil {
		err = m.settleExactly(ctx, energies, rows)
	}
	floats.Scale(-1, energies)
	return energies, size.Errs == runs.Exact, err
}

// LogPBy returns −F(v) − log Z of each row, and describes in words how exact it is. energies holds F(v) of each row,
// and size its bias and its samples.
func LogPBy(energies []float64, size runs.SampleSize, z LogZ) (logP []float64, what string) {
	for _, f := range energies {
		logP = append(logP, -f-float64(z.Value))
	}
	both := size.Plus(z.SampleSize()).Negative()
	return logP, [...]string{
		runs.Exact: "exact", runs.ErrsHigh: "by annealed importance sampling (AIS) of log Z, and too high in expectation",
		runs.ErrsLow:    "a lower bound, or too low in expectation",
		runs.ErrsEither: "an estimate, by bounds of free energies and annealed importance sampling (AIS) of log Z",
	}[both.Errs] + names.Clause(both.Detail())
}

// doubles reports whether the run in dir trained a layer of a deep machine with one side of the layer doubled, or
// stands on a run that did.
func doubles(dir string) bool {
	e, err := runs.ExperimentIn(dir) // opening the run reports the error
	layer, is := e.(Experiment)
	if err != nil || !is {
		return false
	}
	return layer.Machine.Doubled != DoubledNeither || layer.Below != nil && doubles(layer.Below.Run)
}

// Features returns the means of the hidden units given each row of data, as inputs for classifiers.
// layers[l][r] holds the means in hidden layer l given row r; the lowest layer comes first. In a restricted
// machine the means are exact, and in a deep machine they come from mean field. In a belief network, the
// means of a layer are conditional on the means of the layer below. In a machine with labels, all units of
// the label are off. Rows are binarised as in training; stochastic binarisation draws them from the model's
// seed.
func (m *Model) Features(ctx context.Context, rows dataset.Split) (layers [][][]float32, err error) {
	rows.Labels = nil
	v, err := m.observe(rows)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		w, hidden := newProducts(p), kernels.NewMatrix(v.Rows, p.Hidden())
		inParts(v.Rows, func(first, last int) {
			if ctx.Err() != nil {
				return
			}
			states, means := kernels.Rows(v, first, last), kernels.Rows(hidden, first, last)
			if p.Layers != nil {
				w.meanField(states, means, toTheEnd)
			} else {
				w.up(means, states)
			}
			off := make([]float32, p.Hidden())
			for r := range means.Rows {
				w.latent.sumOut(kernels.Row(means, r), off)
				scaled(kernels.Row(means, r), -1, kernels.Row(means, r))
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for l := range p.Spec.layers(0)[1:] {
			side, first, last := hidden, 0, p.Hidden()
			if p.Layers != nil {
				side = []kernels.Matrix{v, hidden}[(l+1)%2]
				first, last = p.units(l + 1)
			}
			var layer [][]float32
			for r := range side.Rows {
				layer = append(layer, kernels.Row(side, r)[first:last:last])
			}
			layers = append(layers, layer)
		}
		v = hidden
	}
	return layers, nil
}

// Machines returns a copy of the parameters of each machine. A belief network has one machine per hidden
// layer, the lowest first; any other model has a single machine.
func (m *Model) Machines() (machines []*Parameters) {
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		machines = append(machines, p.clone())
	}
	return machines
}

// Encodings returns Features as the kind means, with the units of the lowest layer first.
func (m *Model) Encodings() []runs.Encoding {
	var columns []string
	layer := 0
	for _, p := range slices.Concat(m.below, stack{m.parameters}) {
		for _, units := range p.Spec.layers(0)[1:] {
			layer++
			columns = append(columns, names.Numbered(fmt.Sprintf("h%d_", layer), units)...)
		}
	}
	return []runs.Encoding{{Kind: "means", Columns: columns, Encode: func(ctx context.Context, rows dataset.Split, _ int, seed uint64) ([][]float64, error) {
		layers, err := m.WithSeed(seed).Features(ctx, rows)
		features := make([][]float64, rows.Rows)
		for _, layer := range layers {
			for r, means := range layer {
				features[r] = append(features[r], kernels.Doubles(means)...)
			}
		}
		return features, err
	}}}
}

package autoencoder

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Training and evaluations measure these: a mean over rows, and a number of variables.
var (
	bound  = runs.Measure{Key: "bound", Name: "bound", Label: "lower bound", Unit: "nats", Rises: true}
	active = runs.Measure{Key: "active", Name: "active variables", Label: "latent variables whose expected value varies", Rises: true}
)

func measured(r engine.Report) runs.Measures {
	return runs.Measures{runs.LogP.Key: r.LogP, bound.Key: r.Bound, runs.ESS.Key: r.ESS}
}

// weigh draws latent variables given the outputs of an encoder after its forward pass, and runs the decoder
// forward on them. Every row of the encoder gets the same number of samples; together they fill the rows of
// the decoder. weigh calls each with log p(x,z) − log q(z|x) of every sample.
func (m *Model) weigh(decoder, encoder stack, at place, each func(datum, sample int, log float64)) {
	z, outputs := decoder.input(), decoder.outputs()
	samples, logs := z.Rows/encoder.input().Rows, make([]float64, z.Rows)
	for r := range logs {
		logs[r] = m.latent.draw(kernels.Row(z, r), kernels.Row(encoder.outputs(), r/samples), m.prior, at.sampled(r, samples))
	}
	decoder.forward()
	for r, log := range logs {
		logP, _ := m.score(kernels.Row(outputs, r), kernels.Row(encoder.input(), r/samples))
		each(r/samples, r%samples, logP+log)
	}
}

// samplesAPass is the approximate number of samples that are evaluated together.
const samplesAPass = 100

// activeVariance is a threshold: a latent variable is active if the variance of its expected value over rows
// is larger (Burda, Grosse and Salakhutdinov 2016).
const activeVariance = 0.01

// checkRows refuses rows that the encoder cannot read.
func (m *Model) checkRows(rows dataset.Split) error {
	return runs.CheckRows(m.shape.Units(), m.settings.Decoder != Normal, rows)
}

// evaluate estimates the likelihood of each row from samples of q(z|x), describes the samples, and counts the active
// latent variables.
func (m *Model) evaluate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (of []engine.Likelihood, size runs.SampleSize, used int, err error) {
	if err := m.checkRows(rows); err != nil {
		return nil, size, 0, err
	}
	if samples < 1 {
		return nil, size, 0, fmt.Errorf("%d samples per row: give at least 1", samples)
	}
	of = make([]engine.Likelihood, rows.Rows)
	ess, moved := make([]float64, rows.Rows), make([]float64, rows.Rows)
	codes, done := kernels.NewMatrix(rows.Rows, m.settings.Code), work.Meter(progress, rows.Rows)
	work.Parts(rows.Rows, max(1, samplesAPass/samples), func(first, last int) {
		if ctx.Err() != nil {
			return
		}
		encoder := m.encode(rows, first, last, seed, codes)
		sums, halves := make([]engine.WeightSum, last-first), make([]engine.WeightSum, last-first)
		for sample := 0; sample < samples && ctx.Err() == nil; sample += samplesAPass {
			decoder := newStack(m.decoder, m.settings.Activation, (last-first)*min(samplesAPass, samples-sample), false)
			at := place{key: philox.Key(seed), purpose: philox.Importance, datum: first, sample: sample}
			m.weigh(decoder, encoder, at, func(datum, _ int, log float64) {
				if sums[datum].Add(log); sums[datum].Count == samples/2 {
					halves[datum] = sums[datum]
				}
			})
		}
		for r, s := range sums {
			l := s.AfterHalf(halves[r])
			of[first+r], ess[first+r], moved[first+r] = l, l.ESS, l.LogP-l.LogPOfHalf
		}
		done(last - first)
	})
	column := make([]float64, rows.Rows)
	for j := range m.settings.Code {
		for r := range column {
			column[r] = float64(kernels.Row(codes, r)[j])
		}
		if stat.PopVariance(column, rows.MeanWeights()) > activeVariance {
			used++
		}
	}
	return of, runs.MeanSampleSize(rows.MeanWeights(), runs.ErrsLow, "samples a row", samples, ess, moved), used, ctx.Err()
}

// encode runs the encoder forward on rows first to last−1, and writes the expected values of their latent
// variables into the same rows of codes.
func (m *Model) encode(rows dataset.Split, first, last int, seed uint64, codes kernels.Matrix) stack {
	encoder := newStack(m.encoder, m.settings.Activation, last-first, false)
	for r := range last - first {
		m.load(kernels.Row(encoder.input(), r), rows, first+r, place{key: philox.Key(seed), purpose: philox.Observe, datum: first + r})
	}
	encoder.forward()
	for r := range last - first {
		m.latent.expected(kernels.Row(codes, first+r), kernels.Row(encoder.outputs(), r))
	}
	return encoder
}

// Estimate returns means over rows, with their standard errors: log p(x) ≈ log (1/K) Σ p(x,z_k)/q(z_k|x) and
// the lower bound, both in nats, and the effective sample size, as a fraction of K. K is the argument
// samples. Estimate also counts the active latent variables. Rows are binarised as in training; Estimate
// refuses rows whose number of units differs from the model's, and real numbers for a Bernoulli decoder.
func (m *Model) Estimate(ctx context.Context, rows dataset.Split, samples int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	of, size, used, err := m.evaluate(ctx, rows, samples, seed, progress)
	if err != nil {
		return nil, err
	}
	estimate := func(of []engine.Likelihood, field func(engine.Likelihood) float64) (e runs.Estimate) {
		values := lists.N(len(of), func(i int) float64 { return field(of[i]) })
		return runs.EstimateOver(rows, values)
	}
	ess := estimate(of, func(l engine.Likelihood) float64 { return l.ESS })
	ess.Value = min(1, ess.Value) // rounding may exceed 1
	logP := estimate(of, func(l engine.Likelihood) float64 { return l.LogP })
	logP.SampleSize, ess.SampleSize = size, size
	ess.SampleSize.Of = ""
	return runs.Estimates{
		runs.LogP.Key: logP,
		bound.Key:     estimate(of, func(l engine.Likelihood) float64 { return l.Bound }),
		runs.ESS.Key:  ess,
		active.Key:    {Value: float64(used), SE: math.NaN()},
	}, nil
}

// LogPOfRows returns an estimate of log p(x) for each row, in nats, and its description in words. It uses o.Samples
// samples per row, or 1,000 if o.Samples is 0. It fails like Estimate.
func (m *Model) LogPOfRows(ctx context.Context, o runs.EvaluationOptions) (logP []float64, what string, err error) {
	samples := cmp.Or(o.Samples, 1000)
	of, size, _, err := m.evaluate(ctx, o.Rows, samples, o.Seed, o.ProgressOf("evaluating"))
	for _, l := range of {
		logP = append(logP, l.LogP)
	}
	return logP, fmt.Sprintf("by %s a row, and too low in expectation", names.Count(samples, "importance sample")) + names.Clause(size.Detail()), err
}

// Sample draws n rows x ~ p(x) from the seed, and returns them with their expected values given the
// latent variables. n must not be negative.
func (m *Model) Sample(n int, seed uint64) (rows, means [][]float64) {
	at := place{key: philox.Key(seed), purpose: philox.Ancestral}
	decoder, x := newStack(m.decoder, m.settings.Activation, n, false), make([]float32, m.shape.Units())
	for r := range n {
		m.latent.dream(kernels.Row(decoder.input(), r), m.prior, at.sampled(r, 1))
	}
	decoder.forward()
	for r := range n {
		outputs := kernels.Row(decoder.outputs(), r)
		m.observe(x, outputs, at.sampled(r, 1))
		rows, means = append(rows, kernels.Doubles(x)), append(means, m.expected(outputs))
	}
	return rows, means
}

// Reconstruct binarises rows as in training, and draws z ~ q(z|x) from the seed. It returns x as the
// encoder reads it, and the expected value of x given z. It panics on rows that Estimate refuses, but accepts
// a split without rows.
func (m *Model) Reconstruct(rows dataset.Split, seed uint64) (x, means [][]float64) {
	if err := m.checkRows(rows); rows.Rows > 0 && err != nil {
		panic("autoencoder: " + err.Error())
	}
	at := place{key: philox.Key(seed), purpose: philox.Posterior}
	encoder := m.encode(rows, 0, rows.Rows, seed, kernels.NewMatrix(rows.Rows, m.settings.Code))
	decoder := newStack(m.decoder, m.settings.Activation, rows.Rows, false)
	for r := range rows.Rows {
		m.latent.draw(kernels.Row(decoder.input(), r), kernels.Row(encoder.outputs(), r), m.prior, at.sampled(r, 1))
	}
	decoder.forward()
	for r := range rows.Rows {
		x, means = append(x, kernels.Doubles(kernels.Row(encoder.input(), r))), append(means, m.expected(kernels.Row(decoder.outputs(), r)))
	}
	return x, means
}

func (m *Model) observe(x, outputs []float32, at place) {
	if m.noise == nil {
		kernels.Draw(x, outputs, 0, at.key, at.counter(0))
		return
	}
	outputs = append(make([]float32, 0, 2*len(x)), outputs...)
	for range x {
		outputs = append(outputs, m.noise[0])
	}
	kernels.DrawGaussian(x, outputs, len(x), floor, at.key, at.counter(0))
}

func (m *Model) expected(outputs []float32) []float64 {
	if m.noise != nil {
		return kernels.Doubles(outputs)
	}
	return lists.Map(outputs, func(a float32) float64 { return float64(kernels.Sigmoid(a)) })
}

// Drawings returns three drawings: the expected values of x given latent variables from the prior, draws of x
// given the same variables, and rows, each followed by its reconstruction.
func (m *Model) Drawings() []runs.Drawing {
	return runs.Drawings(append(runs.Samples(m.shape, m.Sample), runs.Reconstructions(m.shape, func(rows dataset.Split, seed uint64) (x, means [][]float64, err error) {
		if err := m.checkRows(rows); err != nil {
			return nil, nil, err
		}
		x, means = m.Reconstruct(rows, seed)
		return x, means, nil
	}))...)
}

// Encodings lists the codes of rows, the expected values of the latent variables given a row.
func (m *Model) Encodings() []runs.Encoding {
	return []runs.Encoding{{Kind: "codes", Columns: names.Numbered("code_", m.settings.Code), Encode: func(_ context.Context, rows dataset.Split, _ int, seed uint64) (features [][]float64, err error) {
		if err := m.checkRows(rows); err != nil {
			return nil, err
		}
		codes := kernels.NewMatrix(rows.Rows, m.settings.Code)
		m.encode(rows, 0, rows.Rows, seed, codes)
		for r := range rows.Rows {
			features = append(features, kernels.Doubles(kernels.Row(codes, r)))
		}
		return features, nil
	}}}
}

package autoencoder

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/lists"
	"github.com/helmholtz-go/helmholtz/internal/names"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Bound is the lower bound of log p(x) that training ascends.
type Bound int

const (
	ELBO Bound = iota
	IWAE
)

var boundNames = names.New("bound", "elbo", "iwae")

func (b Bound) String() string                { return boundNames.Name(int(b)) }
func (b Bound) MarshalText() ([]byte, error)  { return boundNames.Marshal(int(b)) }
func (b *Bound) UnmarshalText(t []byte) error { return boundNames.Parse((*int)(b), t) }

// weigh replaces the log weights of a datum's samples by the factors that multiply their derivatives in the
// gradient of the bound.
func (b Bound) weigh(logs []float64) {
	total := floats.LogSumExp(logs)
	for k, l := range logs {
		if logs[k] = 1 / float64(len(logs)); b == IWAE {
			logs[k] = math.Exp(l - total)
		}
	}
}

// pass holds what a step computes from a minibatch of B rows with K samples each.
type pass struct {
	encoder stack // B rows
	decoder stack // B·K rows, the samples of a datum together
	prior   kernels.Matrix
	noise   []float64
	sums    []engine.WeightSum // one for each datum, over its draws
}

func (m *Model) newPass(rows int) *pass {
	s := m.settings
	samples := rows * s.Samples
	p := &pass{encoder: newStack(m.encoder, s.Activation, rows, true), decoder: newStack(m.decoder, s.Activation, samples, true),
		noise: make([]float64, samples), sums: make([]engine.WeightSum, rows)}
	if m.prior != nil {
		p.prior = kernels.NewMatrix(samples, s.Code)
	}
	last := len(p.decoder.values) - 1
	p.decoder.derivatives[last] = p.decoder.values[last] // score replaces outputs by derivatives
	return p
}

// rows returns the part of the pass for data first to last−1, with all their samples. The part shares the
// memory of p.
func (p *pass) rows(first, last, samples int) *pass {
	from, to := first*samples, last*samples
	part := &pass{p.encoder.rows(first, last), p.decoder.rows(from, to), p.prior, p.noise[from:to], p.sums[first:last]}
	if part.prior.Data != nil {
		part.prior = kernels.Rows(part.prior, from, to)
	}
	return part
}

// samplesAPart is the approximate number of samples that one processor takes through the networks together.
const samplesAPart = 32

// step takes a step of Adam along the mean gradient of the bound over a minibatch. It returns the measures
// before the step, estimated from the step's draws.
func (m *Model) step(b runs.Minibatch, key philox.Key, rate float64) runs.Measures {
	p := m.differentiate(b, key)
	likelihoods := lists.Map(p.sums, func(s engine.WeightSum) engine.Likelihood { return s.Likelihood() })
	m.adam.Ascend(m.network.flat, m.gradient.flat, rate, 0.9, b.Step)
	return measured(engine.MeanReport(likelihoods))
}

// differentiate sets the gradient to the mean gradient of the bound over a minibatch.
func (m *Model) differentiate(b runs.Minibatch, key philox.Key) *pass {
	samples := m.settings.Samples
	p, n := m.newPass(len(b.Index)), len(b.Index)
	work.Parts(n, max(1, samplesAPart/samples), func(first, last int) {
		part := p.rows(first, last, samples)
		for r := range last - first {
			at := place{key: key, purpose: philox.Binarize, datum: first + r, step: b.Step}
			m.load(kernels.Row(part.encoder.input(), r), b.Rows, b.Index[first+r], at)
		}
		m.back(part, place{key: key, purpose: philox.Wake, datum: first, step: b.Step}, 1/float64(n))
	})
	p.encoder.derive(m.gradient.encoder)
	p.decoder.derive(m.gradient.decoder)
	clear(m.gradient.prior)
	for r := range p.prior.Rows {
		kernels.AddMultiple(m.gradient.prior, 1, kernels.Row(p.prior, r))
	}
	if m.noise != nil {
		m.gradient.noise[0] = float32(floats.Sum(p.noise))
	}
	return p
}

// back computes the derivatives of the sum of the data's bounds, times scale, with respect to all layers of
// p.
func (m *Model) back(p *pass, at place, scale float64) {
	samples, exact := m.settings.Samples, m.settings.Bound == ELBO
	x, codes, outputs, likelihoods := p.encoder.input(), p.encoder.outputs(), p.decoder.outputs(), make([]float64, samples)
	p.encoder.forward()
	if m.settings.Latent == GumbelSoftmax {
		// The measures need Bernoulli draws; the gradient uses relaxed ones.
		draws := newStack(m.decoder, m.settings.Activation, outputs.Rows, false)
		m.weigh(draws, p.encoder, at, func(datum, _ int, log float64) { p.sums[datum].Add(log) })
	}
	logs := make([]float64, outputs.Rows)
	for r := range logs {
		logs[r] = m.latent.relax(kernels.Row(p.decoder.input(), r), kernels.Row(codes, r/samples), m.prior, at.sampled(r, samples))
	}
	p.decoder.forward()
	for d := range x.Rows {
		for k := range samples {
			r := d*samples + k
			likelihoods[k], p.noise[r] = m.score(kernels.Row(outputs, r), kernels.Row(x, d))
			likelihoods[k] += logs[r]
			if m.settings.Latent != GumbelSoftmax {
				p.sums[d].Add(likelihoods[k])
			}
		}
		m.settings.Bound.weigh(likelihoods)
		for k, weight := range likelihoods {
			r := d*samples + k
			logs[r] = weight * scale
			p.noise[r] *= logs[r]
			kernels.Scale(kernels.Row(outputs, r), logs[r])
		}
	}
	p.decoder.backward(0)
	last := len(p.encoder.derivatives) - 1
	for r, weight := range logs {
		s := sample{z: kernels.Row(p.decoder.input(), r), outputs: kernels.Row(codes, r/samples), prior: m.prior,
			dz: kernels.Row(p.decoder.derivatives[0], r), doutputs: kernels.Row(p.encoder.derivatives[last], r/samples),
			at: at.sampled(r, samples), weight: weight, exact: exact}
		if m.prior != nil {
			s.dprior = kernels.Row(p.prior, r)
		}
		m.latent.learn(s)
	}
	p.encoder.backward(1)
}

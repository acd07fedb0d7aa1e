package autoencoder

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
	"github.com/helmholtz-go/helmholtz/internal/work"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Generator is a generative adversarial network (Goodfellow et al. 2014) with D visible and L latent variables.
// The generator turns z ~ N(0, I) into the means g(z) of D pixels. The discriminator turns pixels x into one number
// f(x) = log D(x)/(1−D(x)). Training ascends two objectives at the same time, in nats per row:
//
//	½E[log D(x)] + ½E[log(1−D(g(z)))]    by the parameters of the discriminator; x are rows of the data
//	E[log D(g(z))]                       by the parameters of the generator; this is its non-saturating loss
//
// The discriminator sees the means g(z) of generated rows, through which the gradient passes exactly. Samples are draws of
// Bernoulli variables with these means.
//
// Generator has no log p. At the first objective's maximum, f(x) is the log ratio of the densities of the data and of the
// generated rows; the maximum plus log 2 is their Jensen–Shannon divergence.
type Generator struct {
	*network     // the encoder is the discriminator, and the decoder the generator
	shape        dataset.Shape
	settings     AdversarialSettings
	binarization dataset.Binarization
	gradient     *network // of each objective with respect to the parameters of its network
	adam         kernels.Moments
}

// Training and evaluations measure these.
var (
	divergence = runs.Measure{Key: "divergence", Name: "divergence, lower bound", Label: "lower bound of the divergence", Unit: "nats"}
	fooled     = runs.Measure{Key: "generator_loss", Name: "loss of the generator", Label: "−log D of generated rows", Unit: "nats"}
)

func (s AdversarialSettings) network(visible int) *network {
	discriminator, generator := s.layers(visible)
	return newNetwork(discriminator, generator, 0, 0)
}

func newGenerator(s AdversarialSettings, binarization dataset.Binarization, shape dataset.Shape) *Generator {
	n := s.network(shape.Units())
	return &Generator{network: n, shape: shape, settings: s, binarization: binarization, gradient: s.network(shape.Units()), adam: kernels.NewMoments(len(n.flat))}
}

// String names the layers of the generator, and the number of parameters of both networks.
func (m *Generator) String() string {
	return fmt.Sprintf("a generative adversarial network of %v units with %d parameters", strings.TrimPrefix(m.settings.legend(m.shape.Units()), "GAN "), len(m.flat))
}

// generate draws z ~ N(0, I), runs the generator forward, and writes the means g(z) into rows of to.
func (m *Generator) generate(g stack, at place, to kernels.Matrix) {
	for r := range to.Rows {
		gaussian{}.dream(kernels.Row(g.input(), r), nil, at.sampled(r, 1))
	}
	g.forward()
	for r := range to.Rows {
		row := kernels.Row(to, r)
		copy(row, kernels.Row(g.outputs(), r))
		kernels.Sigmoids(row)
	}
}

// losses returns −log D(x) of rows if real is true, and else −log(1−D(x)), given the outputs f(x) of the discriminator.
func losses(f []float32, real bool) (all []float64) {
	for _, f := range f {
		if real {
			f = -f
		}
		all = append(all, statistics.Softplus(float64(f)))
	}
	return all
}

// judged returns the measures, given the mean of −log D(x) over rows and f(x) of generated rows.
func judged(rows runs.Estimate, generated []float32) runs.Estimates {
	others := runs.EstimateOf(losses(generated, false))
	return runs.Estimates{
		divergence.Key: {Value: math.Ln2 - (rows.Value+others.Value)/2, SE: math.Hypot(rows.SE, others.SE) / 2},
		fooled.Key:     runs.EstimateOf(losses(generated, true)),
	}
}

// learn sets the derivatives with respect to the outputs f(x) of a discriminator, in ascent of −losses times scale.
func (s stack) learn(real bool, scale float64) {
	for r := range s.outputs().Rows {
		f := float64(kernels.Row(s.outputs(), r)[0])
		d := -scale * statistics.Sigmoid(f)
		if real {
			d = scale * statistics.Sigmoid(-f)
		}
		kernels.Row(s.derivatives[len(s.derivatives)-1], r)[0] = float32(d)
	}
}

// differentiate sets the gradients of both objectives over a minibatch and as many generated rows, and returns the
// measures before the step.
func (m *Generator) differentiate(b runs.Minibatch, key philox.Key) runs.Measures {
	n := len(b.Index)
	d, g := newStack(m.encoder, m.settings.Activation, 2*n, true), newStack(m.decoder, m.settings.Activation, n, true)
	work.Parts(n, samplesAPart, func(first, last int) {
		real, fake, g := d.rows(first, last), d.rows(n+first, n+last), g.rows(first, last)
		for r := range last - first {
			at := place{key: key, purpose: philox.Binarize, datum: first + r, step: b.Step}
			binarized(kernels.Row(real.input(), r), b.Rows, b.Index[first+r], m.binarization, at)
		}
		m.generate(g, place{key: key, purpose: philox.Wake, datum: first, step: b.Step}, fake.input())
		real.forward()
		fake.forward()
		fake.learn(true, 1/float64(n))
		fake.backward(0)
		for r := range last - first {
			to, by := kernels.Row(g.derivatives[len(g.derivatives)-1], r), kernels.Row(fake.derivatives[0], r)
			for i, x := range kernels.Row(fake.input(), r) {
				to[i] = by[i] * x * (1 - x)
			}
		}
		g.backward(1)
		real.learn(true, 0.5/float64(n))
		fake.learn(false, 0.5/float64(n))
		real.backward(1)
		fake.backward(1)
	})
	d.derive(m.gradient.encoder)
	g.derive(m.gradient.decoder)
	f := d.outputs().Data
	return judged(runs.EstimateOf(losses(f[:n], true)), f[n:]).Values()
}

// Estimate returns a lower bound of the Jensen–Shannon divergence between rows and as many generated ones, which the
// seed draws, and the loss of the generator, both in nats with standard errors. Both say how the networks compare, and not how
// good samples are: eval --samples-against judges samples. Rows are binarised as in training. Estimate refuses rows
// whose number of units differs from the model's, and real numbers.
func (m *Generator) Estimate(ctx context.Context, rows dataset.Split, _ int, seed uint64, progress func(float64)) (runs.Estimates, error) {
	if err := runs.CheckRows(m.shape.Units(), true, rows); err != nil {
		return nil, err
	}
	real, generated, done := make([]float32, rows.Rows), make([]float32, rows.Rows), work.Meter(progress, rows.Rows)
	work.Parts(rows.Rows, samplesAPass, func(first, last int) {
		if ctx.Err() != nil {
			return
		}
		d, g := newStack(m.encoder, m.settings.Activation, last-first, false), newStack(m.decoder, m.settings.Activation, last-first, false)
		at := place{key: philox.Key(seed), purpose: philox.Observe, datum: first}
		for r := range last - first {
			binarized(kernels.Row(d.input(), r), rows, first+r, m.binarization, at.sampled(r, 1))
		}
		d.forward()
		copy(real[first:last], d.outputs().Data)
		at.purpose = philox.Importance
		m.generate(g, at, d.input())
		d.forward()
		copy(generated[first:last], d.outputs().Data)
		done(last - first)
	})
	return judged(runs.EstimateOver(rows, losses(real, true)), generated), ctx.Err()
}

// CountSamples returns "": estimates draw no samples for a row.
func (m *Generator) CountSamples(int) string { return "" }

// Sample draws n rows from the seed, and returns them with their means g(z). n must not be negative.
func (m *Generator) Sample(n int, seed uint64) (rows, means [][]float64) {
	at := place{key: philox.Key(seed), purpose: philox.Ancestral}
	g, x, to := newStack(m.decoder, m.settings.Activation, n, false), make([]float32, m.shape.Units()), kernels.NewMatrix(n, m.shape.Units())
	m.generate(g, at, to)
	for r := range n {
		at := at.sampled(r, 1)
		kernels.Draw(x, kernels.Row(g.outputs(), r), 0, at.key, at.counter(0))
		rows, means = append(rows, kernels.Doubles(x)), append(means, kernels.Doubles(kernels.Row(to, r)))
	}
	return rows, means
}

// Drawings returns two drawings: the means of generated rows, and draws with these means.
func (m *Generator) Drawings() []runs.Drawing {
	return runs.Drawings(runs.Samples(m.shape, m.Sample)...)
}

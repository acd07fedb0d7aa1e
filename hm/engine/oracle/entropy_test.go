package oracle

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// Under the distributions of the networks themselves, local entropies must add up to the joint
// ones: H[p(x,h)], and the mean of H[q(h|x)] over the data.
func TestLocalEntropiesAddUp(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // entropies are of Bernoulli units
		}
		p := 0.0
		for s, probability := range m.Model() {
			p -= probability * m.LogJointOf(s)
		}
		q := mean(data, func(x []float64) (h float64) {
			for _, s := range m.Explain(x).states {
				h -= math.Exp(m.LogRecognitionOf(s)) * m.LogRecognitionOf(s)
			}
			return h
		})
		wantAllClose(t, "entropies", []float64{
			m.LocalEntropy(m.Generative, m.Model()), m.LocalEntropy(m.Recognition, m.Wake(data, Uniform)),
		}, []float64{p, q}, 1e-12)
	})
}

// TestLocalEntropyGradient compares the gradient with finite differences of the entropy, under
// measures that do not depend on the parameters.
func TestLocalEntropyGradient(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // entropies are of Bernoulli units
		}
		fixed := randomMachine(m.Architecture, 3)
		for name, c := range map[string]struct {
			units []Unit
			held  Distribution
		}{"p": {m.Generative, fixed.Model()}, "q": {m.Recognition, fixed.Wake(data, Uniform)}} {
			entropy := func() float64 { return m.LocalEntropy(c.units, c.held) }
			wantAllClose(t, "∂H of "+name, m.LocalEntropyGradient(c.units, c.held), slope(m, 0, len(m.Flat), entropy), 1e-8)
		}
	})
}

// The logits are linear in the parameters, so the gradient is −F·θ, with each block of the Fisher
// matrix acting on the parameters of its unit. Under the natural gradient without damping, entropy
// is therefore weight decay, including biases.
func TestEntropyIsWeightDecayInTheFisherMetric(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		if m.Architecture.Groups != nil {
			return // entropies are of Bernoulli units
		}
		want := make([]float64, len(m.Flat))
		for _, b := range m.Fisher(m.Generative, m.Model()) {
			var product mat.VecDense
			product.MulVec(b.Matrix, mat.NewVecDense(b.Unit.Width, m.Flat[b.Unit.Start:b.Unit.Start+b.Unit.Width]))
			for k := range b.Unit.Width {
				want[b.Unit.Start+k] = -product.AtVec(k)
			}
		}
		wantAllClose(t, "∂H", m.LocalEntropyGradient(m.Generative, m.Model()), want, 1e-12)
	})
}

// The printed estimator of the entropy, minus the mean score of the samples, is the baseline of the q-wake phase at
// the strength of this phase.
func TestTheEntropyEstimatorIsABaseline(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		samples, theta := draw(m, data, 3, 4, 5), m.Architecture.GenerativeSize()
		for _, with := range []engine.Algorithm{ReweightedWakeSleep, Bidirectional} {
			without := with
			without.Baseline = false
			want := m.GradientOn(samples, without)
			floats.AddScaled(want, -with.QWake, m.Score(m.WakeMeasure(samples, Uniform)))
			wantAllClose(t, "φ", m.GradientOn(samples, with)[theta:], want[theta:], 1e-12)
		}
	})
}

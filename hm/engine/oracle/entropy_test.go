package oracle

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Under the distributions of the networks themselves, local entropies must add up to the joint
// ones: H[p(x,h)], and the mean of H[q(h|x)] over the data.
func TestLocalEntropiesAddUp(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		if m.Architecture.Groups != nil {
			return // entropies are of Bernoulli units
		}
		p := 0.0
		for s, probability := range m.Model() {
			p -= probability * m.LogJoint(s)
		}
		q := mean(data, func(x []bool) (h float64) {
			for s := range m.States(x) {
				h -= math.Exp(m.LogRecognition(s)) * m.LogRecognition(s)
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
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
		if m.Architecture.Groups != nil {
			return // entropies are of Bernoulli units
		}
		fixed := randomMachine(t, m.Architecture, 3)
		for name, c := range map[string]struct {
			units []Unit
			held  Measure
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
	everyMachine(t, func(t *testing.T, m *Machine, data [][]bool) {
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

package oracle

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// A unit above two tanh layers must have the logit w·[1; tanh(V₂·[1; tanh(V₁·[1; parents])])] of the
// layers of the parameters, scores must be finite differences, and each block must be the covariance
// of its part of the score.
func TestTanhLayers(t *testing.T) {
	m := randomMachine(engine.Architecture{Units: []int{3, 2, 2}, Tanh: []int{2, 3}, Coding: engine.PlusMinusOne}, 4)
	p, size := engine.NewParameters(m.Architecture), m.Architecture.GenerativeSize()
	for k, w := range m.Flat {
		p.Flat[k] = float32(w)
	}
	product := func(l engine.Layer, below []float64, f func(float64) float64) (outputs []float64) {
		for j := range l.Units {
			a := float64(l.Row(j)[0])
			for k, w := range l.Row(j)[1:] {
				a += float64(w) * below[k]
			}
			outputs = append(outputs, f(a))
		}
		return outputs
	}
	same := func(a float64) float64 { return a }
	total := 0.0
	for s, probability := range m.Model() {
		total += probability
		u, v := m.Recognition[2], s
		z := product(p.Tanh[1][engine.Recognition][2], product(p.Tanh[0][engine.Recognition][2], u.parentsOf(v), math.Tanh), math.Tanh)
		_, _, a := m.Outputs(u, v)
		wantClose(t, "logit", a, product(p.Recognition[2], z, same)[0], 1e-12)

		score := m.ScoreOf(v)
		wantAllClose(t, "∂ log p", score[:size], slope(m, 0, size, func() float64 { return m.LogJointOf(s) }), 1e-8)
		wantAllClose(t, "∂ log q", score[size:], slope(m, size, len(m.Flat), func() float64 { return m.LogRecognitionOf(s) }), 1e-8)
	}
	wantClose(t, "Σ p(x,h)", total, 1, 1e-12)
	covariance := scoreCovariance(m, m.Generative, m.Model())
	for _, b := range m.Fisher(m.Generative, m.Model()) {
		first, last := b.Unit.Start, b.Unit.Start+b.Unit.Width
		wantSameMatrix(t, "block", b.Matrix, covariance.SliceSym(first, last), 1e-12)
	}
}

package oracle

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

func TestMarginalsAreDistributions(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, _ [][]float64) {
		p, star := 0.0, 0.0
		for v := range m.states(0, 0) {
			x := v[0]
			p += math.Exp(m.Explain(x).LogP())
			star += math.Exp(m.Explain(x).LogPTildeStar() - m.LogZ2())
		}
		wantClose(t, "Σ p(x)", p, 1, 1e-12)
		wantClose(t, "Σ p*(x)", star, 1, 1e-12)
	})
}

// Z is defined by p*(x,h) = √(p(x,h) q(x,h))/Z with q(x,h) = p*(x) q(h|x) (BiHM thesis 2016, 3.1):
// summing the square roots must give the same number.
func TestZIsTheSumOfGeometricMeans(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, _ [][]float64) {
		z := 0.0
		for s := range m.states(0, m.Architecture.Depth()) {
			z += math.Exp((m.LogJointOf(s) + m.Explain(s[0]).LogPTildeStar() - m.LogZ2() + m.LogRecognitionOf(s)) / 2)
		}
		wantClose(t, "log Z²", m.LogZ2(), 2*math.Log(z), 1e-12)
	})
}

// log Z² is at most 0, and Jensen's inequality orders the other quantities: Bound ≤ log p̃* ≤ log p
// and log p̃* ≤ log p*.
func TestBoundsAreOrdered(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, _ [][]float64) {
		if m.LogZ2() >= 0 {
			t.Errorf("log Z² is %g on a machine with p ≠ q", m.LogZ2())
		}
		for v := range m.states(0, 0) {
			x := v[0]
			bound, tilde, star, p := m.Explain(x).Bound(), m.Explain(x).LogPTildeStar(), m.Explain(x).LogPTildeStar()-m.LogZ2(), m.Explain(x).LogP()
			if bound >= tilde || tilde >= p || tilde >= star {
				t.Errorf("bound %g, log p̃* %g, log p %g, log p* %g", bound, tilde, p, star)
			}
			if ess, root := m.Explain(x).EffectiveSampleSize(Ratio), m.Explain(x).EffectiveSampleSize(SquareRoot); ess <= 0 || ess >= root || root >= 1 {
				t.Errorf("effective sample size %g for p/q, %g for √(p/q)", ess, root)
			}
			wantClose(t, "ESS of uniform weights", m.Explain(x).EffectiveSampleSize(Uniform), 1, 1e-12)
		}
	})
}

// If all weights are zero and both networks have the same biases, q is the posterior of p, every
// bound is tight and every weight is one.
func TestBoundsAreTightWhereRecognitionIsExact(t *testing.T) {
	p := engine.NewParameters(engine.Architecture{Units: []int{3, 2, 2}})
	for i, layer := range p.Generative {
		for j := range layer.Units {
			layer.Row(j)[0] = float32(i) - 0.3*float32(j)
			if i > 0 {
				p.Recognition[i].Row(j)[0] = layer.Row(j)[0]
			}
		}
	}
	m := NewNetworks(p)
	wantClose(t, "log Z²", m.LogZ2(), 0, 1e-12)
	for v := range m.states(0, 0) {
		x := v[0]
		want := 0.0
		for j, on := range x {
			want += logBernoulli(on > 0, float64(p.Generative[0].Row(j)[0]))
		}
		wantClose(t, "log p", m.Explain(x).LogP(), want, 1e-12)
		wantClose(t, "bound", m.Explain(x).Bound(), want, 1e-12)
		wantClose(t, "log p̃*", m.Explain(x).LogPTildeStar(), want, 1e-12)
		wantClose(t, "log p*", m.Explain(x).LogPTildeStar()-m.LogZ2(), want, 1e-12)
		wantClose(t, "ESS", m.Explain(x).EffectiveSampleSize(Ratio), 1, 1e-12)
	}
}

// The fraction (Σω)²/(K·Σω²) of 100,000 drawn weights must agree with its limit within two
// hundredths.
func TestEffectiveSampleSizeIsTheLimitOfItsEstimate(t *testing.T) {
	everyMachine(t, func(t *testing.T, m *Networks, data [][]float64) {
		const k = 100000
		weights := m.ImportanceWeights(draw(m, data[:1], k, 0, 4).Wake[0], Ratio)
		squares := 0.0
		for _, w := range weights {
			squares += w * w
		}
		wantClose(t, "effective sample size", 1/(k*squares), m.Explain(data[0]).EffectiveSampleSize(Ratio), 0.01)
	})
}

func TestKLIsZeroOnlyForItsOwnDistribution(t *testing.T) {
	fair := engine.NewParameters(engine.Architecture{Units: []int{2, 1}}) // p(x) = ¼ for each x
	m := NewNetworks(fair)
	off, on := []float64{0, 0}, []float64{1, 1}
	all := [][]float64{off, {1, 0}, {0, 1}, on}
	wantClose(t, "KL of the uniform distribution", m.KL(all), 0, 1e-12)
	wantClose(t, "KL of one row", m.KL([][]float64{on}), math.Log(4), 1e-12)
	wantClose(t, "KL of unequal rows", m.KL([][]float64{on, off, on, on}), 0.75*math.Log(3)+0.25*math.Log(1), 1e-12)
}

// Log-probabilities must stay finite if a probability underflows a float64.
func TestLogBernoulliDoesNotOverflow(t *testing.T) {
	wantClose(t, "log σ(−1000)", logBernoulli(true, -1000), -1000, 1e-15)
	wantClose(t, "log (1−σ(1000))", logBernoulli(false, 1000), -1000, 1e-15)
	wantClose(t, "log σ(1000)", logBernoulli(true, 1000), 0, 1e-15)
	wantClose(t, "log σ(0)", logBernoulli(true, 0), -math.Ln2, 1e-15)
}

package oracle

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
)

// mixed returns a machine with a Gaussian layer between Bernoulli layers, one with a Gaussian
// visible layer and one with a convolution, with random values of all units.
func mixed(seed uint64) (*Networks, []Values) {
	a := engine.Architecture{
		Units: []int{4, 4, 3, 2}, Coding: engine.PlusMinusOne,
		Kinds: []engine.Kind{engine.Gaussian, engine.Bernoulli, engine.Gaussian},
		Convolutions: []engine.Convolution{{
			Fine: engine.Grid{Height: 2, Width: 2, Channels: 1}, Channels: 2, Height: 2, Width: 1, Stride: 1,
			Recognition: true, Generative: true,
		}},
	}
	n := NewNetworks(Random(a, seed))
	rng := newRand(seed)
	var list []Values
	for range 5 {
		v := make(Values, len(a.Units))
		for i, units := range a.Units {
			for range units {
				if a.Kind(i) == engine.Gaussian {
					v[i] = append(v[i], rng.NormFloat64())
				} else {
					v[i] = append(v[i], float64(1-2*rng.IntN(2)))
				}
			}
		}
		list = append(list, v)
	}
	return n, list
}

// grouped returns a machine of mixed groups and a tanh layer, with random values of all units.
func grouped(seed uint64) (*Networks, []Values) {
	a := engine.Architecture{
		Units: []int{5, 3}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical}, Tanh: []int{2},
		Groups: [][]engine.Group{{{Units: 1, Real: true}, {Units: 2}, {Units: 2, Real: true}}, {{Units: 2, Rest: true}, {Units: 1, Real: true}}},
	}
	rng := newRand(seed)
	var list []Values
	for range 4 {
		x, none := rng.IntN(2), rng.IntN(2)
		list = append(list, Values{
			{rng.NormFloat64(), float64(x), float64(1 - x), rng.NormFloat64(), rng.NormFloat64()},
			{0, float64(none), rng.NormFloat64()},
		})
	}
	return NewNetworks(Random(a, seed)), list
}

func TestScoresAreDerivativesOfLogDensities(t *testing.T) {
	wantDerivatives(t, mixed)
	wantDerivatives(t, grouped)
}

func wantDerivatives(t *testing.T, machine func(uint64) (*Networks, []Values)) {
	t.Helper()
	n, list := machine(3)
	size := n.Architecture.GenerativeSize()
	for _, v := range list {
		score := n.ScoreOf(v)
		for k, was := range n.Flat {
			const step = 1e-5
			density := n.LogJointOf
			if k >= size {
				density = n.LogRecognitionOf
			}
			n.Flat[k] = was + step
			above := density(v)
			n.Flat[k] = was - step
			below := density(v)
			n.Flat[k] = was
			wantClose(t, "derivative", score[k], (above-below)/(2*step), 1e-6)
		}
	}
}

// The densities of a Gaussian layer must integrate to one, by the trapezoidal rule.
func TestDensitiesIntegrateToOne(t *testing.T) {
	n := NewNetworks(Random(engine.Architecture{Units: []int{1, 2}, Kinds: []engine.Kind{engine.Gaussian}}, 4))
	const h = 0.01
	for _, hidden := range [][]float64{{0, 0}, {0, 1}, {1, 1}} {
		sum := 0.0
		for x := -60.0; x < 60; x += h {
			v := Values{{x}, hidden}
			sum += h * math.Exp(n.LogJointOf(v))
		}
		prior := math.Exp(n.logDensity(n.Generative[1:], Values{{0}, hidden}))
		wantClose(t, "∫ p(x,h) dx", sum, prior, 1e-9)
	}
}

// Sums over the grid of Gaussian units are integrals: p(x,h) and q(h|x) sum to one, and the bound, log p̃* and log p
// are in order.
func TestSumsOverGaussianUnitsAreIntegrals(t *testing.T) {
	p := Random(engine.Architecture{Units: []int{1, 1}, Kinds: []engine.Kind{engine.Gaussian, engine.Gaussian}}, 4)
	for k := range p.Flat {
		p.Flat[k] *= 0.3
	}
	n, sum := NewNetworks(p), 0.0
	for _, probability := range n.Model() {
		sum += probability
	}
	wantClose(t, "∫ p(x,h)", sum, 1, 1e-9)
	e := n.Explain([]float64{0.3})
	wantClose(t, "∫ q(h|x)", floats.LogSumExp(e.logTargets(Uniform)), 0, 1e-9)
	if e.Bound() >= e.LogPTildeStar() || e.LogPTildeStar() >= e.LogP() || n.LogZ2() >= 0 {
		t.Errorf("bound %v, log p̃* %v, log p %v, log Z² %v", e.Bound(), e.LogPTildeStar(), e.LogP(), n.LogZ2())
	}
}

// The blocks of a Gaussian unit must be the covariance of its score given its parents: 200,000
// draws lie within five standard errors of it.
func TestGaussianBlocksAreTheCovarianceOfTheScore(t *testing.T) {
	const draws = 200_000
	n := NewNetworks(Random(engine.Architecture{Units: []int{1, 2}, Coding: engine.PlusMinusOne, Kinds: []engine.Kind{engine.Gaussian}}, 6))
	v := Values{{0}, {1, -1}}
	u := n.Generative[0]
	blocks := n.Fisher(n.Generative[:1], Point(v))
	mu, sigma, _ := n.Outputs(u, v)
	width := 2 * u.Width // μ and then a
	sums, squares := make([]float64, width*width), make([]float64, width*width)
	rng := rand.New(rand.NewPCG(1, 2))
	for range draws {
		v[0][0] = mu + sigma*rng.NormFloat64()
		score := n.ScoreOf(v)[:width]
		for k := range width {
			for l := range width {
				sums[k*width+l] += score[k] * score[l] / draws
				squares[k*width+l] += score[k] * score[l] * score[k] * score[l] / draws
			}
		}
	}
	for k := range width {
		for l := range width {
			want := 0.0 // between μ and a
			if k/u.Width == l/u.Width {
				want = blocks[k/u.Width].Matrix.At(k%u.Width, l%u.Width)
			}
			at := k*width + l
			if se := math.Sqrt((squares[at] - sums[at]*sums[at]) / draws); !(math.Abs(sums[at]-want) <= 5*se) {
				t.Errorf("entry %d, %d of the Fisher matrix is %v, of draws %v ± %.2g", k, l, want, sums[at], se)
			}
		}
	}
}

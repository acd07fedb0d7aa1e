package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"gonum.org/v1/gonum/stat"
)

// distributionOfDraws tests that Generate draws from p(x,h) and Infer from q(h|x): each state
// occurs as often as its probability requires.
func distributionOfDraws(t *testing.T, e engine.Engine) {
	draws := many(50_000)
	test := func(t *testing.T, p *engine.Parameters) {
		n, model := oracle.NewNetworks(p), newModel(t, e, p)
		generated := must(model.Generate(t.Context(), draws, seed))(t)
		wantFrequencies(t, "states of p", values(p.Architecture, generated), n.Model())
		data := rowsOf(p.Architecture, 2)
		inferred := must(model.Infer(t.Context(), data, draws, seed))(t)
		states := values(p.Architecture, inferred)
		for r, x := range n.Rows(data) {
			wantFrequencies(t, fmt.Sprintf("hidden states of datum %d", r),
				states[r*draws:(r+1)*draws], n.Wake([][]float64{x}, oracle.Uniform))
		}
	}
	every(t, test, tiny, small, categorical)
}

// wantFrequencies compares the frequency of each state with its probability, and all of them together by
// Pearson's χ², whose variance is twice its mean. It pools states that are too rare for a meaningful standard error.
func wantFrequencies(t *testing.T, what string, states []oracle.Values, measure oracle.Distribution) {
	t.Helper()
	n := float64(len(states))
	counts := map[string]float64{}
	for _, s := range states {
		counts[s.Key()] += 1 / n
	}
	rareGot, rareWant, seen := 0.0, 0.0, 0.0
	var got, want, variance []float64
	for s, probability := range measure {
		frequency := counts[s.Key()]
		seen += frequency
		if probability*n < 30 {
			rareGot += frequency
			rareWant += probability
			continue
		}
		got, want = append(got, frequency), append(want, probability)
		variance = append(variance, probability*(1-probability)/n)
	}
	if !(math.Abs(seen-1) <= 1e-9) {
		t.Errorf("%s: a share %v of the draws are impossible", what, 1-seen)
	}
	got, want, variance = append(got, rareGot), append(want, rareWant), append(variance, rareWant*(1-rareWant)/n)
	wantMean(t, what, got, want, variance)
	chi2, freedom := n*stat.ChiSquare(got, want), float64(len(want)-1)
	t.Logf("%s: χ² is %.1f for %g degrees of freedom", what, chi2, freedom)
	if limit := freedom + maxDeviation*math.Sqrt(2*max(freedom, 1)); !(chi2 <= limit) {
		t.Errorf("%s: χ² is %.1f, by chance at most %.1f", what, chi2, limit)
	}
}

// distributionOfMixtures tests that drawn units, standardised by their means and deviations given their parents,
// have mean 0 and variance 1, and that units of different variables are uncorrelated, in p and in q.
func distributionOfMixtures(t *testing.T, e engine.Engine) {
	const draws = 10_000
	gaussian := ofFour(true, true)
	gaussian.Kinds = []engine.Kind{engine.Gaussian, engine.Gaussian, engine.Gaussian}
	for _, a := range []engine.Architecture{gaussian, mixedGroups} {
		p := random(a)
		n, model := oracle.NewNetworks(p), newModel(t, e, p)
		generated := must(model.Generate(t.Context(), draws, seed))(t)
		inferred := must(model.Infer(t.Context(), rowsOf(a, 10), draws/10, seed))(t)
		for _, c := range []struct {
			what  string
			draws engine.Draws
			units []oracle.Unit
		}{{"p", generated, n.Generative}, {"q", inferred, n.Recognition}} {
			count := len(c.units)
			got, want, variance := make([]float64, count*(count+1)), make([]float64, count*(count+1)), make([]float64, count*(count+1))
			for _, v := range values(a, c.draws) {
				z := []float64{1}
				for _, u := range c.units {
					mean, deviation, _ := n.Outputs(u, v)
					if u.Kind != engine.Gaussian {
						mean = n.On(u, v)
						deviation = math.Sqrt(mean * (1 - mean))
					}
					state := v[u.Layer][u.Index]
					if u.Kind == engine.Bernoulli {
						state = (state - float64(a.Off(u.Layer))) / float64(1-a.Off(u.Layer))
					}
					z = append(z, (state-mean)/deviation)
				}
				for k, x := range z {
					for l, y := range z[1:] {
						if k > 0 && k-1 != l && c.units[k-1].SameVariable(c.units[l]) {
							continue
						}
						got[k*count+l] += x * y / draws
						variance[k*count+l] += x * y * x * y / draws / draws
					}
				}
			}
			for k := range count {
				want[count+k*count+k] = 1
			}
			for k, mean := range got {
				variance[k] -= mean * mean / draws
			}
			wantMean(t, "means and covariances of "+c.what, got, want, variance)
		}
	}
}

// means tests that the means of draws are the probabilities that units are on, or the means of
// Gaussian units, given the layer that they were drawn from, and that the log-probabilities match
// the draws.
func means(t *testing.T, e engine.Engine) {
	test := func(t *testing.T, p *engine.Parameters) {
		networks, model := oracle.NewNetworks(p), newModel(t, e, p)
		generated := must(model.Generate(t.Context(), 30, seed))(t)
		wantScores(t, "generated", networks, generated)
		wantMeans(t, networks, generated, networks.Generative)
		inferred := must(model.Infer(t.Context(), rowsOf(p.Architecture, 6), 5, seed))(t)
		wantScores(t, "inferred", networks, inferred)
		wantMeans(t, networks, inferred, append(networks.Generative[:p.Architecture.Visible():p.Architecture.Visible()], networks.Recognition...))
	}
	every(t, test, binary, categorical, mixtures())
}

// wantMeans compares the means of units with the probabilities that they are on, or with μ, given the states
// of the parent layer.
func wantMeans(t *testing.T, n *oracle.Networks, d engine.Draws, units []oracle.Unit) {
	t.Helper()
	for r, v := range values(n.Architecture, d) {
		for _, u := range units {
			want, _, _ := n.Outputs(u, v)
			if u.Kind != engine.Gaussian {
				want = n.On(u, v)
			}
			got := float64(d.Means[u.Layer][r*n.Architecture.Units[u.Layer]+u.Index])
			if !(math.Abs(got-want) <= 2e-6*(1+math.Abs(want))) {
				t.Fatalf("mean of unit %d of layer %d in row %d is %v, want %v", u.Index, u.Layer, r, got, want)
			}
		}
	}
}

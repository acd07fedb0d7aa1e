package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// distributionOfDraws tests that Generate draws from p(x,h) and Infer from q(h|x): each state
// occurs as often as its probability requires.
func distributionOfDraws(t *testing.T, e engine.Engine) {
	draws := many(50_000)
	test := func(t *testing.T, p *engine.Parameters) {
		m, model := exact(t, p), newModel(t, e, p)
		generated := must(model.Generate(t.Context(), draws, seed))(t)
		wantFrequencies(t, "states of p", oracleStates(generated), m.Model())
		data := rowsOf(p.Architecture, 2)
		inferred := must(model.Infer(t.Context(), data, draws, seed))(t)
		states := oracleStates(inferred)
		for r, x := range bits(data) {
			wantFrequencies(t, fmt.Sprintf("hidden states of datum %d", r),
				states[r*draws:(r+1)*draws], m.Wake([][]bool{x}, oracle.Uniform))
		}
	}
	everyCoding(t, test, []int{3, 2, 2}, []int{4, 3, 2})
	categorical(t, test)
}

// wantFrequencies compares the frequency of each state with its probability. It pools states that
// are too rare for a meaningful standard error.
func wantFrequencies(t *testing.T, what string, states []oracle.State, measure oracle.Measure) {
	t.Helper()
	n := float64(len(states))
	counts := map[string]float64{}
	for _, s := range states {
		counts[fmt.Sprint(s)] += 1 / n
	}
	rareGot, rareWant, seen := 0.0, 0.0, 0.0
	var got, want, variance []float64
	for s, probability := range measure {
		frequency := counts[fmt.Sprint(s)]
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
	everyCoding(t, test, shapes...)
	categorical(t, test)
	everyMixture(t, test)
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

package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/oracle"
)

// Generate draws from p(x,h) and Infer from q(h|x): each state comes up as often
// as its probability says.
func distributionOfDraws(t *testing.T, e engine.Engine) {
	const draws = 50_000
	everyCoding(t, func(t *testing.T, p *engine.Parameters) {
		m, model := exact(t, p), newModel(t, e, p)
		generated, err := model.Generate(t.Context(), draws, seed)
		if err != nil {
			t.Fatal(err)
		}
		wantFrequencies(t, "states of p", oracleStates(generated), m.Model())
		data := randomRows(2, p.Architecture.Visible())
		inferred, err := model.Infer(t.Context(), data, draws, seed)
		if err != nil {
			t.Fatal(err)
		}
		states := oracleStates(inferred)
		for r, x := range bits(data) {
			wantFrequencies(t, fmt.Sprintf("hidden states of datum %d", r),
				states[r*draws:(r+1)*draws], m.Wake([][]bool{x}, oracle.Uniform))
		}
	}, []int{3, 2, 2}, []int{4, 3, 2})
}

// wantFrequencies compares how often each state comes up with its probability.
// States that are too rare for a standard error to mean much are counted
// together.
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
	if math.Abs(seen-1) > 1e-9 {
		t.Errorf("%s: a share %v of the draws are impossible", what, 1-seen)
	}
	got, want, variance = append(got, rareGot), append(want, rareWant), append(variance, rareWant*(1-rareWant)/n)
	wantMean(t, what, got, want, variance)
}

// Means are the probabilities to be on given the layer that a unit was drawn
// from, and the log-probabilities are those of the draws.
func means(t *testing.T, e engine.Engine) {
	everyCoding(t, func(t *testing.T, p *engine.Parameters) {
		networks, model := oracle.NewNetworks(p), newModel(t, e, p)
		depth := p.Architecture.Depth()
		generated, err := model.Generate(t.Context(), 30, seed)
		if err != nil {
			t.Fatal(err)
		}
		wantScores(t, "generated", networks, generated)
		for i := range depth + 1 {
			wantMeans(t, generated, i, p.Generative[i], i+1, p.Architecture.Coding)
		}
		inferred, err := model.Infer(t.Context(), randomRows(6, p.Architecture.Visible()), 5, seed)
		if err != nil {
			t.Fatal(err)
		}
		wantScores(t, "inferred", networks, inferred)
		wantMeans(t, inferred, 0, p.Generative[0], 1, p.Architecture.Coding)
		for i := 1; i <= depth; i++ {
			wantMeans(t, inferred, i, p.Recognition[i], i-1, p.Architecture.Coding)
		}
	}, shapes...)
}

// wantMeans compares the means of layer i with σ(a), where a are the logits of
// the units' parameters given the states of the layer of their parents.
func wantMeans(t *testing.T, d engine.Draws, i int, layer engine.Layer, parents int, coding engine.Coding) {
	t.Helper()
	for r := range d.Rows {
		for j := range layer.Units {
			row := layer.Row(j)
			a := float64(row[0])
			for k, w := range row[1:] {
				value := coding.Off()
				if d.States[parents][r*(layer.Width-1)+k] == 1 {
					value = 1
				}
				a += float64(w * value)
			}
			want := 1 / (1 + math.Exp(-a))
			if got := float64(d.Means[i][r*layer.Units+j]); !(math.Abs(got-want) <= 1e-6) {
				t.Fatalf("mean of unit %d of layer %d in row %d is %v, want %v", j, i, r, got, want)
			}
		}
	}
}

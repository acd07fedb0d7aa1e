package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

// Some variables of tinyCategorical have a category without a unit, and one of these is a Bernoulli
// unit. Some variables of wideCategorical span the pieces into which engines cut a layer.
var (
	tinyCategorical = engine.Architecture{
		Units: []int{3, 2, 2}, Kinds: []engine.Kind{engine.Categorical, engine.Categorical}, Coding: engine.PlusMinusOne,
		Groups: [][]engine.Group{{{Units: 1, Rest: true}, {Units: 2}}, {{Units: 2, Rest: true}}},
	}
	wideCategorical = engine.Architecture{
		Units: []int{103, 6, 7}, Kinds: []engine.Kind{engine.Categorical, engine.Bernoulli, engine.Categorical}, Coding: engine.PlusMinusOne,
		Groups: [][]engine.Group{append(slices.Repeat([]engine.Group{{Units: 9}}, 7), engine.Group{Units: 20}, engine.Group{Units: 10}, engine.Group{Units: 5, Rest: true}, engine.Group{Units: 4}, engine.Group{Units: 1, Rest: true}), nil, {{Units: 4, Rest: true}, {Units: 3}}},
	}
)

// categorical runs a test on the tiny machine of categorical variables, with a tanh layer.
func categorical(t *testing.T, test func(t *testing.T, p *engine.Parameters)) {
	a := tinyCategorical
	a.Tanh = []int{3}
	t.Run("categorical", func(t *testing.T) { test(t, oracle.Random(a, seed)) })
}

// rowsOf returns random rows in which every categorical variable of a machine is in one category.
func rowsOf(a engine.Architecture, rows int) engine.Data {
	data := randomRows(rows, a.Visible())
	if a.Groups == nil {
		return data
	}
	clear(data.Values)
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 2))
	for first := 0; first < len(data.Values); {
		for _, g := range a.Variables(0) {
			if k := rng.IntN(g.Categories()); k < g.Units {
				data.Values[first+k] = 255
			}
			first += g.Units
		}
	}
	return data
}

// gradientOfCategories compares the plain and natural gradients of machines of categorical variables
// with the oracle's gradients on the samples that the engine has drawn.
func gradientOfCategories(t *testing.T, e engine.Engine) {
	gradientOf(t, e, tinyCategorical, wideCategorical)
}

func gradientOf(t *testing.T, e engine.Engine, architectures ...engine.Architecture) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		if a.Metric == engine.Kronecker && architectures[0].Groups != nil {
			return // undefined for categorical variables
		}
		if architectures[0].Tanh != nil {
			a.ReinforceBaseline = engine.ConstantBaseline // others are undefined for tanh layers
		}
		if a.Metric != engine.Euclidean && a.Exponent == 0 {
			a.FisherSource = engine.FromSleep
		}
		for _, architecture := range architectures {
			t.Run(fmt.Sprint(architecture.Units), func(t *testing.T) {
				data := rowsOf(architecture, 5)
				j := job(a, data)
				trainer := newTrainer(t, e, j, engine.NewState(a, oracle.Random(architecture, seed)))
				for s := range 2 {
					g := gradients(t, trainer)
					parameters := state(t, trainer).Parameters
					n := oracle.NewNetworks(parameters)
					wantData(t, g.Wake, data, j.Rows(s), a.Samples)
					wantScores(t, "wake samples", n, g.Wake)
					wantScores(t, "dreams", n, g.Dreams)
					wantGradient(t, "plain gradient", g.Plain, n.GradientOn(oracleSamples(g, a.Samples), rule(a)), 1e-5)
					wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, fisherBlocks(a, parameters, g)), 2e-5)
					step(t, trainer, 0.1)
				}
			})
		}
	})
}

// resumptionOfCategories tests that training continues bit for bit from a copy of the state.
func resumptionOfCategories(t *testing.T, e engine.Engine) { resumptionOf(t, e, wideCategorical) }

func resumptionOf(t *testing.T, e engine.Engine, architecture engine.Architecture) {
	for _, metric := range []engine.Metric{engine.Euclidean, engine.Block, engine.Diagonal} {
		a := preset{rule: engine.ReweightedWakeSleep, metric: metric}.algorithm()
		a.Optimizer, a.RefreshEvery = engine.Adam, 4
		wantResumption(t, e, job(a, rowsOf(architecture, 8)), engine.NewState(a, oracle.Random(architecture, seed)), learningRate, 6, 10)
	}
}

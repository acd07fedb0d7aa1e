//go:build cuda

package gpu

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// grouped returns machines with groups of categorical units. In the first, the variables of x fill two columns of tiles,
// and one of them has more units than a tile. In the second, the parameters of a unit fill two tiles. The third has
// groups in hidden layers, too.
func grouped() []engine.Architecture {
	const b, c = engine.Bernoulli, engine.Categorical
	many := append(slices.Repeat([]engine.Group{{Units: 3}}, 33), engine.Group{Units: 40}, engine.Group{Units: 5, Rest: true}, engine.Group{Units: 1, Rest: true})
	return []engine.Architecture{
		{Units: []int{145, 6, 35}, Kinds: []engine.Kind{c}, Groups: [][]engine.Group{many}, Coding: engine.PlusMinusOne},
		{Units: []int{12, 45}, Kinds: []engine.Kind{c}, Groups: [][]engine.Group{{{Units: 3}, {Units: 4}, {Units: 5, Rest: true}}}},
		{
			Units: []int{9, 7, 6, 5}, Kinds: []engine.Kind{c, c, b, c}, Coding: engine.PlusMinusOne,
			Groups: [][]engine.Group{{{Units: 4}, {Units: 5, Rest: true}}, {{Units: 3, Rest: true}, {Units: 4}}, nil, {{Units: 5}}},
		},
	}
}

// categories returns rows with a category of each variable of x. Neighbouring rows have the same category of some variables.
func categories(rows int, arch engine.Architecture) engine.Data {
	data := engine.Data{Values: numbers.Bytes(arch.Visible(), make([]uint8, rows*arch.Visible()))}
	for r := range rows {
		row := data.Bytes()[r*arch.Visible():]
		for v, g := range arch.Variables(0) {
			if k := (r/(1+v%4) + v) % g.Categories(); k < g.Units {
				row[k] = 255
			}
			row = row[g.Units:]
		}
	}
	return data
}

// Both engines must draw the same samples of machines with groups, and learn the same from them.
func TestGroupsAgreeWithTheCPU(t *testing.T) {
	algorithms := map[string]func(a *engine.Algorithm){
		"RWS": func(a *engine.Algorithm) {},
		"WS with two sleep phases": func(a *engine.Algorithm) {
			a.Rule, a.SleepSteps, a.Optimizer = engine.WakeSleep, 2, engine.GradientDescent
		},
		"BiHM":             func(a *engine.Algorithm) { a.Rule, a.Optimizer = engine.Bidirectional, engine.Momentum },
		"NRWS":             func(a *engine.Algorithm) { a.Metric = engine.Block },
		"NRWS from dreams": func(a *engine.Algorithm) { a.Metric, a.FisherSource = engine.Block, engine.FromSleep },
		"DNRWS":            func(a *engine.Algorithm) { a.Metric, a.RefreshEvery = engine.Diagonal, 1 },
		"VIMCO": func(a *engine.Algorithm) {
			a.Rule = engine.Rule{Exponent: 1, QWake: 0.9, Estimator: engine.VIMCO(false)}
		},
		"REINFORCE":                func(a *engine.Algorithm) { a.Rule, a.ReinforceBaseline = engine.Reinforce, engine.OptimalBaseline },
		"REINFORCE that is learnt": func(a *engine.Algorithm) { a.Rule, a.ReinforceBaseline = engine.Reinforce, engine.LearnedBaseline },
		"JSA":                      func(a *engine.Algorithm) { a.Rule = engine.JointStochastic },
	}
	for _, arch := range grouped() {
		for name, change := range algorithms {
			t.Run(fmt.Sprint(arch.Units, name), func(t *testing.T) {
				a := nrws
				a.Metric, a.Optimizer, a.Momentum, a.L2 = engine.Euclidean, engine.Nesterov, 0.9, 1e-3
				change(&a)
				a.Baseline = a.Baseline && !a.Reinforce && !a.Chains && a.Estimator == nil
				if a.Chains && len(arch.Groups) > 1 { // which is refused
					return
				}
				tolerance := 1e-5
				if a.Metric != engine.Euclidean || a.Reinforce {
					tolerance = 1e-4
				}
				wantSameSteps(t, a, categories(40, arch), arch, tolerance)
			})
		}
	}
}

// Natural gradients from blocks of which some numbers have half precision must be close to the CPU's, though not as
// close as those in single precision.
func TestFisherPrecisionOfGroups(t *testing.T) {
	e, reference := opened(t), onCPU(t)
	for _, arch := range grouped()[:2] {
		natural := func(one engine.Engine, precision engine.FisherPrecision) []float32 {
			a := nrws
			a.FisherPrecision = precision
			trainer, err := one.NewTrainer(minibatches(a, categories(40, arch)), engine.NewState(a, oracle.Random(arch, 3)))
			if err != nil {
				t.Fatal(err)
			}
			defer trainer.Close()
			g, err := trainer.Gradients(0.01)
			if err != nil {
				t.Fatal(err)
			}
			return g.Natural.Flat
		}
		want := natural(reference, engine.SinglePrecision)
		single, half := distance(natural(e, engine.SinglePrecision), want), distance(natural(e, engine.SixteenBits), want)
		if !(single < half/10 && half < 1e-3) {
			t.Errorf("%v: natural gradients differ by a relative %.2g in single precision, and by %.2g in half precision", arch.Units, single, half)
		}
	}
}

// Both engines must draw the same samples of machines with groups, and find the same log-probabilities.
func TestModelsWithGroupsAgreeWithTheCPU(t *testing.T) {
	for _, arch := range grouped() {
		t.Run(fmt.Sprint(arch.Units), func(t *testing.T) { wantSameEvaluations(t, arch, categories(40, arch)) })
	}
}

// Training that the engine cannot do with groups must be refused.
func TestGroupsThatAreRefused(t *testing.T) {
	e, hidden := opened(t), grouped()[2]
	for says, change := range map[string]func(a *engine.Algorithm, arch *engine.Architecture){
		"lacks Gaussian units": func(_ *engine.Algorithm, arch *engine.Architecture) {
			arch.Groups = [][]engine.Group{{{Units: 4}, {Units: 5, Real: true}}}
			arch.Kinds = arch.Kinds[:1]
		},
		"units of layer 0": func(a *engine.Algorithm, _ *engine.Architecture) { a.Entropy = 1 },
		"units of layer 1": func(a *engine.Algorithm, _ *engine.Architecture) { a.Rule, a.Baseline = engine.JointStochastic, false },
		"layer 0: the backend cuda can multiply Fisher blocks of at most 4608 × 4608 numbers, and these would have 4736 × 4736: use smaller groups": func(a *engine.Algorithm, arch *engine.Architecture) {
			*arch = engine.Architecture{Units: []int{37, 127}, Kinds: []engine.Kind{engine.Categorical}, Groups: [][]engine.Group{{{Units: 37}}}}
		},
	} {
		a, arch := nrws, hidden
		change(&a, &arch)
		trainer, err := e.NewTrainer(minibatches(a, categories(40, arch)), engine.NewState(a, oracle.Random(arch, 3)))
		if err == nil {
			trainer.Close()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("the error is %v, want %q", err, says)
		}
	}
}

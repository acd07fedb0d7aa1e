package enginetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/fisher"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// binary lists tiny machines, the shallowest possible one, and a larger one, which sized trains on
// 10 rows in minibatches of 6 and 4.
var binary = slices.Concat(tiny, small, shallow, large)

func sized(a engine.Algorithm, p *engine.Parameters) (engine.Algorithm, engine.Data) {
	if p.Architecture.Visible() == 20 {
		a.BatchSize, a.Samples = 6, 5
		return a, randomRows(10, 20)
	}
	return a, randomRows(5, p.Architecture.Visible())
}

// anotherRule is a rule with every phase that no method has.
var anotherRule = engine.Rule{Exponent: 0.3, QWake: 0.8, Sleep: 0.5}

// gradientOfSamples compares the training of binary machines with each preset, each form of the inverse, each
// estimator and another rule with the oracle's, on the samples that the engine has drawn.
func gradientOfSamples(t *testing.T, e engine.Engine) {
	forms := map[fisher.Form]bool{}
	everyVariant(t, func(t *testing.T, a engine.Algorithm) {
		every(t, func(t *testing.T, p *engine.Parameters) {
			a, data := sized(a, p)
			for _, a.Samples = range []int{1, 5, 20} {
				if a.Samples == 20 && a.Metric != engine.Block {
					continue // it is for the forms of the inverse
				}
				a.Baseline = a.Baseline && a.Samples > 1
				for i, units := range p.Architecture.Units[:p.Architecture.Depth()] { // of p
					forms[fisher.Settings{Steps: a.RefreshEvery, Damping: a.Damping}.Choose(a.BatchSize*a.Samples, 1+p.Architecture.Units[i+1], units)] = true
				}
				wantTraining(t, e, a, p, data, 2, 0.1, 1e-5)
			}
		}, binary)
	})
	if !forms[fisher.Direct] || !forms[fisher.Woodbury] {
		t.Errorf("the machines of this test need only the forms %v", forms)
	}
	rules := map[string]engine.Rule{"another rule": anotherRule}
	for _, of := range estimators {
		rules[of.name] = of.rule
	}
	for name, rule := range rules {
		t.Run(name, func(t *testing.T) {
			every(t, func(t *testing.T, p *engine.Parameters) {
				a, data := sized(preset{rule: rule}.algorithm(), p)
				wantTraining(t, e, a, p, data, 2, 0.1, 1e-5)
			}, binary)
		})
	}
}

// gradientOfOtherUnits compares the training of machines with other units than binary ones, and with tanh layers, with
// each preset.
func gradientOfOtherUnits(t *testing.T, e engine.Engine) {
	everyPreset(t, func(t *testing.T, a engine.Algorithm) {
		a.Optimizer, a.RefreshEvery = engine.Nesterov, 2
		if a.Metric != engine.Euclidean && a.Exponent == 0 {
			a.FisherSource = engine.FromSleep
		}
		if a.Reinforce {
			a.ReinforceBaseline = engine.ConstantBaseline // others are undefined for tanh layers
		}
		for _, of := range []engine.Architecture{tinyTanh, wideTanh, tinyCategorical, wideCategorical} {
			if a.Metric == engine.Kronecker && of.Groups != nil {
				continue // undefined for categorical variables
			}
			t.Run(fmt.Sprint(of.Units, of.Tanh), func(t *testing.T) {
				wantTraining(t, e, a, random(of), rowsOf(of, 5), 3, 0.1, 2e-5)
			})
		}
		every(t, func(t *testing.T, p *engine.Parameters) {
			if a.Metric == engine.Kronecker {
				return // undefined for Gaussian units
			}
			for _, a.FisherSource = range []engine.FisherSource{engine.FromWake, engine.FromSleep} {
				if a.FisherSource == engine.FromWake || a.HasSleep() && a.Metric == engine.Block {
					a.BatchSize = 4
					wantTraining(t, e, a, p, rowsOf(p.Architecture, 6), 3, 1e-3, 4e-5)
				}
			}
		}, mixtures())
	})
	t.Run("in parts with regularisers", func(t *testing.T) {
		a := preset{rule: engine.ReweightedWakeSleep, metric: engine.Euclidean}.algorithm()
		a.Entropy, a.L2, a.Samples = 0.7, 0.2, 120
		trainer := newTrainer(t, e, job(a, randomRows(3, 40)), engine.NewState(a, random(wideTanh)))
		g, n := gradients(t, trainer), oracle.NewNetworks(state(t, trainer).Parameters)
		wantGradient(t, "plain gradient", g.Plain, plainGradient(a, n, draws(wideTanh, g, a.Samples), nil, 0), 1e-5)
	})
}

package enginetest

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

type configuration struct {
	algorithm engine.Algorithm
	machine   func() *engine.Parameters
}

type value struct {
	name string
	set  func(c *configuration)
}

// axes lists the settings of training and machines, each with its values.
var axes = [][]value{
	{
		{"WS", func(c *configuration) { c.algorithm.Rule = engine.WakeSleep }},
		{"RWS", func(c *configuration) { c.algorithm.Rule = engine.ReweightedWakeSleep }},
		{"BiHM", func(c *configuration) { c.algorithm.Rule = engine.Bidirectional }},
		{"REINFORCE", func(c *configuration) { c.algorithm.Rule = engine.Reinforce }},
		{"VIMCO", func(c *configuration) { c.algorithm.Rule = estimators[0].rule }},
		{"TVO with sleep", func(c *configuration) { c.algorithm.Rule, c.algorithm.Sleep = estimators[3].rule, 0.4 }},
	}, {
		{"Euclidean", func(c *configuration) { c.algorithm.Metric = engine.Euclidean }},
		{"block", func(c *configuration) { c.algorithm.Metric = engine.Block }},
		{"diagonal", func(c *configuration) { c.algorithm.Metric = engine.Diagonal }},
		{"Kronecker", func(c *configuration) { c.algorithm.Metric = engine.Kronecker }},
	}, {
		{"from wake", func(c *configuration) { c.algorithm.FisherSource = engine.FromWake }},
		{"from sleep", func(c *configuration) { c.algorithm.FisherSource = engine.FromSleep }},
		{"legacy", func(c *configuration) { c.algorithm.FisherSource = engine.FromLegacy }},
	}, {
		{"gd", func(c *configuration) { c.algorithm.Optimizer = engine.GradientDescent }},
		{"Adam", func(c *configuration) { c.algorithm.Optimizer = engine.Adam }},
		{"momentum", func(c *configuration) { c.algorithm.Optimizer = engine.Momentum }},
		{"Nesterov", func(c *configuration) { c.algorithm.Optimizer = engine.Nesterov }},
	}, {
		{"no baseline", func(c *configuration) { c.algorithm.Baseline = false }},
		{"baseline", func(c *configuration) { c.algorithm.Baseline = true }},
	}, {
		{"no norm", func(c *configuration) {}},
		{"L1", func(c *configuration) { c.algorithm.L1 = 0.3 }},
		{"L2", func(c *configuration) { c.algorithm.L2 = 0.2 }},
	}, {
		{"no entropy", func(c *configuration) {}},
		{"entropy", func(c *configuration) { c.algorithm.Entropy = 0.7 }},
		{"its estimator", func(c *configuration) { c.algorithm.EntropyEstimator = 0.4 }},
	}, {
		{"cold", func(c *configuration) {}},
		{"warm-up", func(c *configuration) { c.algorithm.WarmUp = 4 }},
	}, {
		{"sleep", func(c *configuration) { c.algorithm.SleepSteps = 1 }},
		{"sleep-well", func(c *configuration) { c.algorithm.SleepSteps = 2 }},
		{"sleep still better", func(c *configuration) { c.algorithm.SleepSteps = 3 }},
	}, {
		{"unscaled", func(c *configuration) {}},
		{"rescaled", func(c *configuration) { c.algorithm.Sleep *= 2.5 }},
	}, {
		{"S", func(c *configuration) {}},
		{"more S later", func(c *configuration) { c.algorithm.LaterSamples, c.algorithm.LaterSamplesFrom = 7, 3 }},
		{"fewer S later", func(c *configuration) { c.algorithm.LaterSamples, c.algorithm.LaterSamplesFrom = 2, 3 }},
	}, {
		{"01", func(c *configuration) {
			c.machine = func() *engine.Parameters { return machine(engine.ZeroOne, small.units...) }
		}},
		{"pm1", func(c *configuration) {
			c.machine = func() *engine.Parameters { return machine(engine.PlusMinusOne, large.units...) }
		}},
		{"convolution", func(c *configuration) { c.machine = func() *engine.Parameters { return large.convolved(0) } }},
		{"convolution of q", func(c *configuration) { c.machine = func() *engine.Parameters { return small.convolved(0) } }},
		{"convolution of p", func(c *configuration) { c.machine = func() *engine.Parameters { return small.convolved(1) } }},
		{"tanh", func(c *configuration) {
			c.algorithm.ReinforceBaseline = engine.ConstantBaseline // others are undefined for tanh layers
			c.machine = func() *engine.Parameters { return oracle.Random(tinyTanh, seed) }
		}},
	},
}

// sensible reports whether an engine supports the values of a configuration and they can be
// combined: q must learn from dreams if there are several sleep phases, if sleep is rescaled, or if
// Fisher blocks come from dreams, and REINFORCE has no entropy.
func (c configuration) sensible(e engine.Engine) bool {
	a := c.algorithm
	if engine.Refuse("", e.Lacks(), append(c.machine().Architecture.Features(), a.Features()...)) != nil {
		return false
	}
	asleep := a.SleepSteps > 1 || a.FisherSource != engine.FromWake
	return (!asleep || a.HasSleep()) && !(a.Reinforce && a.HasEntropy()) &&
		(a.FisherSource == engine.FromWake || a.Metric != engine.Euclidean)
}

func configure(values []int) (c configuration, name string) {
	c.algorithm = presets[0].algorithm()
	var names []string
	for axis, value := range values {
		axes[axis][value].set(&c)
		names = append(names, axes[axis][value].name)
	}
	return c, strings.Join(names, ",")
}

// everyPair returns configurations, as values, that together cover each pair of values of two axes
// that can be combined. It repeatedly picks, among random configurations, the one that covers the
// most missing pairs.
func everyPair(e engine.Engine) [][]int {
	type pair struct{ axis, value, other, of int }
	pairs := func(values []int) (all []pair) {
		for i := range values {
			for j := range i {
				all = append(all, pair{i, values[i], j, values[j]})
			}
		}
		return all
	}
	const candidates = 3_000
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 1))
	missing := map[pair]bool{}
	var random [][]int
	for range candidates {
		values := make([]int, len(axes))
		for axis := range values {
			values[axis] = rng.IntN(len(axes[axis]))
		}
		if c, _ := configure(values); !c.sensible(e) {
			continue
		}
		random = append(random, values)
		for _, p := range pairs(values) {
			missing[p] = true
		}
	}
	var chosen [][]int
	for len(missing) > 0 {
		var best []int
		most := 0
		for _, values := range random {
			n := 0
			for _, p := range pairs(values) {
				if missing[p] {
					n++
				}
			}
			if n > most {
				best, most = values, n
			}
		}
		chosen = append(chosen, best)
		for _, p := range pairs(best) {
			delete(missing, p)
		}
	}
	return chosen
}

// pairsOfValues tests that any two values of different axes work together, on stochastic data with a
// smaller last minibatch.
func pairsOfValues(t *testing.T, e engine.Engine) {
	for _, values := range everyPair(e) {
		c, name := configure(values)
		t.Run(name, func(t *testing.T) {
			a, p := c.algorithm, c.machine()
			a.RefreshEvery = 2
			data := constantRows(5, p.Architecture.Visible(), 100)
			data.Stochastic = true
			wantTraining(t, e, a, p, data, 6, learningRate, 1e-5)
		})
	}
}

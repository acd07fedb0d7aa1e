package enginetest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
)

type configuration struct {
	engine.Algorithm
	machine engine.Architecture
}

type value struct {
	name string
	set  func(c *configuration)
}

// axis returns values of a setting.
func axis[T any](name string, of func(c *configuration) *T, values ...T) (all []value) {
	for _, v := range values {
		all = append(all, value{fmt.Sprintf("%s=%v", name, v), func(c *configuration) { *of(c) = v }})
	}
	return all
}

// axes lists the settings of training and machines, each with its values.
var axes = [][]value{
	{
		{"WS", func(c *configuration) { c.Rule = engine.WakeSleep }},
		{"RWS", func(c *configuration) { c.Rule = engine.ReweightedWakeSleep }},
		{"BiHM", func(c *configuration) { c.Rule = engine.Bidirectional }},
		{"REINFORCE", func(c *configuration) { c.Rule = engine.Reinforce }},
		{"VIMCO", func(c *configuration) { c.Rule = estimators[0].rule }},
		{"TVO with sleep", func(c *configuration) { c.Rule, c.Sleep = estimators[3].rule, 0.4 }},
	},
	axis("metric", func(c *configuration) *engine.Metric { return &c.Metric }, engine.Euclidean, engine.Block, engine.Diagonal, engine.Kronecker),
	axis("source", func(c *configuration) *engine.FisherSource { return &c.FisherSource }, engine.FromWake, engine.FromSleep, engine.FromLegacy),
	axis("optimizer", func(c *configuration) *engine.Optimizer { return &c.Optimizer }, engine.GradientDescent, engine.Adam, engine.Momentum, engine.Nesterov),
	axis("baseline", func(c *configuration) *bool { return &c.Baseline }, false, true),
	{
		{"no norm", func(c *configuration) {}},
		{"L1", func(c *configuration) { c.L1 = 0.3 }},
		{"L2", func(c *configuration) { c.L2 = 0.2 }},
	}, {
		{"no entropy", func(c *configuration) {}},
		{"entropy", func(c *configuration) { c.Entropy = 0.7 }},
		{"its estimator", func(c *configuration) { c.EntropyEstimator = 0.4 }},
	},
	axis("warm-up", func(c *configuration) *int { return &c.WarmUp }, 0, 4),
	axis("sleep phases", func(c *configuration) *int { return &c.SleepSteps }, 1, 2, 3),
	{
		{"unscaled", func(c *configuration) {}},
		{"rescaled", func(c *configuration) { c.Sleep *= 2.5 }},
	}, {
		{"S", func(c *configuration) {}},
		{"more S later", func(c *configuration) { c.LaterSamples, c.LaterSamplesFrom = 7, 3 }},
		{"fewer S later", func(c *configuration) { c.LaterSamples, c.LaterSamplesFrom = 2, 3 }},
	}, {
		{"01", func(c *configuration) { c.machine = small[0] }},
		{"pm1", func(c *configuration) { c.machine = large[1] }},
		{"convolution", func(c *configuration) { c.machine = large[2] }},
		{"convolution of q", func(c *configuration) { c.machine = ofFour(true, false) }},
		{"convolution of p", func(c *configuration) { c.machine = ofFour(false, true) }},
		{"tanh", func(c *configuration) {
			c.ReinforceBaseline = engine.ConstantBaseline // others are undefined for tanh layers
			c.machine = tinyTanh
		}},
	},
}

// sensible reports whether an engine supports the values of a configuration and they can be
// combined: q must learn from dreams if there are several sleep phases, if sleep is rescaled, or if
// Fisher blocks come from dreams, and REINFORCE has no entropy.
func (c configuration) sensible(e engine.Engine) bool {
	if engine.Refuse("", e.Lacks(), append(c.machine.Features(), c.Features()...)) != nil {
		return false
	}
	asleep := c.SleepSteps > 1 || c.FisherSource != engine.FromWake
	return (!asleep || c.HasSleep()) && !(c.Reinforce && c.HasEntropy()) &&
		(c.FisherSource == engine.FromWake || c.Metric != engine.Euclidean)
}

func configure(values []int) (c configuration, name string) {
	c.Algorithm = presets[0].algorithm()
	var names []string
	for axis, value := range values {
		axes[axis][value].set(&c)
		names = append(names, axes[axis][value].name)
	}
	return c, strings.Join(names, ",")
}

// everyPair returns configurations, as values, that together cover each pair of values of two axes that can be
// combined: of many random configurations, those that have a pair that the ones before them lack.
func everyPair(e engine.Engine) (chosen [][]int) {
	type pair struct{ axis, value, other, of int }
	rng := rand.New(philox.NewStream(seed, philox.Synthesis, 1))
	covered := map[pair]bool{}
	for range 3_000 {
		values := make([]int, len(axes))
		for axis := range values {
			values[axis] = rng.IntN(len(axes[axis]))
		}
		if c, _ := configure(values); !c.sensible(e) {
			continue
		}
		before := len(covered)
		for i := range values {
			for j := range i {
				covered[pair{i, values[i], j, values[j]}] = true
			}
		}
		if len(covered) > before {
			chosen = append(chosen, values)
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
			a, p := c.Algorithm, random(c.machine)
			a.RefreshEvery = 2
			data := constantRows(5, p.Architecture.Visible(), 100)
			data.Stochastic = true
			wantTraining(t, e, a, p, data, 6, learningRate, 1e-5)
		})
	}
}

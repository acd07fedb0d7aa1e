package enginetest

import (
	"math"
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
		{"sleep-well", func(c *configuration) { c.algorithm.SleepSteps = 3 }},
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
// smaller last minibatch: the gradients and the direction of a step equal the oracle's, with Fisher
// blocks from the last refresh (Várady 2025, 5.3.4), and the optimiser moves by its formula. Training
// continues bit for bit from a state between two refreshes, and without reading the gradients.
func pairsOfValues(t *testing.T, e engine.Engine) {
	for _, values := range everyPair(e) {
		c, name := configure(values)
		t.Run(name, func(t *testing.T) {
			a, p := c.algorithm, c.machine()
			a.RefreshEvery = 2
			data := constantRows(5, p.Architecture.Visible(), 100)
			data.Stochastic = true
			j := job(a, data)
			trainer := newTrainer(t, e, j, engine.NewState(a, p))
			var blocks []oracle.Block
			var middle *engine.State
			for s := range 6 {
				before := state(t, trainer)
				if s == 3 {
					middle = before
				}
				now := a
				now.Samples = a.SamplesAt(s)
				g, n := gradients(t, trainer), evaluationPoint(a, before)
				if want := len(j.Rows(s)) * now.Samples; g.Wake.Rows != want {
					t.Fatalf("step %d has %d wake samples, want %d", s, g.Wake.Rows, want)
				}
				samples := draws(n.Architecture, g, now.Samples)
				if a.Metric != engine.Euclidean && s%2 == 0 {
					blocks = metricBlocks(a, n, sourceOf(a, n, samples), n.WakeMeasure(samples, oracle.Uniform))
				}
				wantGradient(t, "plain gradient", g.Plain, plainGradient(now, n, samples, s), 1e-5)
				wantGradient(t, "natural gradient", g.Natural, natural(t, a, g.Plain, blocks), 2e-5)
				wantGradient(t, "direction", g.Direction, penalised(now, g.Natural, n.Flat, s), 1e-5)
				wantReport(t, step(t, trainer, learningRate), g.Wake, now.Samples)
				after := state(t, trainer)
				wantUpdate(t, a, before, g.Direction, after)
				if want := s / 2 * 2; a.Metric != engine.Euclidean && after.RefreshStep != want {
					t.Errorf("after step %d the blocks are of step %d, want %d", s, after.RefreshStep, want)
				}
			}
			resumed := newTrainer(t, e, j, middle)
			for range 3 {
				step(t, resumed, learningRate)
			}
			wantSameState(t, state(t, resumed), state(t, trainer))
		})
	}
}

func plainGradient(a engine.Algorithm, n *oracle.Networks, samples oracle.Draws, step int) []float64 {
	gradient := n.GradientOn(samples, rule(a))
	if !a.HasEntropy() {
		return gradient
	}
	p, q := oracle.Equal(samples.Dreams), n.WakeMeasure(samples, oracle.Uniform)
	size := n.Architecture.GenerativeSize()
	exactP, exactQ := n.LocalEntropyGradient(n.Generative, p), n.LocalEntropyGradient(n.Recognition, q)
	scoreP, scoreQ := n.Score(p), n.Score(q)
	for k := range gradient {
		score := scoreP[k]
		if k >= size {
			score = scoreQ[k]
		}
		gradient[k] += a.WarmedUp(step) * (a.Entropy*(exactP[k]+exactQ[k]) - a.EntropyEstimator*score)
	}
	return gradient
}

func penalised(a engine.Algorithm, natural *engine.Parameters, point []float64, step int) []float64 {
	at := engine.NewParameters(natural.Architecture)
	for k, w := range point {
		at.Flat[k] = float32(w)
	}
	direction := natural.Clone()
	for network, layers := range [2][]engine.Layer{direction.Generative, direction.Recognition} {
		weights := [2][]engine.Layer{at.Generative, at.Recognition}[network]
		for i, layer := range layers {
			for j := range layer.Units {
				row := layer.Row(j)
				for k, w := range weights[i].Row(j)[1:] {
					row[1+k] -= float32(a.WarmedUp(step) * (a.L2*float64(w) + math.Copysign(a.L1, float64(w))))
				}
			}
		}
	}
	return doubles(direction.Flat)
}

// wantUpdate checks that a step has updated the moments and moved the parameters along a direction
// by the optimiser's formula. It checks the parameters of q only if they move once per step.
func wantUpdate(t *testing.T, a engine.Algorithm, before *engine.State, direction *engine.Parameters, after *engine.State) {
	t.Helper()
	last := len(direction.Flat)
	if a.SleepSteps > 1 {
		last = direction.Architecture.GenerativeSize()
	}
	n := float64(before.Step + 1)
	for k, d := range doubles(direction.Flat[:last]) {
		moved := d
		var moments []float64
		switch a.Optimizer {
		case engine.Momentum, engine.Nesterov:
			moved += a.Momentum * float64(before.Moments[0].Flat[k])
			moments = []float64{moved}
		case engine.Adam:
			m := a.AdamBeta1*float64(before.Moments[0].Flat[k]) + (1-a.AdamBeta1)*d
			v := a.AdamBeta2*float64(before.Moments[1].Flat[k]) + (1-a.AdamBeta2)*d*d
			moved = m / (1 - math.Pow(a.AdamBeta1, n)) / (math.Sqrt(v/(1-math.Pow(a.AdamBeta2, n))) + a.AdamEpsilon)
			moments = []float64{m, v}
		}
		check := func(what string, got float32, want float64) {
			if !(math.Abs(float64(got)-want) <= 1e-5*(math.Abs(want)+learningRate)) {
				t.Fatalf("%s %d is %v after step %d, want %v", what, k, got, after.Step, want)
			}
		}
		check("parameter", after.Parameters.Flat[k], float64(before.Parameters.Flat[k])+learningRate*moved)
		for i, want := range moments {
			check("moment", after.Moments[i].Flat[k], want)
		}
	}
}

// evaluationPoint returns the parameters at which a step with learningRate evaluates its gradient.
func evaluationPoint(a engine.Algorithm, s *engine.State) *oracle.Networks {
	n := oracle.NewNetworks(s.Parameters)
	if a.Optimizer == engine.Nesterov {
		for k, v := range s.Moments[0].Flat {
			n.Flat[k] += learningRate * a.Momentum * float64(v)
		}
	}
	return n
}

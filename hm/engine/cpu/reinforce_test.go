package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// outcome is the gradient of q for some draws of the hidden units of one row.
type outcome struct {
	probability, signal float64 // of the draws; log p(x,h) − log q(h|x) of the first
	gradient            []float64
}

// reinforced returns a trainer of one row with a baseline, and the trainer's state.
func reinforced(t *testing.T, p *engine.Parameters, b engine.ReinforceBaseline, network []float32, samples int) (engine.Trainer, *engine.State) {
	t.Helper()
	a := engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: b, BatchSize: 1, Samples: samples, SleepSteps: 1}
	s := engine.NewState(a, p)
	s.Baseline = slices.Clone(network)
	made, err := cpu{}.NewTrainer(engine.Job{
		Algorithm: a, Data: engine.Data{Values: numbers.Bytes(4, []byte{255, 0, 255, 255})}, Rows: func(int) []int { return []int{0} },
	}, s)
	if err != nil {
		t.Fatal(err)
	}
	return made, s
}

// outcomes draws until it has seen all draws of the hidden units, and returns the gradient of each.
func outcomes(t *testing.T, p *engine.Parameters, b engine.ReinforceBaseline, network []float32, samples int) (all []outcome) {
	t.Helper()
	trainer, s := reinforced(t, p, b, network, samples)
	seen, total := map[string]bool{}, 0.0
	for ; total < 1-1e-5; s.Step++ {
		if s.Step == 1e6 {
			t.Fatalf("the draws of %d steps have the probability %v, want 1", s.Step, total)
		}
		g, err := trainer.Gradients(0)
		if err != nil {
			t.Fatal(err)
		}
		if key := fmt.Sprint(g.Wake.States[1:]); !seen[key] {
			seen[key] = true
			flat := kernels.Doubles(g.Plain.Flat)[p.Architecture.GenerativeSize():]
			all = append(all, outcome{math.Exp(floats.Sum(g.Wake.LogQ)), g.Wake.LogP[0] - g.Wake.LogQ[0], flat})
			total += all[len(all)-1].probability
		}
	}
	return all
}

// moments returns the mean of the gradient and its variance, summed over the parameters.
func moments(all []outcome) (mean []float64, variance float64) {
	mean = make([]float64, len(all[0].gradient))
	for _, o := range all {
		floats.AddScaled(mean, o.probability, o.gradient)
	}
	for _, o := range all {
		d := floats.Distance(o.gradient, mean, 2)
		variance += o.probability * d * d
	}
	return mean, variance
}

// with returns the gradients of single samples with other baselines, one for each parameter, from those without.
func with(all []outcome, baseline []float64) []outcome {
	all = slices.Clone(all)
	for i, o := range all {
		all[i].gradient = slices.Clone(o.gradient)
		for k, g := range o.gradient {
			all[i].gradient[k] = (o.signal - baseline[k]) * g / o.signal
		}
	}
	return all
}

// A learned baseline must leave the mean of the gradient as it is. For a single sample, its variance must lie between
// the variances with the best constant and with the best baseline for each parameter, and no further from the least
// than an eighth of their distance. For two samples, it must be lower than the variance with the mean of the other
// sample. All moments are sums over all draws of the samples. Units share the parameters of tanh layers, so that no
// baseline of a unit is the best one for them.
func TestLearnedBaselineLowersTheVariance(t *testing.T) {
	for _, architecture := range []engine.Architecture{
		{Units: []int{4, 2, 1}}, {Units: []int{4, 2, 1}, Coding: engine.PlusMinusOne}, {Units: []int{4, 2, 1}, Tanh: []int{3}},
	} {
		p := oracle.Random(architecture, 1)
		n := oracle.NewNetworks(p)
		want := n.BoundScore(n.Rows(engine.Data{Values: numbers.Bytes(4, []byte{255, 0, 255, 255})}))[architecture.GenerativeSize():]
		trainer, s := reinforced(t, p, engine.LearnedBaseline, nil, 100)
		for range 300 {
			if _, err := trainer.Steps(t.Context(), []float64{0}); err != nil {
				t.Fatal(err)
			}
		}
		plain := outcomes(t, p, engine.NoBaseline, nil, 1)
		constant, optimal := make([]float64, len(want)), make([]float64, len(want))
		for k := range want {
			squares := 0.0
			for _, o := range plain {
				square := math.Pow(o.gradient[k]/o.signal, 2)
				constant[k] += o.probability * o.signal
				optimal[k] += o.probability * o.signal * square
				squares += o.probability * square
			}
			if squares > 0 { // not a weight of an input that is 0
				optimal[k] /= squares
			}
		}
		_, none := moments(plain)
		_, most := moments(with(plain, constant))
		_, least := moments(with(plain, optimal))
		_, others := moments(outcomes(t, p, engine.ConstantBaseline, nil, 2))
		limits := []float64{least + (most-least)/8, others}
		if len(architecture.Tanh) > 0 {
			limits[0] = most
		}
		for i, limit := range limits {
			mean, variance := moments(outcomes(t, p, engine.LearnedBaseline, s.Baseline, i+1))
			t.Logf("%v, %d samples: variance %.4g, limit %.4g; of single samples without a baseline %.4g, with a constant %.4g, with the best %.4g",
				architecture, i+1, variance, limit, none, most, least)
			if d := floats.Distance(mean, want, 2) / floats.Norm(want, 2); d > 1e-4 {
				t.Errorf("%v, %d samples: the mean gradient differs from the exact one by a relative %.2g", architecture, i+1, d)
			}
			if !(variance <= limit) {
				t.Errorf("%v, %d samples: variance %v, want at most %v", architecture, i+1, variance, limit)
			}
		}
	}
}

package oracle

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/philox"
	"github.com/helmholtz-go/helmholtz/internal/statistics"
)

// labelMachines returns tiny machines with both kinds of labels.
func labelMachines() []engine.Architecture {
	const b, c = engine.Bernoulli, engine.Categorical
	return []engine.Architecture{
		{Units: []int{3, 2, 3}, Kinds: []engine.Kind{b, b, c}},
		{Units: []int{3, 2, 2, 3}, Kinds: []engine.Kind{b, b, b, c}, Coding: engine.PlusMinusOne},
		{Units: []int{3, 2, 2}, Coding: engine.PlusMinusOne, Classes: 3},
		{Units: []int{3, 3}, Classes: 2},
		{Units: []int{3, 2, 2}, Classes: 2, HiddenClassifier: true},
	}
}

func everyLabelMachine(t *testing.T, test func(t *testing.T, n *Networks, x []float64)) {
	for _, a := range labelMachines() {
		t.Run(fmt.Sprint(a.Units, a.Classes, a.HiddenClassifier, a.Coding), func(t *testing.T) {
			off := float64(a.Coding.Off())
			test(t, NewNetworks(Random(a, 5)), []float64{1, off, 1})
		})
	}
}

// Both p(x,h,y) and q(h|x) q(y|h) must sum to 1 over all states.
func TestLabelsAreDistributions(t *testing.T) {
	everyLabelMachine(t, func(t *testing.T, n *Networks, x []float64) {
		joint, recognition := 0.0, 0.0
		for number := range 8 {
			at := []float64{n.value(0, number&1 > 0), n.value(0, number&2 > 0), n.value(0, number&4 > 0)}
			for _, v := range n.Explanations(at) {
				for y := range n.Architecture.Labels() {
					p := n.LogJointOf(n.withLabel(v, y))
					if !n.Architecture.TopLabels() {
						p += n.LogLabel(v, y)
					}
					joint += math.Exp(p)
					recognition += math.Exp(n.LogBelow(v)+n.LogLabel(v, y)) / 8
				}
			}
		}
		if !(math.Abs(joint-1) <= 1e-12) || !(math.Abs(recognition-1) <= 1e-12) {
			t.Errorf("p sums to %v, q to %v", joint, recognition)
		}
	})
}

// Explanations must list every h of a machine without labels, too.
func TestExplanationsWithoutLabels(t *testing.T) {
	n, x := randomMachine(engine.Architecture{Units: []int{3, 2, 2}}, 1), []float64{1, 0, 1}
	sum := 0.0
	for _, v := range n.Explanations(x) {
		sum += math.Exp(n.LogJointOf(v))
	}
	wantClose(t, "p(x)", sum, math.Exp(n.Explain(x).LogP()), 1e-12)
}

// objective returns the objective of a datum. y is at least Labels if it has no label.
func (n *Networks) objective(x []float64, y int, r engine.Algorithm) float64 {
	if y >= n.Architecture.Labels() {
		return 2 * n.LogA(x)
	}
	return r.LabelWeight * (n.LogB(x)[y] - r.Gamma*n.LogA(x))
}

// objectiveGradient returns the exact gradient of objective.
func (n *Networks) objectiveGradient(x []float64, y int, r engine.Algorithm) []float64 {
	gradient, logA, logB := make([]float64, len(n.Flat)), n.LogA(x), n.LogB(x)
	for _, v := range n.Explanations(x) {
		for class := range n.Architecture.Labels() {
			root := n.logProduct(v, class) / 2
			weight := math.Exp(root - logA)
			if y < n.Architecture.Labels() {
				weight *= -r.Gamma * r.LabelWeight / 2
				if class == y {
					weight += r.LabelWeight / 2 * math.Exp(root-logB[y])
				}
			}
			floats.AddScaled(gradient, weight, n.productScore(v, class))
		}
	}
	return gradient
}

// The gradients of BiHM thesis 2016, 4.9 and 4.10, the latter with h ~ q(h|x), must be the
// derivatives of the objectives, by finite differences.
func TestObjectiveGradientByFiniteDifferences(t *testing.T) {
	const h = 1e-5
	everyLabelMachine(t, func(t *testing.T, n *Networks, x []float64) {
		for _, gamma := range []float64{-1, 0, 0.3, 1} {
			r := engine.Algorithm{Gamma: gamma, LabelWeight: 1.5}
			for _, y := range []int{0, 1, engine.NoLabel} {
				gradient := n.objectiveGradient(x, y, r)
				for k := range n.Flat {
					center := n.Flat[k]
					n.Flat[k] = center + h
					above := n.objective(x, y, r)
					n.Flat[k] = center - h
					below := n.objective(x, y, r)
					n.Flat[k] = center
					if want := (above - below) / (2 * h); !(math.Abs(gradient[k]-want) <= 1e-8) {
						t.Fatalf("γ = %v, label %d: derivative %d is %v, by differences %v", gamma, y, k, gradient[k], want)
					}
				}
			}
		}
	})
}

// With a classifier beside the networks, log A must be half of log p̃*(x) of the machine without
// it: Σ_y q(y|x,h¹) = 1 (BiHM thesis 2016, 4.6).
func TestClassifierLeavesTheLikelihood(t *testing.T) {
	n := NewNetworks(Random(engine.Architecture{Units: []int{3, 2, 2}, Classes: 3}, 5))
	p := engine.NewParameters(engine.Architecture{Units: []int{3, 2, 2}})
	for k := range p.Flat {
		p.Flat[k] = float32(n.Flat[k])
	}
	m := NewNetworks(p)
	if got, want := 2*n.LogA([]float64{1, 0, 1}), m.Explain([]float64{1, 0, 1}).LogPTildeStar(); !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("2 log A is %v, log p̃* %v", got, want)
	}
}

// drawLabeled draws h ~ q(h|x), and a label from the proposal.
func drawLabeled(n *Networks, x []float64, label int, proposal engine.LabelProposal, rng *rand.Rand) Values {
	v := Values{x}
	for _, units := range n.Architecture.Units[1:] {
		v = append(v, make([]float64, units))
	}
	for _, u := range n.Recognition {
		if u.Kind == engine.Bernoulli {
			_, _, a := n.Outputs(u, v)
			v[u.Layer][u.Index] = n.value(u.Layer, rng.Float64() < statistics.Sigmoid(a))
		}
	}
	if !n.Architecture.TopLabels() {
		return v
	}
	left, y := rng.Float64(), 0
	for y < n.Architecture.Labels()-1 {
		if left -= math.Exp(n.LogLabel(v, y)); left < 0 {
			break
		}
		y++
	}
	if proposal == engine.MixedLabels && rng.IntN(2) == 1 {
		y = label
	}
	return n.withLabel(v, y)
}

// All proposals must estimate A(x) without bias: the mean of Ã over draws of two samples lies
// within 4 standard errors.
func TestProposalsEstimateA(t *testing.T) {
	const draws = 600
	everyLabelMachine(t, func(t *testing.T, n *Networks, x []float64) {
		for _, proposal := range []engine.LabelProposal{engine.ExactLabels, engine.PlainLabels, engine.MixedLabels} {
			rng := rand.New(philox.NewStream(3, philox.Importance, uint32(proposal)))
			mean, square := 0.0, 0.0
			for range draws {
				samples := []Values{drawLabeled(n, x, 1, proposal, rng), drawLabeled(n, x, 1, proposal, rng)}
				logA, _, _ := n.labelEstimates(samples, 1, engine.Algorithm{LabelProposal: proposal})
				mean += math.Exp(logA) / draws
				square += math.Exp(2*logA) / draws
			}
			want, se := math.Exp(n.LogA(x)), math.Sqrt((square-mean*mean)/draws)
			if !(math.Abs(mean-want) <= 4*se) {
				t.Errorf("%v: mean of Ã is %v, A %v ± %v", proposal, mean, want, se)
			}
		}
	})
}

// B̃/Ã estimates a probability, here the probability of the most probable class, in machines whose
// p is four times as certain as their q. With labels summed exactly over the same h it never
// exceeds 1. With plain proposals it exceeds 1 often, and with the proposals of BiHM thesis 2016,
// 4.11, which were meant to prevent this, sometimes.
func TestOnlyExactLabelsKeepProbabilitiesBelowOne(t *testing.T) {
	const machines, draws = 20, 40
	a, x := labelMachines()[0], []float64{1, 0, 1}
	proposals := []engine.LabelProposal{engine.ExactLabels, engine.PlainLabels, engine.MixedLabels}
	above := map[engine.LabelProposal]int{}
	for seed := range uint64(machines) {
		n := NewNetworks(Random(a, seed))
		for k := range a.GenerativeSize() {
			n.Flat[k] *= 4
		}
		likeliest := 0
		for y, log := range n.LogB(x) {
			if log > n.LogB(x)[likeliest] {
				likeliest = y
			}
		}
		for _, proposal := range proposals {
			rng := rand.New(philox.NewStream(seed, philox.Importance, uint32(proposal)))
			for range draws {
				samples := []Values{drawLabeled(n, x, likeliest, proposal, rng), drawLabeled(n, x, likeliest, proposal, rng)}
				logA, logB, _ := n.labelEstimates(samples, likeliest, engine.Algorithm{LabelProposal: proposal})
				if !(logB[likeliest]-logA <= 1e-12) {
					above[proposal]++
				}
			}
		}
	}
	t.Logf("of %d estimates of log p*(y|x) from 2 samples, above 0: exact %d, plain %d, mixed %d",
		machines*draws, above[engine.ExactLabels], above[engine.PlainLabels], above[engine.MixedLabels])
	if above[engine.ExactLabels] > 0 {
		t.Errorf("exact labels exceed probability 1 in %d draws", above[engine.ExactLabels])
	}
	if above[engine.MixedLabels] == 0 || above[engine.PlainLabels] <= above[engine.MixedLabels] {
		t.Errorf("probabilities above 1 with plain labels: %d, with 4.11: %d; want more than with 4.11, and there some", above[engine.PlainLabels], above[engine.MixedLabels])
	}
}

// With each proposal the mean gradient of many samples must tend to the exact one: within 4.5
// standard errors plus the bias, of order 1/K, of the self-normalised weights.
func TestLabelGradientTendsToTheExactOne(t *testing.T) {
	const samples, repeats = 100, 12
	for _, a := range []engine.Architecture{labelMachines()[0], labelMachines()[3]} {
		n, x := NewNetworks(Random(a, 5)), []float64{1, 0, 1}
		for _, proposal := range []engine.LabelProposal{engine.ExactLabels, engine.PlainLabels, engine.MixedLabels} {
			for _, y := range []int{1, engine.NoLabel} {
				r := engine.Algorithm{LabelProposal: proposal, Gamma: 0.5, LabelWeight: 1, Baseline: true}
				drawn := proposal
				if y == engine.NoLabel {
					drawn = engine.PlainLabels
				}
				rng := rand.New(philox.NewStream(4, philox.Importance, uint32(proposal)))
				mean, square := make([]float64, len(n.Flat)), make([]float64, len(n.Flat))
				for range repeats {
					var datum []Values
					for range samples {
						datum = append(datum, drawLabeled(n, x, y, drawn, rng))
					}
					for k, g := range n.LabelGradientOn([][]Values{datum}, []int{y}, r) {
						mean[k] += g / repeats
						square[k] += g * g / repeats
					}
				}
				for k, want := range n.objectiveGradient(x, y, r) {
					se := math.Sqrt(math.Max(0, square[k]-mean[k]*mean[k]) / (repeats - 1))
					if !(math.Abs(mean[k]-want) <= 4.5*se+2.0/samples) {
						t.Errorf("%v, label %d: mean of derivative %d is %v, the exact one %v ± %v", proposal, y, k, mean[k], want, se)
					}
				}
			}
		}
	}
}

package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/internal/numbers"
)

// Gradients must omit samples without weight, which changes them by less than the bound, unit by
// unit. The gradient from the other samples must match its definition.
func TestWeightlessSamplesMoveGradientsLittle(t *testing.T) {
	for _, arithmetic := range []engine.Arithmetic{engine.FloatingPoint, engine.FixedPoint} {
		for _, baseline := range []bool{false, true} {
			t.Run(fmt.Sprint(arithmetic, " ", baseline), func(t *testing.T) {
				a := engine.Algorithm{
					Rule: engine.Bidirectional, BatchSize: 4, Samples: 20, SleepSteps: 1,
					Baseline: baseline, Arithmetic: arithmetic,
				}
				trainer := trainerOfManyWeights(t, a)
				trainer.weights.pack(trainer.point)
				trainer.sample(0, nil)
				// The first layer of q multiplies one row per datum; other layers are compared
				// sample by sample.
				trainer.ascend(false)
				wantGradient(t, trainer, generative, 0, trainer.wake.counted[generative], 0)
				shift := 0.0
				if baseline {
					shift = 1 / float64(a.Samples)
				}
				wantGradient(t, trainer, recognition, 2, trainer.wake.counted[recognition], shift)
				all := a.BatchSize * a.Samples
				if n := len(trainer.wake.counted[generative].rows); n > all*3/4 || n < a.BatchSize {
					t.Errorf("of %d samples %d count for p", all, n)
				}
				if n := len(trainer.wake.counted[recognition].rows); (n == all) != baseline {
					t.Errorf("of %d samples %d count for q, with a baseline: %v", all, n, baseline)
				}
			})
		}
	}
}

// wantGradient compares the gradient of a layer with a float64 sum over the samples that count, and
// the omitted part with the bound.
func wantGradient(t *testing.T, trainer *trainer, n network, i int, of weighting, baseline float64) {
	t.Helper()
	residuals, states := trainer.wake.residuals[generative][i], trainer.wake.states[i+1]
	if n == recognition {
		residuals, states = trainer.wake.residuals[recognition][i], trainer.wake.states[i-1]
	}
	counts := map[int]bool{}
	for _, r := range of.rows {
		counts[int(r)] = true
	}
	gradient := matrix(n.Layer(trainer.gradient, i))
	for j := range gradient.Rows {
		sum, out := make([]float64, gradient.Cols), make([]float64, gradient.Cols)
		bound, size := 0.0, 0.0
		for r, w := range trainer.importance {
			δ, length, to := float64(kernels.Row(residuals, r)[j]), 0.0, out
			if counts[r] {
				to = sum
			}
			for k, u := range kernels.Row(states, r) {
				to[k] += (w - baseline) * δ * float64(u) / float64(trainer.wake.data)
				length += float64(u * u)
			}
			bound += weightless * math.Abs(δ) * math.Sqrt(length) / float64(trainer.wake.data)
			size += math.Abs((w-baseline)*δ) / float64(trainer.wake.data)
		}
		norm := 0.0
		for k, x := range out {
			norm += x * x
			if got := float64(kernels.Row(gradient, j)[k]); math.Abs(got-sum[k]) > 1e-6*size {
				t.Errorf("element %d, %d of the gradient of layer %d of the %v network is %v, want %v", j, k, i, n, got, sum[k])
			}
		}
		if norm = math.Sqrt(norm); norm > bound {
			t.Errorf("unit %d of layer %d of the %v network: %v is left out, more than %v", j, i, n, norm, bound)
		}
	}
}

// trainerOfManyWeights returns a trainer whose parameters are so large that most samples have no
// weight.
func trainerOfManyWeights(t *testing.T, a engine.Algorithm) *trainer {
	architecture := engine.Architecture{Units: []int{120, 70, 30, 9}, Coding: engine.PlusMinusOne}
	random := rand.New(rand.NewPCG(3, 4))
	p := engine.NewParameters(architecture)
	for k := range p.Flat {
		p.Flat[k] = float32(random.NormFloat64())
	}
	data := engine.Data{Values: numbers.Bytes(120, make([]uint8, a.BatchSize*120))}
	for k := range data.Bytes() {
		data.Bytes()[k] = uint8(random.IntN(256))
	}
	rows := make([]int, a.BatchSize)
	for i := range rows {
		rows[i] = i
	}
	made, err := cpu{}.NewTrainer(engine.Job{Algorithm: a, Data: data, Rows: func(int) []int { return rows }}, engine.NewState(a, p))
	if err != nil {
		t.Fatal(err)
	}
	return made.(*trainer)
}

// No objective may change the residuals that it weighs: they must be the same before and after a
// gradient, and another gradient of the same samples must be equal.
func TestWeightsLeaveResidualsAsTheyAre(t *testing.T) {
	labeled := engine.Architecture{Units: []int{12, 7, 5, 3}, Kinds: []engine.Kind{engine.Bernoulli, engine.Bernoulli, engine.Bernoulli, engine.Categorical}}
	dense := engine.Architecture{Units: []int{12, 7, 5}}
	for name, test := range map[string]struct {
		architecture engine.Architecture
		algorithm    engine.Algorithm
	}{
		"likelihood":        {dense, engine.Algorithm{Rule: engine.ReweightedWakeSleep, Baseline: true}},
		"entropy":           {dense, engine.Algorithm{Rule: engine.ReweightedWakeSleep, Entropy: 0.3}},
		"printed estimator": {dense, engine.Algorithm{Rule: engine.WakeSleep, EntropyEstimator: 0.5}},
		"learned baselines": {dense, engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.LearnedBaseline}},
		"REINFORCE":         {dense, engine.Algorithm{Rule: engine.Reinforce, ReinforceBaseline: engine.OptimalBaseline}},
		"labels":            {labeled, engine.Algorithm{Rule: engine.Bidirectional, LabelWeight: 1}},
		"classifier":        {engine.Architecture{Units: []int{12, 7, 5}, Classes: 3}, engine.Algorithm{Rule: engine.Bidirectional, LabelWeight: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			a, random := test.algorithm, rand.New(rand.NewPCG(5, 6))
			a.BatchSize, a.Samples, a.SleepSteps = 4, 6, 1
			p := engine.NewParameters(test.architecture)
			for k := range p.Flat {
				p.Flat[k] = float32(random.NormFloat64())
			}
			data := engine.Data{Values: numbers.Bytes(12, make([]uint8, 4*12))}
			for k := range data.Bytes() {
				data.Bytes()[k] = uint8(random.IntN(256))
			}
			if test.architecture.Labels() > 0 {
				data.Labels = []uint8{2, engine.NoLabel, 0, 1}
			}
			made, err := cpu{}.NewTrainer(engine.Job{Algorithm: a, Data: data, Rows: func(int) []int { return []int{0, 1, 2, 3} }}, engine.NewState(a, p))
			if err != nil {
				t.Fatal(err)
			}
			trainer := made.(*trainer)
			trainer.weights.pack(trainer.point)
			trainer.sample(0, nil)
			residuals := func() (all []float32) {
				for _, l := range []*lesson{trainer.wake, trainer.dreams} {
					for n := 0; l != nil && n < len(l.residuals); n++ {
						for _, layer := range l.residuals[n] {
							all = append(all, layer.Data...)
						}
					}
				}
				return all
			}
			before := slices.Clone(residuals())
			trainer.ascend(false)
			first := slices.Clone(trainer.gradient.Flat)
			if !slices.Equal(residuals(), before) {
				t.Error("weighing has changed residuals")
			}
			trainer.ascend(false)
			if !slices.Equal(trainer.gradient.Flat, first) {
				t.Error("another gradient of the same samples differs")
			}
			if slices.Max(first) == 0 {
				t.Error("the gradient is 0")
			}
		})
	}
}

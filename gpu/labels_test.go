//go:build cuda

package gpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// labelled returns machines with the label at the top, and with classifiers that see x or not. Each has layers of
// several tiles.
func labelled() []engine.Architecture {
	b := engine.Bernoulli
	return []engine.Architecture{
		{Units: []int{40, 35, 70, 11}, Kinds: []engine.Kind{b, b, b, engine.Categorical}, Coding: engine.PlusMinusOne},
		{Units: []int{40, 35, 40}, Kinds: []engine.Kind{b, b, engine.Categorical}},
		{Units: []int{40, 35, 9}, Classes: 11, Coding: engine.PlusMinusOne},
		{Units: []int{40, 35}, Classes: 40, HiddenClassifier: true},
	}
}

// bidirectional returns an algorithm for machines with labels, and stripes of which two in three have a label.
func bidirectional(arch engine.Architecture) (engine.Algorithm, engine.Data) {
	a := engine.Algorithm{
		Rule: engine.Bidirectional, BatchSize: 6, Samples: 7, SleepSteps: 1, Baseline: true, RefreshEvery: 1,
		Optimizer: engine.Nesterov, Momentum: 0.9, L2: 1e-3, Gamma: 0.3, LabelWeight: 2,
	}
	if arch.TopLabels() {
		a.LabelProposal = engine.MixedLabels
	}
	data := stripes(40, arch.Visible())
	for r := range data.Rows {
		if data.Labels = append(data.Labels, uint8(r*7%arch.Labels())); r%3 == 2 {
			data.Labels[r] = engine.NoLabel
		}
	}
	return a, data
}

// Both engines must draw the same labels and learn the same from them, also from rows that repeat in a minibatch.
// Each must continue from a state of the other.
func TestLabelsAgreeWithTheCPU(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	for _, arch := range labelled() {
		t.Run(fmt.Sprint(arch.Units), func(t *testing.T) {
			a, data := bidirectional(arch)
			j := minibatches(a, data)
			j.Rows = func(step int) []int { return []int{step % 3, 1, step % 2, 3, 4, 2} }
			j.Repeats = true
			state := engine.NewState(a, oracle.Random(arch, 3))
			for range 2 {
				var g [2]engine.Gradients
				var reports [2][]engine.Report
				var states [2]*engine.State
				for k, one := range []engine.Engine{reference, e} {
					trainer, err := one.NewTrainer(j, state.Clone())
					if err != nil {
						t.Fatal(err)
					}
					defer trainer.Close()
					if g[k], err = trainer.Gradients(0.01); err != nil {
						t.Fatal(err)
					}
					for rates := []float64{0.01, 0.02, 0.01}; len(reports[k]) < len(rates); {
						some, err := trainer.Steps(t.Context(), rates[len(reports[k]):])
						if err != nil {
							t.Fatal(err)
						}
						reports[k] = append(reports[k], some...)
					}
					if states[k], err = trainer.State(); err != nil {
						t.Fatal(err)
					}
				}
				if n := differentDraws(g[0].Wake, g[1].Wake); n > 0 {
					t.Fatalf("%d draws differ", n)
				}
				wantClose(t, "gradient", g[1].Plain.Flat, g[0].Plain.Flat, 1e-5)
				wantClose(t, "direction", g[1].Direction.Flat, g[0].Direction.Flat, 1e-5)
				wantClose(t, "parameters", states[1].Parameters.Flat, states[0].Parameters.Flat, 1e-6)
				wantClose(t, "velocity", states[1].Moments[0].Flat, states[0].Moments[0].Flat, 1e-5)
				for s := range reports[0] {
					if math.Abs(reports[0][s].LogP-reports[1][s].LogP) > 1e-4 {
						t.Errorf("the reports are %v and %v", reports[0], reports[1])
					}
				}
				state = states[1]
			}
		})
	}
}

// Both engines must draw the same samples of machines with labels, and find the same probabilities of the classes. The
// samples of a row come in several pieces.
func TestModelsWithLabelsAgreeWithTheCPU(t *testing.T) {
	e := opened(t)
	reference := onCPU(t)
	for _, arch := range labelled() {
		t.Run(fmt.Sprint(arch.Units), func(t *testing.T) {
			_, data := bidirectional(arch)
			data.First = 5
			var classes, weights, z2 [2][]float64
			var inferred, generated, descended [2]engine.Draws
			for k, one := range []engine.Engine{reference, e} {
				m, err := one.NewModel(oracle.Random(arch, 3), engine.FloatingPoint)
				if err != nil {
					t.Fatal(err)
				}
				var errs [6]error
				classes[k], errs[0] = m.(engine.Classifier).Classify(t.Context(), data.Part(0, 3), samplesAPass+2, 9, nil)
				weights[k], errs[1] = m.LogWeights(t.Context(), data, 3, 9)
				z2[k], errs[2] = m.LogZ2(t.Context(), 2, 5, 3, 9)
				inferred[k], errs[3] = m.Infer(t.Context(), data, 3, 9)
				generated[k], errs[4] = m.Generate(t.Context(), 50, 9)
				descended[k], errs[5] = m.Descend(t.Context(), 50, 1, 9)
				for _, err := range errs {
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			for what, pair := range map[string][2][]float64{"classes": classes, "log-weights": weights, "log Z²": z2} {
				for r := range pair[0] {
					if !(math.Abs(pair[0][r]-pair[1][r]) <= 1e-4) {
						t.Fatalf("%s: number %d is %v, on the CPU %v", what, r, pair[1][r], pair[0][r])
					}
				}
			}
			for what, pair := range map[string][2]engine.Draws{"inferred": inferred, "generated": generated, "descended": descended} {
				if n := differentDraws(pair[0], pair[1]); n > 0 {
					t.Errorf("%s: %d draws differ", what, n)
				}
				wantClose(t, what+" means", slices.Concat(pair[1].Means...), slices.Concat(pair[0].Means...), 1e-5)
			}
		})
	}
}

// Training that the engine cannot do on labels must be refused.
func TestLabelsThatAreRefused(t *testing.T) {
	e, arch := opened(t), labelled()[0]
	for name, change := range map[string]func(a *engine.Algorithm, data *engine.Data){
		"rows without labels": func(_ *engine.Algorithm, data *engine.Data) { data.Labels = nil },
		"natural gradients":   func(a *engine.Algorithm, _ *engine.Data) { a.Metric = engine.Block },
		"another rule":        func(a *engine.Algorithm, _ *engine.Data) { a.Rule = engine.ReweightedWakeSleep },
		"entropy":             func(a *engine.Algorithm, _ *engine.Data) { a.Entropy = 1 },
	} {
		a, data := bidirectional(arch)
		change(&a, &data)
		if trainer, err := e.NewTrainer(minibatches(a, data), engine.NewState(a, oracle.Random(arch, 3))); err == nil {
			t.Errorf("the engine trains on labels with %s", name)
			trainer.Close()
		}
	}
}

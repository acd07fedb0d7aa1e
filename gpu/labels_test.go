//go:build cuda

package gpu

import (
	"fmt"
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

// Both engines must draw the same labels and learn the same from them.
func TestLabelsAgreeWithTheCPU(t *testing.T) {
	for _, arch := range labelled() {
		t.Run(fmt.Sprint(arch.Units), func(t *testing.T) {
			a, data := bidirectional(arch)
			wantSameSteps(t, a, data, arch, 1e-5)
		})
	}
}

// Both engines must draw the same samples of machines with labels, and find the same probabilities of the classes.
func TestModelsWithLabelsAgreeWithTheCPU(t *testing.T) {
	for _, arch := range labelled() {
		t.Run(fmt.Sprint(arch.Units), func(t *testing.T) {
			_, data := bidirectional(arch)
			wantSameEvaluations(t, arch, data)
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

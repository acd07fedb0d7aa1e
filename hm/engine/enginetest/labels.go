package enginetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/hm/engine/oracle"
)

// everyLabeled runs a test on semi-supervised machines with every proposal, with the label at the
// top or a classifier, both tiny and cut into several pieces. Two rows of three have labels.
func everyLabeled(t *testing.T, test func(t *testing.T, p *engine.Parameters, a engine.Algorithm, data engine.Data)) {
	const b, c = engine.Bernoulli, engine.Categorical
	for _, architecture := range []engine.Architecture{
		{Units: []int{3, 2, 3}, Kinds: []engine.Kind{b, b, c}},
		{Units: []int{3, 2, 2, 2}, Kinds: []engine.Kind{b, b, b, c}, Coding: engine.PlusMinusOne},
		{Units: []int{20, 40, 9, 10}, Kinds: []engine.Kind{b, b, b, c}, Coding: engine.PlusMinusOne},
		{Units: []int{3, 2, 3}, Kinds: []engine.Kind{c, b, c}, Groups: tinyCategorical.Groups[:1]},
		{Units: []int{3, 3}, Classes: 2},
		{Units: []int{20, 12, 7}, Classes: 5, Coding: engine.PlusMinusOne},
		{Units: []int{3, 2, 2}, Classes: 3, HiddenClassifier: true},
		{Units: []int{20, 12, 7}, Classes: 5, HiddenClassifier: true, Coding: engine.PlusMinusOne},
	} {
		for _, proposal := range []engine.LabelProposal{engine.ExactLabels, engine.PlainLabels, engine.MixedLabels} {
			if proposal != engine.ExactLabels && !architecture.TopLabels() {
				continue
			}
			for _, baseline := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v,%v,%d,hidden=%v,%v,baseline=%v", architecture.Units, architecture.Groups, architecture.Classes, architecture.HiddenClassifier, proposal, baseline), func(t *testing.T) {
					a := preset{"BiHM", engine.Bidirectional, engine.Euclidean}.algorithm()
					a.LabelProposal, a.Gamma, a.LabelWeight, a.Baseline = proposal, 0.3, 2, baseline
					a.BatchSize, a.Samples = 10, 3
					data := rowsOf(architecture, 17)
					for r := range data.Rows {
						label := uint8(r * 7 % architecture.Labels())
						if r%3 == 2 {
							label = engine.NoLabel
						}
						data.Labels = append(data.Labels, label)
					}
					test(t, random(architecture), a, data)
				})
			}
		}
	}
}

// gradientOfLabels compares the training of semi-supervised machines with the oracle's on the samples and labels that
// the engine has drawn. A step that mixes the labels of data among the drawn ones must do so.
func gradientOfLabels(t *testing.T, e engine.Engine) {
	everyLabeled(t, func(t *testing.T, p *engine.Parameters, a engine.Algorithm, data engine.Data) {
		a.Optimizer, a.L2 = engine.Adam, 1e-3
		wantTraining(t, e, a, p, data, 4, learningRate, 2e-5)
		g, n := gradients(t, newTrainer(t, e, job(a, data), engine.NewState(a, p))), oracle.NewNetworks(p)
		replaced := false
		for r, v := range values(n.Architecture, g.Wake) {
			replaced = replaced || math.Abs(g.Wake.LogQ[r]-n.LogRecognitionOf(v)) >= 1e-4
		}
		if a.LabelProposal == engine.MixedLabels && !replaced {
			t.Error("no sample has the label of its datum")
		}
	})
}

// classification tests that the probabilities p*(y|x) of a tiny machine tend to the exact ones,
// B/A, which do not depend on log Z², and that they sum to 1 for any number of samples.
func classification(t *testing.T, e engine.Engine) {
	const samples = 20_000
	everyLabeled(t, func(t *testing.T, p *engine.Parameters, a engine.Algorithm, data engine.Data) {
		if a.LabelProposal != engine.ExactLabels || a.Baseline || data.Units > 3 {
			return
		}
		model := newModel(t, e, p).(engine.Classifier)
		n, classes := oracle.NewNetworks(p), p.Architecture.Labels()
		data.Rows, data.First = 4, 5
		for _, count := range []int{1, 3, samples} {
			logs := must(model.Classify(t.Context(), data, count, seed, nil))(t)
			for r, x := range n.Rows(data) {
				sum := 0.0
				for y, log := range logs[r*classes : (r+1)*classes] {
					sum += math.Exp(log)
					if want := math.Exp(n.LogB(x)[y] - n.LogA(x)); count == samples && !(math.Abs(math.Exp(log)-want) <= 0.02) {
						t.Errorf("row %d: p*(%d|x) is %v, exactly %v", r, y, math.Exp(log), want)
					}
				}
				if !(math.Abs(sum-1) <= 1e-9) {
					t.Errorf("row %d, %d samples: the probabilities sum to %v", r, count, sum)
				}
			}
		}
	})
}

package thesis

import (
	"fmt"
	"strings"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/notebooks/reproduce"
)

// labeled lists the machines of BiHM thesis 2016, table 4.1, which have a label on top and learn
// from 1,000 labels.
var labeled = []struct {
	layers []int
	γ      float64
	gamma  string // as the criteria write it
}{
	{[]int{230, 200, 170, 130, 80, 50, 25}, -0.001, "−0.001"},
	{[]int{200, 170, 140, 110, 80, 50, 25}, 0, "0"},
	{[]int{250, 200, 150, 120, 80, 50, 25}, 0.001, "0.001"},
	{[]int{300, 200, 130, 80, 50, 25}, -0.01, "−0.01"},
	{[]int{250, 200, 150, 100, 80, 50, 25, 15}, 0.1, "0.1"},
	{[]int{300, 200, 130, 80, 50, 25, 15}, 0.01, "0.01"},
}

func labeledPlans() []plan {
	var plans []plan
	for i, m := range labeled {
		plans = append(plans, plan{
			name: fmt.Sprintf("labels-on-top-%d", i+1), data: dataset.Spec{Name: "mnist", Binarization: dataset.Drawn, Labels: 1000},
			machine: bidirectional(m.layers...).Bias(-1).Labels(hm.TopLabels, 10),
			method:  hm.BiHM().Optimizer(hm.Adam).LearningRate(0.001).BatchSize(100).Samples(10).Gamma(m.γ).LabelProposal(hm.PlainLabels),
			laptop:  10, full: 200, seeds: 1,
		})
	}
	return plans
}

func makeTable41(w *work) {
	const chance = 0.9 // the error of ten classes
	atChance := 0
	j := w.claim("A label on top does not do well beside the literature.")
	for i, p := range labeledPlans() {
		number := fmt.Sprintf("%s, γ %s, ", strings.ReplaceAll(strings.Trim(fmt.Sprint(labeled[i].layers), "[]"), " ", "-"), labeled[i].gamma)
		of := w.trained(p.name, p.name)
		rows, samples := w.few(0, 0, 50), w.few(100, 100, 5)
		c := keptOf(w, fmt.Sprintf("classification-rows-%d-samples-%d", rows, samples), of[0].snapshot, func() hm.Classification {
			w.Say("classifying the test rows by %s", p.name)
			return must(of[0].model.Classify(w.ctx, of[0].model.Subset(w.dataset(of[0]).Test(), rows), samples, w.Progress))
		})
		se := float64(c.ErrorSE)
		w.Found(number+"error", "error", reproduce.Value{Ours: c.Error, SE: &se, Seeds: 1, By: fmt.Sprintf("%s samples of each of %s test rows", thousands(c.Samples), thousands(c.Data))})
		j.add(reproduce.Measured(c.Error, se, "", "%serror", number).Over(0.05).Errors(0))
		if c.Error > chance-2*se {
			atChance++
		}
		w.found(number+"−log p̃*(x)", "−log p̃*", w.evaluate(of), scaled(-1, logPTildeStar))
		w.Found(number+"−log p̃*(y|x)", "−log p̃*", reproduce.Value{Ours: -c.LogP, SE: (*float64)(&c.LogPSE), Seeds: 1})
	}
	if atChance > 0 {
		j.undecided("%d of them are at chance, %g, and have not learned yet", atChance, chance)
	}
}

package hm

import (
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/hm/engine"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/factorized"
)

// Baseline returns the mean log p(x) of rows, in nats, under a factorised model of the training rows of set.
// The model treats the visible units as independent or, if the machine has groups, the categorical variables.
// Baseline ignores the label of a machine, as the machine's log p(x) does. Method.Baseline and
// Method.ReinforceBaseline are something else: control variates of gradients.
func (e Experiment) Baseline(set *dataset.Set, rows dataset.Split) runs.Baseline {
	machine, err := e.Machine.withGroupsOf(set)
	switch a := machine.architecture(set.Shape()); {
	case err == nil && a.Kind(0) == engine.Categorical:
		var variables []factorized.Variable
		for _, g := range a.Variables(0) {
			variables = append(variables, factorized.Variable(g))
		}
		return factorized.Categorical(set.Train(), rows, variables)
	case a.Kind(0) == Gaussian:
		return factorized.Gaussian(set.Train(), rows, engine.SigmaFloor, true)
	}
	return factorized.Bernoulli(set.Train(), rows)
}

package hm

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set := patterns(t)
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: short(NRWS()).Optimizer(Adam).Epochs(3).Experiment(machineFor(set), set), Set: set,
		Kind:  kind,
		Aside: []string{"measure", "start.run", "start.checkpoint"},
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Machine.Layers = []int{4, 0} }, "layer 2", "0 units", "at least one"),
			runstest.Refuse(func(e *Experiment) { e.Method.LearningRate = -0.1 }, "learning_rate = -0.1", "positive"),
			runstest.Refuse(func(e *Experiment) { e.Method.Damping = 0 }, "damping = 0", "positive"),
			runstest.Refuse(func(e *Experiment) { e.Method.RefreshEvery = -7 }, "refresh_every = -7", "at least 1"),
		},
	})
}

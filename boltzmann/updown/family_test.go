package updown

import (
	"path/filepath"
	"testing"

	"github.com/helmholtz-go/helmholtz/boltzmann"
	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set := patterns(t)
	dir := belief(t, set)
	lowest := boltzmann.LayerDir(filepath.Dir(dir), 1)
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: short(set, dir), Set: set, Kind: Family.Kind(), Impossible: map[string]float64{"prior.chains.hidden": 0.5},
		Aside: []string{"network.run", "network.checkpoint"},
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Settings.Network.Run = lowest }, "no belief network: give one that was trained with --belief"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Network.Run = lowest + "-" }, "the network of "+lowest+"-"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Network.Run = " " }, "name the directory of the last layer"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Network.Checkpoint = "77" }, "no checkpoint of epoch 77"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Method.LearningRate = -1 }, "learning_rate = -1", "such as 0.01"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Method.Steps = 0 }, "steps = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment) { e.Dataset.Binarization = dataset.Gray }, "binarization = grey", "use stochastic"),
		},
	})
}

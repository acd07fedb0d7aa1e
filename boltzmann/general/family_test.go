package general

import (
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set := lines(t)
	exact, chains := experiments(set)[0], experiments(set)[1]
	runstest.Family(t, runstest.Case[Experiment, *Model]{
		Experiment: chains, Set: set, Kind: Family.Kind(), Impossible: map[string]float64{"chains": 0.5},
		Refused: []runstest.Refusal[Experiment]{
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Hidden = 17 }, "hidden = 17", "give 0 to 16"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Hidden = -1 }, "hidden = -1", "give 0 to 16"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Pairs = []Pair{{0, 1}} }, "1 pair with connections = semi-restricted"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine = MachineSpec{2, Listed, []Pair{{1, 0}}} }, "the smaller of the two first"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine = MachineSpec{0, Listed, []Pair{{3, 3}}} }, "the pair [3 3]"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine = MachineSpec{0, Listed, []Pair{{8, 9}}} }, "the pair [8 9]"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine = MachineSpec{0, Listed, []Pair{{0, 1}, {0, 1}}} }, "is listed twice"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine = MachineSpec{0, Restricted, nil} }, "no units are connected"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Connections = 9 }, "use all, semi-restricted"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.LearningRate = 0 }, "learning_rate = 0", "such as 0.01"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Training.Chains = 0 }, "chains = 0", "at least 1 chain; 100 are usual"),
			runstest.Refuse(func(e *Experiment) { e.Dataset.Binarization = dataset.Stochastic }, "binarization = stochastic", "use fixed or drawn"),
			runstest.Refuse(func(e *Experiment) { e.Settings.Machine.Hidden, e.Settings.Training.Chains = 16, math.MaxUint32 }, "with 4294967295 chains", "use fewer"),
		},
	})
	t.Run("exact gradients", func(t *testing.T) { runstest.Resume(t, exact, set) })
}

package energies

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// small opens a few miniature glyphs.
func small(t *testing.T, b dataset.Binarization) *dataset.Set {
	t.Helper()
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: b, Subset: 30, Validation: new(8)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestConvolutionalFamily(t *testing.T) {
	set := small(t, dataset.Fixed)
	e := ConvolutionalRBM.Experiment(set)
	e.Epochs, e.Settings.Machine, e.Settings.Training = 2, Convolution{Filters: 2, Window: 11, Pool: 2, Activity: 0.1, Sparsity: 1}, Training{LearningRate: 0.01, BatchSize: 10, Chains: 3, Steps: 1}
	runstest.Family(t, runstest.Case[Experiment[Convolution], *Model]{
		Experiment: e, Set: set, Kind: ConvolutionalRBM.Kind(), Impossible: map[string]float64{"second_moments": -1},
		Axis: runs.Axis{Keys: []string{"machine.filters"}, Values: [][]any{{1}, {2}}},
		Refused: []runstest.Refusal[Experiment[Convolution]]{
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Filters = 0 }, "filters = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Window = 15 }, "window = 15", "at most 14"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Pool = 3 }, "pool = 3 does not divide", "give a pool of 1, 2, 4, or a window of 3, 6, 9, 12"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Machine.Activity = 0 }, "activity = 0", "such as 0.03"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Settings.Training.Steps = 0 }, "steps = 0", "at least 1"),
			runstest.Refuse(func(e *Experiment[Convolution]) { e.Dataset.Binarization = dataset.Gray }, "binarization = grey", "use fixed or drawn"),
		},
	})
	t.Run("contrastive divergence", func(t *testing.T) {
		e.Settings.Training.Chains = 0
		runstest.Resume(t, e, set)
	})
}

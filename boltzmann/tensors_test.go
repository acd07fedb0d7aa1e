package boltzmann

import (
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/internal/kernels"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

// Tensors of every kind of machine are refused by name where they have values that none can have.
func TestImpossibleTensorsAreRefused(t *testing.T) {
	set, grays := patterns(t), grays(t)
	for name, c := range map[string]runstest.Case[Experiment, *Model]{
		"gaussian":    {Experiment: short(PCD()).Experiment(machineFor(grays), grays), Set: grays, Impossible: map[string]float64{"data.deviations": 0, "log_variances": 100, "chains.hidden": 0.5}},
		"deep":        {Experiment: short(PCD().Optimizer(Momentum)).Experiment(New(set.Shape()).Hidden(5, 4, 3), set), Set: set, Impossible: map[string]float64{"chains.hidden": 0.5}},
		"categorical": {Experiment: short(PCD()).Experiment(New(set.Shape()).Hidden(6).HiddenCategorical(3), set), Set: set, Impossible: map[string]float64{"chains.hidden": 2}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.Kind = kind
			runstest.Tensors(t, c)
		})
	}
}

// Weights between layers of a deep machine that are not neighbours are 0.
func TestWeightsBetweenDistantLayersAreRefused(t *testing.T) {
	set := patterns(t)
	e := short(PCD()).Experiment(New(set.Shape()).Hidden(5, 4, 3), set)
	at, err := e.Begin(set)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.modelOf(at); err != nil {
		t.Fatal(err)
	}
	weights := kernels.Matrix{Rows: 9 + 4, Cols: 5 + 3, Stride: 5 + 3, Data: at.Tensors[0].Data}
	kernels.Row(weights, 2)[6] = 0.25 // from v to the third hidden layer
	_, err = e.modelOf(at)
	if err == nil || !strings.Contains(err.Error(), "the tensor weights has the value 0.25: weights between layers that are not neighbours") {
		t.Error(err)
	}
}

// A variable of categorical units is in exactly one category, also if the machine has a label.
func TestStatesOfTwoCategoriesAreRefused(t *testing.T) {
	set, variables := patterns(t), agreeing(t)
	for _, c := range []struct {
		tensor string
		e      Experiment
		set    *dataset.Set
	}{
		{"chains.hidden", short(PCD()).Experiment(New(set.Shape()).Hidden(6).HiddenCategorical(3), set), set},
		{"rung.0.reservoir", short(PTT()).Experiment(New(variables.Shape()).Hidden(6).Categorical(3), variables), variables},
		{"rung.0.reservoir", short(PTT()).Experiment(New(variables.Shape()).Hidden(6).Categorical(3).Labels(3), variables), variables},
	} {
		at, err := c.e.Begin(c.set)
		if err != nil {
			t.Fatal(err)
		}
		for _, tensor := range at.Tensors {
			if tensor.Name == c.tensor {
				copy(tensor.Data, []float32{1, 1, 0})
			}
		}
		_, err = c.e.modelOf(at)
		if err == nil || !strings.Contains(err.Error(), "the tensor "+c.tensor+" has a variable in 2 categories: it is in exactly one category") {
			t.Error(err)
		}
	}
}

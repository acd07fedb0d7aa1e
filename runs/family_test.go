package runs_test

import (
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
	"github.com/helmholtz-go/helmholtz/runs/runstest"
)

func TestFamily(t *testing.T) {
	set, err := dataset.Spec{Name: "miniglyphs", Binarization: dataset.Gray, Subset: 40, Validation: new(12)}.Open()
	if err != nil {
		t.Fatal(err)
	}
	runstest.Family(t, runstest.Case[mixture, parameters]{
		Experiment: brief(set), Set: set, Kind: runs.Kind[mixture, parameters]{Noun: "a mixture", Parse: parseMixture, Model: mixture.model},
		Axis: runs.Axis{Keys: []string{"components"}, Values: [][]any{{2}, {3}}},
		Refused: []runstest.Refusal[mixture]{
			runstest.Refuse(func(m *mixture) { m.Components = 0 }, "0 components", "at least 1"),
			runstest.Refuse(func(m *mixture) { m.Components = 41 }, "41 components of 40 rows"),
			runstest.Refuse(func(m *mixture) { m.Rate = 1.5 }, "learning rate 1.5", "from 0 to 1"),
		},
	})
}

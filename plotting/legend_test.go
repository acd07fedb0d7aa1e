package plotting

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

// The legend distinguishes training and validation only if both are drawn.
func TestLegendExplainsLineStylesOfTwoKinds(t *testing.T) {
	train := runs.History{Name: "RWS", Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": -2}}}}
	both := runs.History{Name: "RWS", Epochs: []runs.Epoch{{Epoch: 1, Train: runs.Measures{"log_p": -2}, Validation: runs.Measures{"log_p": -3}}}}
	for _, test := range []struct {
		figure *Figure
		want   []string
	}{
		{Curves(train), []string{"RWS"}},
		{Curves(both), []string{"RWS", "training", "validation"}},
		{SeedBands(Group{Name: "RWS", Seeds: []runs.History{train}}), []string{"RWS, 1 seed"}},
		{SeedBands(Group{Name: "RWS", Seeds: []runs.History{both}}), []string{"RWS, 1 seed", "training", "validation"}},
		{SeedBands(Group{Name: "RWS", Seeds: []runs.History{both}, HeldOut: "test"}), []string{"RWS, 1 seed", "training", "test"}},
	} {
		var got []string
		for _, entry := range test.figure.legend {
			got = append(got, entry.text)
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("the legend is %q, want %q", got, test.want)
		}
	}
}

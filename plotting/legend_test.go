package plotting

import (
	"slices"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
)

// The legend tells training from validation only where both are drawn.
func TestLegendExplainsLineStylesOfTwoKinds(t *testing.T) {
	train := hm.History{Name: "RWS", Epochs: []hm.Epoch{{Epoch: 1, Train: hm.Measures{LogP: -2}}}}
	both := hm.History{Name: "RWS", Epochs: []hm.Epoch{{Epoch: 1, Train: hm.Measures{LogP: -2}, Validation: &hm.Measures{LogP: -3}}}}
	for _, test := range []struct {
		figure *Figure
		want   []string
	}{
		{Curves(train), []string{"RWS"}},
		{Curves(both), []string{"RWS", "training", "validation"}},
		{SeedBands(Group{Name: "RWS", Seeds: []hm.History{train}}), []string{"RWS, 1 seed"}},
		{SeedBands(Group{Name: "RWS", Seeds: []hm.History{both}}), []string{"RWS, 1 seed", "training", "validation"}},
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

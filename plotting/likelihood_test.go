package plotting

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
)

// The legend names likelihoods only if there are several.
func TestTheLegendNamesLikelihoods(t *testing.T) {
	one := []float64{-2}
	rws := hm.Convergence{Name: "RWS", Samples: []int{10}, LogP: one, LogPSE: one, LogPTildeStar: one, LogPTildeStarSE: one}
	bihm := rws.WithLogZ2(hm.LogZ2{Value: -1})
	bihm.Name = "BiHM"
	for _, c := range []struct {
		figure *Figure
		want   []string
	}{
		{LikelihoodBySamples(rws), []string{"RWS ± 1 standard error"}},
		{LikelihoodBySamples(rws, bihm), []string{"RWS", "BiHM", "log p(x)", "log p*(x)", "log p̃*(x)", "± 1 standard error"}},
	} {
		var got []string
		for _, entry := range c.figure.legend {
			got = append(got, entry.text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("the legend is %q, want %q", got, c.want)
		}
	}
	bihm.LogPStarSE = nil
	err := LikelihoodBySamples(bihm).Save(filepath.Join(t.TempDir(), "figure.png"))
	if err == nil || !strings.Contains(err.Error(), "BiHM has 1 estimates of log p*(x) and 0 standard errors for 1 numbers") {
		t.Errorf("the error for a likelihood without standard errors is %v", err)
	}
}

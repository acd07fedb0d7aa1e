package plotting

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
)

// In LogZ2ByTotal, an estimate from K_outer outer samples with K_inner inner ones each lies at
// K_outer·K_inner.
func TestLogZ2ByTotalCountsInnerSamples(t *testing.T) {
	estimate := func(inner int) hm.LogZ2 {
		return hm.LogZ2{Inner: inner, Outer: []int{1, 20}, Repeats: [][]float64{{-3, -2}, {-2, -2}}}
	}
	for _, c := range []struct {
		figure      *Figure
		first, last float64
	}{
		{LogZ2(estimate(5)), 1, 20},
		{LogZ2ByTotal(estimate(5)), 5, 100},
		{LogZ2(estimate(5), estimate(100)), 1, 20},
		{LogZ2ByTotal(estimate(5), estimate(100)), 5, 2000},
	} {
		x := c.figure.Panels()[0].X
		if first, last := math.Pow(10, x.Min), math.Pow(10, x.Max); math.Abs(first/c.first-1) > 1e-9 || math.Abs(last/c.last-1) > 1e-9 {
			t.Errorf("%s reaches from %v to %v, want %v to %v", x.Label.Text, first, last, c.first, c.last)
		}
	}
}

func TestEstimatesOfLogZ2ThatCannotBeDrawn(t *testing.T) {
	z := hm.LogZ2{Inner: 3, Outer: []int{1}, Repeats: [][]float64{{-1}}}
	diverged := hm.LogZ2{Inner: 2, Outer: []int{1}, Repeats: [][]float64{{math.NaN()}}}
	for want, figure := range map[string]*Figure{
		"give at least one":                    LogZ2(),
		"two estimates of log Z² with 3 inner": LogZ2(z, diverged, z),
		"log Z² with 2 inner samples has no":   LogZ2ByTotal(z, diverged),
		"an estimate has 0 samples":            LogZ2ByTotal(hm.LogZ2{Outer: []int{1}, Repeats: [][]float64{{-1}}}),
	} {
		err := figure.Save(filepath.Join(t.TempDir(), "figure.png"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
}

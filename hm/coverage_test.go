package hm

import (
	"flag"
	"fmt"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/runs"
)

var study = flag.Bool("study", false, "measure the coverage of standard errors with 200 seeds, as in notebooks/STUDIES.md")

// The standard error over 100 rows covers the exact mean of log p over all rows if many samples of a row are effective.
// With few samples, log p is a lower bound in expectation, and has no standard error.
func TestCoverageOfLogP(t *testing.T) {
	seeds, counts, machines := 4, []int{9, 3000}, []int{4}
	if *study {
		seeds, counts, machines = 200, []int{1, 10, 100, 1000}, []int{4, 12}
		fmt.Println("| hidden units | samples | no ± | ± 1 se covers | ± 2 se covers | ± 2 se would cover where there is no ± | estimate less exact |")
	}
	for _, hidden := range machines {
		m, _ := tiny(t, ZeroOne, 8, hidden)
		rows := everyRow(8)
		kl, err := m.ExactKL(t.Context(), rows)
		if err != nil {
			t.Fatal(err)
		}
		exact := -kl
		for number := range 256 {
			p := float64(1+number%2) / float64(rows.Rows)
			exact += p * math.Log(p)
		}
		for _, samples := range counts {
			var few, one, two, fewTwo int
			excess := 0.0
			for seed := range uint64(seeds) {
				e, err := m.WithSeed(seed).Evaluate(t.Context(), rows.Subset(100, seed), samples, nil)
				if err != nil {
					t.Fatal(err)
				}
				off := math.Abs(e.LogP - exact)
				excess += (e.LogP - exact) / float64(seeds)
				switch within := off <= 2*float64(e.LogPSE); {
				case e.SampleSizes[runs.LogP.Key].Few():
					few++
					if within {
						fewTwo++
					}
				case within:
					two++
					if off <= float64(e.LogPSE) {
						one++
					}
				}
			}
			share := func(n, of int) string {
				if of == 0 {
					return "–"
				}
				return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(of))
			}
			text := fmt.Sprintf("| %d | %d | %s | %s | %s | %s | %+.2f |", hidden, samples, share(few, seeds), share(one, seeds-few), share(two, seeds-few), share(fewTwo, few), excess)
			if *study {
				fmt.Println(text)
			}
			if samples < 10 && few < seeds || samples == 3000 && !*study && (few > 0 || two < seeds/2) {
				t.Error(text)
			}
		}
	}
}

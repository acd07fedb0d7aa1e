package boltzmann

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/helmholtz-go/helmholtz/dataset"
	"github.com/helmholtz-go/helmholtz/runs"
)

var study = flag.Bool("study", false, "measure the coverage of standard errors with 200 seeds, as in notebooks/STUDIES.md")

// coverage counts how often an estimate ± its standard error covers the exact value.
type coverage struct {
	seeds, few, one, two int
	excess               float64 // mean of estimate − exact
	fewTwo               int     // estimates with few samples that ± 2 standard errors would have covered
}

func (c *coverage) add(e runs.Estimate, exact float64) {
	c.seeds++
	c.excess += e.Value - exact
	off := math.Abs(e.Value - exact)
	switch {
	case e.SampleSize.Few():
		c.few++
		if off <= 2*e.SE {
			c.fewTwo++
		}
	default:
		if off <= e.SE {
			c.one++
		}
		if off <= 2*e.SE {
			c.two++
		}
	}
}

// share returns n of all in percent.
func share(n, all int) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(n)/float64(all))
}

func (c *coverage) String() string {
	return fmt.Sprintf("%s | %s | %s | %s | %+.2f", share(c.few, c.seeds), share(c.one, c.seeds-c.few), share(c.two, c.seeds-c.few), share(c.fewTwo, c.few), c.excess/float64(c.seeds))
}

// The standard error of log Z by AIS covers the exact log Z about as often as a normal error would, unless the effective
// chains are few; then there is none. Machines have 20 visible and 15 hidden units, with normal weights of each seed.
func TestCoverageOfLogZ(t *testing.T) {
	seeds, counts, steps := 5, []int{9, 100}, []int{100}
	if *study {
		seeds, counts, steps = 200, []int{5, 10, 20, 100}, []int{10, 100, 1000}
		fmt.Println("| weights | steps | chains | no ± | ± 1 se covers | ± 2 se covers | ± 2 se would cover where there is no ± | estimate less exact |")
	}
	for _, deviation := range []float64{0.5, 2} {
		for _, n := range steps {
			for _, chains := range counts {
				var c coverage
				for seed := range uint64(seeds) {
					m, err := New(dataset.Shape{Height: 1, Width: 20}).Hidden(15).Model(seed)
					if err != nil {
						t.Fatal(err)
					}
					random := rand.New(rand.NewPCG(seed, 1))
					for k := range m.parameters.Flat {
						m.parameters.Flat[k] = float32(deviation * random.NormFloat64())
					}
					exact, err := m.ExactLogZ(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					z, err := m.AIS(t.Context(), split([][]float64{make([]float64, 20)}), Annealing{Schedule: Even(n), Chains: chains}, nil)
					if err != nil {
						t.Fatal(err)
					}
					c.add(runs.Estimate{Value: float64(z.Value), SE: float64(z.SE), SampleSize: z.SampleSize()}, exact)
				}
				if *study {
					fmt.Printf("| %g | %d | %d | %v |\n", deviation, n, chains, &c)
				}
				if chains < 10 && c.few < c.seeds || chains == 100 && deviation == 0.5 && !*study && (c.few > 0 || c.two < c.seeds/2) {
					t.Errorf("weights of %g, %d steps, %d chains: %v", deviation, n, chains, &c)
				}
			}
		}
	}
}

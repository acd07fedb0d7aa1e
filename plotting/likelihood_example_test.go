package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// Two made-up estimates that rise with the logarithm of the number of samples
// and level off.
func ExampleLikelihoodBySamples() {
	rise := func(name string, limit float64) hm.Convergence {
		c := hm.Convergence{Name: name}
		for n := 1; n <= 100_000; n *= 10 {
			c.Samples = append(c.Samples, n)
			c.LogP = append(c.LogP, limit-8*math.Exp(-math.Log10(float64(n))))
			c.SE = append(c.SE, 0.3)
		}
		return c
	}
	if err := plotting.LikelihoodBySamples(rise("NRWS", -90), rise("RWS", -92)).Save("likelihood.png"); err != nil {
		log.Fatal(err)
	}
}

func TestLikelihoodBySamples(t *testing.T) { golden(t, ExampleLikelihoodBySamples, "likelihood.png") }

package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// madeUpConvergence rises with the logarithm of the number of samples and levels off at a limit;
// log p̃* rises less, to four nats below the limit.
func madeUpConvergence(name string, limit float64) hm.Convergence {
	c := hm.Convergence{Name: name}
	for n := 1; n <= 100_000; n *= 10 {
		missing := math.Exp(-math.Log10(float64(n)))
		c.Samples = append(c.Samples, n)
		c.LogP = append(c.LogP, limit-8*missing)
		c.LogPTildeStar = append(c.LogPTildeStar, limit-4-4*missing)
		c.LogPSE, c.LogPTildeStarSE = append(c.LogPSE, 0.3), append(c.LogPTildeStarSE, 0.3)
	}
	return c
}

func ExampleLikelihoodBySamples() {
	nrws, rws := madeUpConvergence("NRWS", -90), madeUpConvergence("RWS", -92)
	if err := plotting.LikelihoodBySamples(nrws, rws).Save("likelihood.png"); err != nil {
		log.Fatal(err)
	}
}

// The bidirectional machine's estimates of log p* need an estimate of log Z².
func ExampleLikelihoodBySamples_normalized() {
	bihm, rws := madeUpConvergence("BiHM", -90), madeUpConvergence("RWS", -91)
	z := hm.LogZ2{Value: -3.3, SE: 0.1}
	if err := plotting.LikelihoodBySamples(bihm.WithLogZ2(z), rws).Save("likelihoods.png"); err != nil {
		log.Fatal(err)
	}
}

func TestLikelihoodBySamples(t *testing.T) { golden(t, ExampleLikelihoodBySamples, "likelihood.png") }

func TestLikelihoodBySamplesNormalized(t *testing.T) {
	golden(t, ExampleLikelihoodBySamples_normalized, "likelihoods.png")
}

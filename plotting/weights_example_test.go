package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// Made-up weights: the quantiles of a logistic distribution, and half of them
// for the square root.
func ExampleImportanceWeights() {
	const data, samples = 10, 1000
	w := hm.ImportanceWeights{Data: data, Samples: samples}
	for i := range data * samples {
		u := (float64(i) + 0.5) / (data * samples)
		logit := math.Log(u / (1 - u))
		w.LogP = append(w.LogP, 1.5*logit-10)
		w.LogPStar = append(w.LogPStar, 0.75*logit-4)
	}
	for range data {
		w.ESS = append(w.ESS, 0.0123)
		w.ESSStar = append(w.ESSStar, 0.234)
	}
	if err := plotting.ImportanceWeights(w).Save("weights.png"); err != nil {
		log.Fatal(err)
	}
}

func TestImportanceWeights(t *testing.T) { golden(t, ExampleImportanceWeights, "weights.png") }

package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
)

// This example has invented weights: the quantiles of a logistic distribution, and half of them for
// the square root.
func ExampleImportanceWeights() {
	const data, samples = 10, 1000
	w := hm.ImportanceWeights{Data: data, Samples: samples}
	for i := range data * samples {
		u := (float64(i) + 0.5) / (data * samples)
		logit := math.Log(u / (1 - u))
		w.LogWeights = append(w.LogWeights, 1.5*logit-10)
		w.LogWeightsStar = append(w.LogWeightsStar, 0.75*logit-4)
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

// This example has invented weights: the quantiles of logistic distributions.
func ExampleProposalWeights() {
	const samples = 10_000
	w := hm.ImportanceWeights{Data: 1, Samples: samples, ESSStar: []float64{0.234}}
	d := hm.DreamWeights{Inner: 100, ESS: 0.0512}
	for i := range samples {
		u := (float64(i) + 0.5) / samples
		logit := math.Log(u / (1 - u))
		w.LogWeightsStar = append(w.LogWeightsStar, 0.75*logit-4)
		d.LogWeights = append(d.LogWeights, 1.1*logit-5)
	}
	if err := plotting.ProposalWeights(w, d).Save("proposals.png"); err != nil {
		log.Fatal(err)
	}
}

func TestProposalWeights(t *testing.T) { golden(t, ExampleProposalWeights, "proposals.png") }

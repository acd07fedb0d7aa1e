package plotting_test

import (
	"fmt"
	"log"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// Six candidates of a tuning, of which three have moved up once and one twice. The sixth hardly learns.
func ExampleTuning() {
	r := runs.TuneReport{Objective: runs.LogP}
	for i, rung := range []int{3, 2, 2, 1, 1, 1} {
		c := runs.Candidate{Setting: runs.Setting{Name: fmt.Sprintf("learning_rate=%.2g", 0.1/float64(i+1))}, Rung: rung}
		h := runs.History{}
		for epoch := 1; epoch <= 4*rung*rung; epoch++ {
			logP := -30 - 2*float64(i) - 20/float64(epoch)
			if i == 5 {
				logP *= 20
			}
			h.Epochs = append(h.Epochs, runs.Epoch{Epoch: epoch, Validation: runs.Measures{"log_p": logP}})
		}
		c.Histories = []runs.History{h}
		r.Candidates = append(r.Candidates, c)
	}
	if err := plotting.Tuning(r).Save("tuning.png"); err != nil {
		log.Fatal(err)
	}
}

func TestTuning(t *testing.T) { golden(t, ExampleTuning, "tuning.png") }

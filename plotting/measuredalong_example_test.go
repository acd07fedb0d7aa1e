package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/hm"
	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This example is an invented run of a bidirectional machine that measured the test rows every ten
// epochs: log p* approaches log p, and log Z² approaches 0.
func ExampleMeasuredAlong() {
	run := runs.History{Name: "BiHM", Measures: hm.Experiment{}.Measures()}
	for epoch := 1; epoch <= 200; epoch++ {
		e := runs.Epoch{Epoch: epoch}
		if epoch%10 == 0 {
			logP := -85 - 30*math.Exp(-float64(epoch)/40)
			z := -0.3 - 3*math.Exp(-float64(epoch)/60)
			e.Measured = map[string]runs.Measures{"test": {
				"log_p": logP, "log_p_se": 0.6, "log_p_star": logP - 0.4 + z/10, "log_p_star_se": 0.7,
				"log_p_tilde_star": logP - 0.4 + z/10 + z, "log_z2": z,
			}}
		}
		run.Epochs = append(run.Epochs, e)
	}
	if err := plotting.MeasuredAlong("test", []string{"log_p", "log_p_star", "log_p_tilde_star"}, run).Save("measuredalong.png"); err != nil {
		log.Fatal(err)
	}
}

func TestMeasuredAlong(t *testing.T) { golden(t, ExampleMeasuredAlong, "measuredalong.png") }

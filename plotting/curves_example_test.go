package plotting_test

import (
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This example has two invented runs: exponentials that fall from 140 nats.
func ExampleCurvesByEpochAndTime() {
	decay := func(name string, limit, epochs, seconds float64) runs.History {
		h := runs.History{Name: name}
		for e := 1.0; e <= 40; e++ {
			fall := (140 - limit) * math.Exp(-e/epochs)
			h.Epochs = append(h.Epochs, runs.Epoch{
				Epoch:      int(e),
				Seconds:    seconds * e,
				Train:      runs.Measures{"log_p": -limit - fall},
				Validation: runs.Measures{"log_p": -limit - fall - 2},
			})
		}
		return h
	}
	figure := plotting.CurvesByEpochAndTime(decay("NRWS", 90, 5, 12), decay("RWS", 95, 8, 7))
	if err := figure.Save("curves.png"); err != nil {
		log.Fatal(err)
	}
}

func TestCurvesByEpochAndTime(t *testing.T) {
	golden(t, ExampleCurvesByEpochAndTime, "curves.png")
}

// This example has one invented run of few epochs: an exponential.
func ExampleCurves() {
	run := runs.History{}
	for e := range 8 {
		run.Epochs = append(run.Epochs, runs.Epoch{
			Epoch:      e + 1,
			Train:      runs.Measures{"log_p": -28 - 20*math.Exp(-float64(e))},
			Validation: runs.Measures{"log_p": -29 - 20*math.Exp(-float64(e))},
		})
	}
	if err := plotting.Curves(run).Title("An exponential").Save("curve.png"); err != nil {
		log.Fatal(err)
	}
}

func TestCurves(t *testing.T) { golden(t, ExampleCurves, "curve.png") }

// This example has two invented runs, the second of which diverges: the baseline shows how far.
func ExampleCurves_baseline() {
	history := func(name string, logP ...float64) runs.History {
		h := runs.History{Name: name, Baseline: &runs.Baseline{Factorized: runs.Estimate{Value: -207, SE: 1}, Limit: -1630}}
		for e, value := range logP {
			h.Epochs = append(h.Epochs, runs.Epoch{Epoch: e + 1, Train: runs.Measures{"log_p": value}, Validation: runs.Measures{"log_p": value - 2}})
		}
		return h
	}
	good := history("a run that learns", -240, -190, -160, -142, -131, -124, -119, -116)
	bad := history("a run that diverges", -420, -900, -2600, -2300, -2450, -2400, -2380, -2420)
	for name, figure := range map[string]*plotting.Figure{"learns.png": plotting.Curves(good), "diverges.png": plotting.Curves(good, bad)} {
		if err := figure.Save(name); err != nil {
			log.Fatal(err)
		}
	}
}

func TestCurvesWithABaseline(t *testing.T) {
	for _, name := range []string{"learns.png", "diverges.png"} {
		t.Run(name, func(t *testing.T) { golden(t, ExampleCurves_baseline, name) })
	}
}

package plotting_test

import (
	"fmt"
	"log"
	"math"
	"testing"

	"github.com/helmholtz-go/helmholtz/plotting"
	"github.com/helmholtz-go/helmholtz/runs"
)

// This example has two invented groups of five seeds: exponentials whose limits differ by a nat
// between seeds.
func ExampleSeedBands() {
	group := func(name string, limit float64) plotting.Group {
		g := plotting.Group{Name: name}
		for seed := range 5 {
			h := runs.History{Name: fmt.Sprint("seed ", seed)}
			for e := 1.0; e <= 50; e++ {
				logP := -limit - float64(seed) - 30*math.Exp(-e/10)
				h.Epochs = append(h.Epochs, runs.Epoch{
					Epoch:      int(e),
					Train:      runs.Measures{"log_p": logP},
					Validation: runs.Measures{"log_p": logP - 5},
				})
			}
			g.Seeds = append(g.Seeds, h)
		}
		return g
	}
	if err := plotting.SeedBands(group("NRWS", 90), group("RWS", 105)).Save("bands.png"); err != nil {
		log.Fatal(err)
	}
}

func TestSeedBands(t *testing.T) { golden(t, ExampleSeedBands, "bands.png") }

// This example has the same two groups, but an epoch of RWS takes half the time; no two seeds have
// the same times.
func ExampleSeedBandsByTime() {
	group := func(name string, limit, seconds float64) plotting.Group {
		g := plotting.Group{Name: name}
		for seed := range 5 {
			h := runs.History{Name: fmt.Sprint("seed ", seed)}
			for e := 1.0; e <= 50; e++ {
				logP := -limit - float64(seed) - 30*math.Exp(-e/10)
				h.Epochs = append(h.Epochs, runs.Epoch{
					Epoch:      int(e),
					Seconds:    seconds * (e + 0.1*float64(seed)),
					Train:      runs.Measures{"log_p": logP},
					Validation: runs.Measures{"log_p": logP - 5},
				})
			}
			g.Seeds = append(g.Seeds, h)
		}
		return g
	}
	if err := plotting.SeedBandsByTime(group("NRWS", 90, 2), group("RWS", 105, 1)).Save("bandsbytime.png"); err != nil {
		log.Fatal(err)
	}
}

func TestSeedBandsByTime(t *testing.T) { golden(t, ExampleSeedBandsByTime, "bandsbytime.png") }
